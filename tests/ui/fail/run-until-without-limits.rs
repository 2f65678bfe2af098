//! expect: no method named `until` found for struct `Run<'_, {async closure@$DIR/fail/run-until-without-limits.rs:5:50: 5:58}, u8, String, true, reattempt::__private::Never, ()>` in the current scope
use reattempt::Policy;

async fn call() -> Result<u8, String> {
    let run = Policy::new().without_limits().run(async || Ok::<u8, String>(1));
    run.when(|_| true).until(|done| *done == 2).await
}

fn main() {
    drop(call());
}
