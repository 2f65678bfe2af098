//! expect: use of moved value: `run`
use reattempt::FAST_IO;

async fn fetch() -> std::io::Result<u8> {
    let run = FAST_IO.run(async || Ok(7));
    let _ = run.when(|_| true);
    run.when(|_| false).await
}

fn main() {
    let _ = fetch;
}
