//! expect: `Failure` cannot say that a call was stopped by `timeout`, `deadline`, `cancel` or `until`
use reattempt::{Policy, retry};

#[derive(Debug)]
struct Failure;

struct Client {
    policy: Policy,
}

impl Client {
    #[retry(policy = self.policy, when = |_| true)]
    async fn fetch(&self) -> Result<String, Failure> {
        Err(Failure)
    }
}

fn main() {
    let client = Client {
        policy: Policy::new(),
    };
    let _ = client.fetch();
}
