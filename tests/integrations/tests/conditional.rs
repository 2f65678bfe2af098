//! A write with a condition, whose answer may be lost: what the page on idempotency says of `If-Match`.

use integrations::document::Document;
use reattempt::reqwest_0_13::{RequestError, ResponseExt as _};
use reattempt::{Attempt, retry};
use reqwest::Client;

/// Returns whether the text was replaced in this version.
#[retry(attempts = 3, base = "10ms")]
async fn replace(
    client: &Client,
    url: &str,
    version: &str,
    text: &str,
) -> Result<bool, RequestError> {
    let put = client.put(url).header("if-match", version);
    let answer = put.body(text.to_owned()).send().await?;
    if answer.status() != 412 {
        answer.check()?;
        return Ok(true);
    }
    let failed_before = Attempt::current().is_some_and(|attempt| attempt.previous().is_some());
    Ok(failed_before && client.get(url).send().await?.check()?.text().await? == text)
}

#[tokio::test]
async fn a_write_whose_answer_was_lost_is_known_from_one_that_came_too_late() {
    let server = Document::start(1).await;
    let client = Client::builder()
        .no_proxy()
        .pool_max_idle_per_host(0)
        .build()
        .unwrap();
    for (text, replaced) in [("mine", true), ("late", false)] {
        let done = replace(&client, &server.url(), "\"1\"", text).await;
        assert_eq!((done.unwrap(), server.version()), (replaced, 2));
    }
}
