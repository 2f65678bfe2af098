//! expect: mismatched types
use reattempt::FAST_IO;

async fn fetch(client: reqwest::Client) -> Result<reqwest::Response, reqwest::Error> {
    FAST_IO.run(|| client.get("https://shop.example").send()).await
}

fn main() {
    let _ = fetch;
}
