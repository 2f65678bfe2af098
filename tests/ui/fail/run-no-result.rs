//! expect: `{async closure body@$DIR/fail/run-no-result.rs:6:26: 6:27}` is not a future of a `Result`
//! errors: 2
use reattempt::FAST_IO;

async fn call() {
    FAST_IO.run(async || 7).await;
}

fn main() {
    let _ = call();
}
