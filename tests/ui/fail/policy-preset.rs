//! expect: `policy` is a `Preset`, expected a `reattempt::Policy`
use reattempt::{Policy, Preset, retry};

static PAYMENTS: Preset = Preset::new("payments", Policy::new());

#[retry(policy = PAYMENTS)]
async fn pay() -> std::io::Result<()> {
    Ok(())
}

fn main() {
    let _ = pay;
}
