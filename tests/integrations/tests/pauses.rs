//! The pause of a budget, over sockets.

use std::time::{Duration, Instant};

use futures::future::join_all;
use integrations::loopback::{Answer, Loopback, OK};
use reattempt::reqwest::{RequestError, ResponseExt as _};
use reattempt::{Budget, retry};
use reqwest::Client;
use tokio::time::sleep;

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// The eleventh call, after a second, is told to wait for two.
const SCRIPT: &[Answer] = &{
    let mut script = [OK; 11];
    script[10] = Answer::Bytes(
        b"HTTP/1.1 429 Too Many Requests\r\nretry-after: 2\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
    );
    script
};

#[tokio::test]
async fn one_answer_with_retry_after_pauses_a_hundred_calls() {
    static BUDGET: Budget = Budget::new().with_pause();
    #[retry(base = "1s", budget = BUDGET)]
    async fn read(client: &Client, url: &str) -> Result<(), RequestError> {
        client.get(url).send().await?.check()?;
        Ok(())
    }
    let server = Loopback::start(SCRIPT).await;
    let (client, url) = (Client::builder().no_proxy().build().unwrap(), server.url());
    let calls = (0..100).map(|call| {
        let (client, url) = (&client, &url);
        async move {
            sleep(ms(100) * call).await;
            read(client, url).await
        }
    });
    for result in join_all(calls).await {
        result.unwrap();
    }
    let times = server.times();
    assert_eq!(times.len(), 101, "one call more than one attempt");
    let told = times[10];
    let after = |time: &Instant| time.duration_since(told);
    let (early, rest): (Vec<_>, Vec<_>) = times[11..]
        .iter()
        .map(after)
        .partition(|at| *at < ms(1_900));
    // A request that was under way when the answer came.
    assert!(
        early.iter().all(|at| *at < ms(100)) && early.len() < 2,
        "{early:?}"
    );
    // About twenty calls began in the pause. They come back over the first ceiling, a second.
    let back = rest.iter().filter(|at| **at < ms(3_000)).count();
    let soon = rest.iter().filter(|at| **at < ms(2_200)).count();
    assert!(
        soon * 2 < back,
        "{soon} of {back} come back at once: {rest:?}"
    );
    assert!(BUDGET.level() > 190.0, "one retry was paid for");
}
