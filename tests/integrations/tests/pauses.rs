//! The pause of a budget, over sockets.

use std::time::Duration;

use futures::future::join_all;
use integrations::loopback::{Answer, Loopback, OK};
use reattempt::reqwest::{RequestError, ResponseExt as _};
use reattempt::{Budget, retry};
use reqwest::Client;
use tokio::sync::Notify;

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// The eleventh call is asked to wait for two seconds.
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
    static TOLD: Notify = Notify::const_new();
    #[retry(base = "1s", budget = BUDGET, on_retry = |_| TOLD.notify_one())]
    async fn read(client: &Client, url: &str) -> Result<(), RequestError> {
        client.get(url).send().await?.check()?;
        Ok(())
    }
    let server = Loopback::start(SCRIPT).await;
    let (client, url) = (Client::builder().no_proxy().build().unwrap(), server.url());
    for _ in 0..10 {
        read(&client, &url).await.unwrap();
    }
    let others = async {
        TOLD.notified().await;
        join_all((0..89).map(|_| read(&client, &url))).await
    };
    let (told, others) = tokio::join!(read(&client, &url), others);
    told.unwrap();
    for result in others {
        result.unwrap();
    }
    let times = server.times();
    assert_eq!(times.len(), 101, "one call more than one attempt");
    let told = times[10];
    let rest: Vec<_> = times[11..]
        .iter()
        .map(|time| time.duration_since(told))
        .collect();
    assert!(rest.iter().all(|at| *at >= ms(1_900)), "{rest:?}");
    // They come back over the first ceiling, a second.
    let soon = rest.iter().filter(|at| **at < ms(2_200)).count();
    assert!(soon * 2 < rest.len(), "{soon} come back at once: {rest:?}");
    assert!(BUDGET.level() > 190.0, "one retry was paid for");
}
