//! Requests whose second attempt finds the work done, as the page on idempotency has them.

use integrations::document::Document;
use integrations::loopback::Answer::{self, Bytes, Close, Reset};
use integrations::loopback::Loopback;
use reattempt::reqwest_0_13::{RequestError, ResponseExt as _};
use reattempt::{Attempt, Retryable as _, Verdict, retry};
use reqwest::Client;
use reqwest::header::{ETAG, IF_MATCH};

fn client() -> Client {
    let client = Client::builder().no_proxy().pool_max_idle_per_host(0);
    client.build().unwrap()
}

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
    Ok(failed_before() && client.get(url).send().await?.check()?.text().await? == text)
}

#[tokio::test]
async fn a_write_whose_answer_was_lost_is_known_from_one_that_came_too_late() {
    let server = Document::start(1).await;
    let client = client();
    for (text, replaced) in [("mine", true), ("late", false)] {
        let done = replace(&client, &server.url(), "\"1\"", text).await;
        assert_eq!((done.unwrap(), server.version()), (replaced, 2));
    }
}

/// Whether an attempt before this one may have done the work.
fn failed_before() -> bool {
    Attempt::current().is_some_and(|attempt| attempt.previous().is_some())
}

#[retry(attempts = 3, base = "10ms")]
async fn delete(client: &Client, url: &str) -> Result<(), RequestError> {
    let answer = client.delete(url).send().await?;
    if !(answer.status() == 404 && failed_before()) {
        answer.check()?;
    }
    Ok(())
}

/// With the name in the URL, a PUT that creates may run twice.
#[retry(attempts = 3, base = "10ms")]
async fn create(client: &Client, url: &str, text: &'static str) -> Result<(), RequestError> {
    let put = client.put(url).header("if-none-match", "*").body(text);
    let answer = put.send().await?;
    // RFC 9110 says 412. Some servers say 409.
    let is_mine = [409, 412].contains(&answer.status().as_u16())
        && failed_before()
        && client.get(url).send().await?.check()?.text().await? == text;
    if !is_mine {
        answer.check()?;
    }
    Ok(())
}

#[tokio::test]
async fn a_second_attempt_that_finds_the_work_done_succeeds_and_a_first_one_fails() {
    const GONE: Answer = Bytes(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n");
    const EXISTS: Answer = Bytes(b"HTTP/1.1 409 Conflict\r\ncontent-length: 0\r\n\r\n");
    const FAILED: Answer = Bytes(b"HTTP/1.1 412 Failed\r\ncontent-length: 0\r\n\r\n");
    let client = client();
    for (script, deleted) in [(&[Reset, GONE][..], true), (&[GONE], false)] {
        let server = Loopback::start(script).await;
        assert_eq!(delete(&client, &server.url()).await.is_ok(), deleted);
        assert_eq!(server.calls(), script.len());
    }
    // The text of the loopback is `done`.
    for (script, text, created) in [
        (&[Close, EXISTS][..], "done", true),
        (&[Close, FAILED], "done", true),
        (&[Close, EXISTS], "another", false),
        (&[EXISTS], "done", false),
        (&[FAILED], "done", false),
    ] {
        let server = Loopback::start(script).await;
        let done = create(&client, &server.url(), text).await;
        assert_eq!(done.is_ok(), created, "{script:?} {text}");
    }
}

/// Reads, changes and writes: after a 412, all three again, and not after a lost answer, since it may have been written.
#[retry(attempts = 10, base = "5ms", idempotent = false, verdict = |error: &RequestError| match error {
    RequestError::Status(status) if status.status() == 412 => Verdict::Conflict,
    other => other.verdict(),
})]
async fn add(client: &Client, url: &str, letter: char) -> Result<(), RequestError> {
    let read = client.get(url).send().await?.check()?;
    let version = read.headers()[ETAG].clone();
    let text = read.text().await? + letter.encode_utf8(&mut [0; 4]);
    let put = client.put(url).header(IF_MATCH, version).body(text);
    put.send().await?.check()?;
    Ok(())
}

#[tokio::test]
async fn writers_of_one_document_lose_no_change_if_the_body_reads_it_too() {
    let server = Document::start(0).await;
    let (client, url) = (client(), server.url());
    let added = "abcdef".chars().map(|letter| add(&client, &url, letter));
    assert!(
        futures::future::join_all(added)
            .await
            .iter()
            .all(Result::is_ok)
    );
    let text = client.get(&url).send().await.unwrap().text().await.unwrap();
    assert_eq!((text.len(), server.version()), (6, 7), "{text}");
    let lost = Document::start(1).await;
    add(&client, &lost.url(), 'a').await.unwrap_err();
    assert_eq!(lost.version(), 2);
}
