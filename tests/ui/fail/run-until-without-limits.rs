//! expect: `until` and `with_cancel` end with a `Stopped`, but nothing stops a run of a policy `without_limits`
use reattempt::Policy;

async fn call() -> Result<u8, String> {
    let run = Policy::new().without_limits().run(async || Ok::<u8, String>(1));
    run.when_any(|_| true).until(|done| *done == 2).await
}

fn main() {
    drop(call());
}
