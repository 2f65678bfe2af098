//! Arguments that the body can only convert: `impl Into<X>`.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::time::Duration;

use async_trait::async_trait;
use reattempt::retry;

use crate::{cases, Calls};

#[derive(Clone)]
struct Key(String);

/// Can be converted once. Neither `Clone` nor `Sync`.
struct Source(std::cell::Cell<bool>);

impl From<Source> for Key {
    fn from(source: Source) -> Self {
        assert!(!source.0.replace(true), "converted once");
        Key("key".to_owned())
    }
}

fn source() -> Source {
    Source(std::cell::Cell::new(false))
}

fn size(key: Key) -> usize {
    assert_eq!(key.0, "key");
    key.0.into_bytes().len()
}

fn convert<T: Into<Key>>(key: T) -> usize {
    size(key.into())
}

#[retry]
async fn opaque(calls: &Calls, key: impl Into<Key>) -> io::Result<usize> {
    let key = key.into();
    tokio::task::yield_now().await;
    calls.fail::<()>()?;
    Ok(size(key))
}

#[retry]
async fn generic<K, N>(calls: &Calls, key: K, name: N) -> io::Result<usize>
where
    K: Into<Key> + Send,
    N: Into<Option<String>> + Send,
{
    let name = name.into();
    let size = size(key.into());
    calls.fail::<()>()?;
    Ok(size + name.map_or(0, |name: String| name.len()))
}

#[retry(timeout = "1s")]
async fn handed_over(calls: &Calls, key: impl Into<Key> + Send) -> io::Result<usize> {
    let size = convert(key);
    calls.fail::<()>()?;
    Ok(size)
}

#[retry]
async fn in_a_move_block(calls: &Calls, key: impl Into<Key>) -> io::Result<usize> {
    let size = async move { size(key.into()) };
    calls.fail::<()>()?;
    Ok(size.await)
}

/// The target borrows.
#[retry]
async fn borrowed<'a>(calls: &Calls, name: impl Into<Option<&'a str>>) -> io::Result<&'a str> {
    let name = name.into();
    calls.fail::<()>()?;
    Ok(name.unwrap_or_default())
}

#[retry]
async fn in_an_option(calls: &Calls, key: Option<impl Into<Key>>) -> io::Result<usize> {
    let key = key.map(Into::into);
    tokio::task::yield_now().await;
    calls.fail::<()>()?;
    Ok(key.map_or(0, size))
}

#[retry(timeout = "1s")]
async fn generic_in_an_option<K>(calls: &Calls, key: Option<K>) -> io::Result<usize>
where
    K: Into<Key> + Send,
{
    let size = if let Some(key) = key { convert(key) } else { 0 };
    calls.fail::<()>()?;
    Ok(size)
}

/// The target is not `Clone`. Each attempt converts a clone of the argument.
#[retry]
async fn cloned_in_an_option<T>(calls: &Calls, name: Option<T>) -> io::Result<usize>
where
    T: Into<std::sync::Mutex<String>> + Clone,
{
    let name = name.map(T::into);
    calls.fail::<()>()?;
    Ok(name.map_or(0, |name| name.into_inner().unwrap().len()))
}

/// The target is not `Clone`. Each attempt converts a clone of the argument.
#[retry]
async fn cloned<T>(calls: &Calls, name: T) -> io::Result<usize>
where
    T: Into<std::sync::Mutex<String>> + Clone,
{
    let name = name.into();
    calls.fail::<()>()?;
    Ok(name.into_inner().unwrap().len())
}

/// The argument is only looked at, and not converted.
#[retry]
async fn not_converted(calls: &Calls, key: impl Into<Key>) -> io::Result<Duration> {
    let wait = wait(&key);
    calls.fail::<()>()?;
    Ok(wait)
}

fn wait(_: &impl Into<Key>) -> Duration {
    Duration::from_millis(1)
}

async fn prepare(key: &impl Into<Key>) {
    let _ = wait(key);
    tokio::task::yield_now().await;
}

async fn never(key: &impl Into<Key>) {
    let _ = wait(key);
    std::future::pending::<()>().await;
}

/// Rules and hooks see what the body sees.
#[retry(
    delays = [wait(&key), wait(&key)],
    when = |_| wait(&key) > Duration::default(),
    on_retry = |_| assert!(!wait(&key).is_zero()),
    before_retry = prepare(&key),
    on_end = |_| assert!(!wait(&key).is_zero()),
    cancel = never(&key),
)]
async fn seen_by_the_rules(calls: &Calls, key: impl Into<Key> + Send + Sync) -> io::Result<usize> {
    let key = key.into();
    tokio::task::yield_now().await;
    calls.fail::<()>()?;
    Ok(size(key))
}

#[retry]
fn handmade<'c, K: Into<Key> + Send + 'c>(
    calls: &'c Calls,
    key: K,
) -> Pin<Box<dyn Future<Output = io::Result<usize>> + Send + 'c>> {
    Box::pin(async move {
        let size = size(key.into());
        calls.fail::<()>()?;
        Ok(size)
    })
}

#[async_trait]
trait Store {
    async fn get<K: Into<Key> + Send>(&self, key: K) -> io::Result<usize>;
}

#[async_trait]
impl Store for Calls {
    #[retry]
    async fn get<K: Into<Key> + Send>(&self, key: K) -> io::Result<usize> {
        let size = size(key.into());
        self.fail::<()>()?;
        Ok(size)
    }
}

/// Its type has a bound around the function too, so the body may do more than convert it.
struct Shows<T>(std::marker::PhantomData<T>);

impl<T: std::fmt::Debug + Clone> Shows<T> {
    #[retry]
    async fn show(&self, calls: &Calls, key: T) -> io::Result<usize>
    where
        T: Into<Key>,
    {
        calls.fail::<()>()?;
        assert_eq!(format!("{key:?}"), "\"key\"");
        Ok(size(key.into()))
    }
}

#[retry(blocking, base = "0s")]
fn blocking_in_an_option(calls: &Calls, key: Option<impl Into<Key>>) -> io::Result<usize> {
    let size = key.map_or(0, convert);
    calls.fail::<()>()?;
    Ok(size)
}

#[retry(blocking, base = "0s")]
fn blocking(calls: &Calls, key: impl Into<Key>) -> io::Result<usize> {
    let size = size(key.into());
    calls.fail::<()>()?;
    Ok(size)
}

cases! {
    opaque: |calls| opaque(calls, source());
    generic: |calls| generic(calls, source(), Some(String::new()));
    handed_over: |calls| handed_over(calls, source());
    in_a_move_block: |calls| in_a_move_block(calls, source());
    borrowed: |calls| borrowed(calls, "");
    in_an_option: |calls| in_an_option(calls, Some(source()));
    generic_in_an_option: |calls| generic_in_an_option(calls, Some(source()));
    cloned_in_an_option: |calls| cloned_in_an_option(calls, Some(String::new()));
    cloned: |calls| cloned(calls, String::new());
    not_converted: |calls| not_converted(calls, source());
    seen_by_the_rules: |calls| seen_by_the_rules(calls, "key".to_owned());
    handmade: |calls| handmade(calls, source());
    async_trait: |calls| calls.get(source());
    bound_around: |calls| Shows(std::marker::PhantomData).show(calls, "key".to_owned());
    blocking: |calls| async { blocking(calls, source()) };
    blocking_in_an_option: |calls| async { blocking_in_an_option(calls, Some(source())) };
}

impl From<String> for Key {
    fn from(name: String) -> Self {
        Key(name)
    }
}
