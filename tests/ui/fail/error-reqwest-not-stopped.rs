//! expect: `reqwest::Error` cannot say that a call was stopped by `timeout`, `deadline`, `cancel` or `until`

use reattempt::retry;

#[retry(timeout = "1s")]
async fn fetch(client: &reqwest::Client) -> reqwest::Result<String> {
    let response = client.get("http://shop.example").send().await?;
    response.error_for_status()?.text().await
}

fn main() {}
