//! expect: `CancellationToken` is not a future, so it cannot cancel a call
use reattempt::retry;

/// As in `tokio-util`: its method `cancelled` gives the future.
#[derive(Clone)]
struct CancellationToken;

#[retry(cancel = token)]
async fn fetch(token: CancellationToken) -> std::io::Result<String> {
    Ok(String::new())
}

fn main() {
    let _ = fetch(CancellationToken);
}
