//! expect: this run cannot end with an `Ok` that is not ready
use reattempt::Policy;

#[derive(Debug)]
struct Busy;

async fn call() -> Result<u8, Busy> {
    let run = Policy::new().without_limits().run(async || Ok::<u8, Busy>(1));
    run.when(|_| true).with_text(|_| "busy".to_owned()).until(|done| *done == 2).await
}

fn main() {
    drop(call());
}
