//! Functions with `hedge`, whose second attempt runs beside the first.

use std::fmt::Debug;
use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures::future::BoxFuture;
use reattempt::{retry, Attempt, Policy, Report};
use tokio::time::sleep;

use crate::{cases, take, Calls};

/// Fails after a while. The second attempt must be a hedge, and only that one.
async fn slow<T>(calls: &Calls) -> io::Result<T> {
    let attempt = Attempt::current().expect("in an attempt");
    assert_eq!(attempt.is_hedge(), attempt.number() == 2);
    sleep(Duration::from_millis(10)).await;
    calls.fail()
}

#[derive(Clone)]
struct Client<'c> {
    calls: &'c Calls,
    name: String,
}

/// It is not `Clone`.
#[derive(Debug)]
struct Secret(u32);

#[retry(hedge = "1ms")]
async fn by_reference(calls: &Calls, key: &str) -> io::Result<()> {
    assert_eq!(key, "key");
    slow(calls).await
}

#[retry(hedge = "1ms", timeout = "1s")]
async fn handed_over(calls: &Calls, key: String) -> io::Result<()> {
    assert_eq!(take(key), "key");
    slow(calls).await
}

#[retry(hedge = "1ms", timeout = "1s")]
async fn only_borrowed(calls: &Calls, key: String, secret: Secret) -> io::Result<()> {
    assert_eq!((key.len(), secret.0), (3, 7));
    slow(calls).await
}

#[retry(hedge = "1ms")]
async fn copied(calls: &Calls, count: u32, pair: (u8, u8)) -> io::Result<()> {
    assert_eq!((take(count), pair.0), (1, 2));
    slow(calls).await
}

#[retry(hedge = "1ms")]
async fn changed(calls: &Calls, mut items: Vec<u8>) -> io::Result<()> {
    items.push(1);
    assert_eq!(items.len(), 1, "each attempt has what the caller passed");
    slow(calls).await
}

#[retry(hedge = "1ms")]
async fn pattern(
    calls: &Calls,
    (key, mut count): (String, u32),
    Secret(number): Secret,
) -> io::Result<()> {
    count += number;
    assert_eq!((take(key).len(), count), (3, 8));
    slow(calls).await
}

#[retry(hedge = "1ms")]
async fn generic<T: Clone + Debug + Sync>(calls: &Calls, value: T) -> io::Result<T> {
    let value = take(value);
    slow::<()>(calls).await?;
    Ok(value)
}

#[retry(hedge = "1ms")]
async fn opaque(
    calls: &Calls,
    text: impl AsRef<str> + Sync,
    make: impl Fn() -> u8 + Sync,
) -> io::Result<()> {
    assert_eq!((text.as_ref().len(), make()), (3, 7));
    slow(calls).await
}

#[retry(hedge = "1ms")]
async fn converted(calls: &Calls, text: impl Into<String>) -> io::Result<()> {
    assert_eq!(text.into(), "key");
    slow(calls).await
}

#[retry(hedge = "1ms")]
async fn listed(calls: &Calls, items: Vec<u8>, key: String) -> io::Result<()> {
    assert_eq!((take(items).len(), key.len()), (1, 3));
    slow(calls).await
}

#[retry(hedge = "1ms")]
async fn moved_block(calls: &Calls, key: String) -> io::Result<()> {
    async move {
        assert_eq!(take(key), "key");
        slow(calls).await
    }
    .await
}

#[retry(hedge = "1ms", cancel = sleep(Duration::from_secs(60)), on_retry = |event| assert_eq!(event.attempt(), 2),
    before_retry = async || assert_eq!(key, "key"), on_end = |report: &Report| assert_eq!(report.attempts(), 3))]
async fn with_hooks(calls: &Calls, key: String) -> io::Result<()> {
    assert_eq!(take(key), "key");
    slow(calls).await
}

const SLOW: Policy = Policy::new().with_hedge(Duration::from_millis(1));

#[retry(policy = SLOW, hedge = "policy", when = |_| true, unless = |_| false)]
async fn of_policy(calls: &Calls) -> io::Result<()> {
    slow(calls).await
}

#[retry(hedge = "1ms")]
#[tracing::instrument(skip(calls))]
async fn instrumented(calls: &Calls, key: String) -> io::Result<()> {
    assert_eq!(take(key), "key");
    slow(calls).await
}

#[retry(hedge = "1ms")]
fn boxed(calls: &Calls, key: String) -> BoxFuture<'_, io::Result<()>> {
    Box::pin(async move {
        assert_eq!(take(key), "key");
        slow(calls).await
    })
}

#[retry(hedge = "1ms")]
fn returned(calls: &Calls, key: String) -> impl Future<Output = io::Result<()>> + '_ {
    let length = key.len();
    async move {
        assert_eq!((take(key).len(), length), (3, 3));
        slow(calls).await
    }
}

impl Client<'_> {
    #[retry(hedge = "1ms")]
    async fn method(&self, key: String) -> io::Result<()> {
        assert_eq!((take(key), &*self.name), ("key".to_owned(), "client"));
        slow(self.calls).await
    }

    #[retry(hedge = "1ms")]
    async fn borrows(&self) -> io::Result<&str> {
        slow::<()>(self.calls).await?;
        Ok(&self.name)
    }

    #[retry(hedge = "1ms")]
    async fn counted(self: Arc<Self>) -> io::Result<()> {
        let own = take(self);
        slow(own.calls).await
    }

    #[retry(hedge = "1ms")]
    async fn counted_members(self: Arc<Self>) -> io::Result<()> {
        assert_eq!(self.name, "client");
        slow(self.calls).await
    }

    #[retry(hedge = "1ms")]
    async fn given(self) -> io::Result<()> {
        let own = take(self);
        slow(own.calls).await
    }

    #[retry(hedge = "1ms")]
    async fn given_members(self) -> io::Result<()> {
        assert_eq!(self.name, "client");
        slow(self.calls).await
    }

    #[retry(hedge = "1ms")]
    async fn given_mut(mut self) -> io::Result<()> {
        self.name.push('!');
        assert_eq!(self.name, "client!");
        slow(self.calls).await
    }
}

#[async_trait]
trait Store {
    async fn read(&self, key: String) -> io::Result<()>;
}

#[async_trait]
impl Store for Client<'_> {
    #[retry(hedge = "1ms", timeout = "1s")]
    async fn read(&self, key: String) -> io::Result<()> {
        assert_eq!(take(key), "key");
        slow(self.calls).await
    }
}

trait Native {
    fn read_native(&self, key: String) -> impl Future<Output = io::Result<()>> + Send;
}

impl Native for Client<'_> {
    #[retry(hedge = "1ms")]
    async fn read_native(&self, key: String) -> io::Result<()> {
        assert_eq!(take(key), "key");
        slow(self.calls).await
    }
}

fn key() -> String {
    "key".to_owned()
}

fn client(calls: &Calls) -> Client<'_> {
    Client {
        calls,
        name: "client".to_owned(),
    }
}

cases! {
    by_reference: |calls| by_reference(calls, "key");
    handed_over: |calls| handed_over(calls, key());
    only_borrowed: |calls| only_borrowed(calls, key(), Secret(7));
    copied: |calls| copied(calls, 1, (2, 3));
    changed: |calls| changed(calls, Vec::new());
    pattern: |calls| pattern(calls, (key(), 1), Secret(7));
    generic: |calls| generic(calls, key());
    opaque: |calls| opaque(calls, key(), || 7);
    converted: |calls| converted(calls, "key");
    listed: |calls| listed(calls, vec![1], key());
    moved_block: |calls| moved_block(calls, key());
    with_hooks: |calls| with_hooks(calls, key());
    of_policy: |calls| of_policy(calls);
    instrumented: |calls| instrumented(calls, key());
    boxed: |calls| boxed(calls, key());
    returned: |calls| returned(calls, key());
    method: |calls| async { client(calls).method(key()).await };
    borrows: |calls| async { client(calls).borrows().await.map(str::len) };
    counted: |calls| Arc::new(client(calls)).counted();
    counted_members: |calls| Arc::new(client(calls)).counted_members();
    given: |calls| client(calls).given();
    given_members: |calls| client(calls).given_members();
    given_mut: |calls| client(calls).given_mut();
    async_trait: |calls| async { client(calls).read(key()).await };
    native_trait: |calls| async { client(calls).read_native(key()).await };
}
