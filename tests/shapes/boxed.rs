//! `#[async_trait]`, and functions that return a future by hand.

use std::cell::Cell;
use std::future::{poll_fn, Future};
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Mutex;

use async_trait::async_trait;
use futures::future::BoxFuture;
use futures::FutureExt as _;
use reattempt::retry;

use crate::{cases, take, Calls};

#[async_trait]
trait Store: Send {
    async fn read(&self, key: String) -> io::Result<u8>;
    async fn write(&mut self, key: String, mut value: Vec<u8>) -> io::Result<u8>;
    async fn close(self: Box<Self>, (code, _): (u8, u8)) -> io::Result<u8>;

    #[retry]
    async fn by_default(&self, calls: &Calls, key: String) -> io::Result<u8>
    where
        Self: Sync,
    {
        assert_eq!(take(key), "key");
        calls.fail()
    }

    #[retry(timeout = "1s")]
    async fn mut_by_default(&mut self, calls: &Calls) -> io::Result<u8> {
        calls.fail()
    }
}

struct Memory<'c>(&'c Calls, u32);

#[async_trait]
impl Store for Memory<'_> {
    #[retry]
    async fn read(&self, key: String) -> io::Result<u8> {
        assert_eq!(take(key), "key");
        tokio::task::yield_now().await;
        self.0.fail()
    }

    #[retry(timeout = "1s", on = "io::Error")]
    async fn write(&mut self, key: String, mut value: Vec<u8>) -> io::Result<u8> {
        self.1 += 1;
        assert_eq!(self.1, self.0.count() + 1);
        value.push(1);
        assert_eq!((key.len(), value.len()), (3, 1));
        tokio::task::yield_now().await;
        self.0.fail::<()>()?;
        Ok(value[0])
    }

    #[retry]
    async fn close(self: Box<Self>, (code, _): (u8, u8)) -> io::Result<u8> {
        self.0.fail::<()>()?;
        Ok(code)
    }
}

#[async_trait(?Send)]
trait Local {
    async fn read(&self, key: Rc<String>) -> io::Result<u8>;
}

#[async_trait(?Send)]
impl Local for Memory<'_> {
    #[retry]
    async fn read(&self, key: Rc<String>) -> io::Result<u8> {
        let held = take(key);
        tokio::task::yield_now().await;
        assert_eq!(*held, "key");
        self.0.fail()
    }
}

#[retry]
fn boxed_by_hand(
    calls: &Calls,
    text: String,
) -> Pin<Box<dyn Future<Output = io::Result<usize>> + Send + '_>> {
    Box::pin(async move {
        let size = take(text).len();
        calls.fail::<()>()?;
        Ok(size)
    })
}

#[retry(timeout = "1s")]
fn boxed_future(calls: &Calls) -> BoxFuture<'_, io::Result<u8>> {
    async move { calls.fail() }.boxed()
}

#[retry]
fn boxed_with_early_return(calls: &Calls, early: bool) -> BoxFuture<'_, io::Result<u8>> {
    if early {
        return Box::pin(async { calls.fail() });
    }
    Box::pin(std::future::ready(Ok(1)))
}

#[retry]
fn returns_before_the_block(calls: &Calls, early: bool) -> BoxFuture<'_, io::Result<u8>> {
    if early {
        return Box::pin(async move { calls.fail() });
    }
    Box::pin(async move { calls.fail() })
}

#[tokio::test(start_paused = true)]
async fn only_the_block_at_the_end_is_retried() {
    for (early, attempts) in [(true, 1), (false, crate::ATTEMPTS)] {
        let calls = Calls::default();
        let _ = returns_before_the_block(&calls, early).await;
        assert_eq!(calls.count(), attempts);
    }
}

#[retry]
#[expect(clippy::manual_async_fn, reason = "the point of the case")]
fn opaque(calls: &Calls) -> impl Future<Output = io::Result<u8>> + Send + '_ {
    async move { calls.fail() }
}

#[retry]
fn opaque_by_call(calls: &Calls) -> impl Future<Output = io::Result<u8>> + Send + '_ {
    plain(calls)
}

async fn plain(calls: &Calls) -> io::Result<u8> {
    tokio::task::yield_now().await;
    calls.fail()
}

#[retry]
async fn local(calls: &Calls, cell: Rc<Cell<u8>>) -> io::Result<u8> {
    cell.set(cell.get() + 1);
    tokio::task::yield_now().await;
    calls.fail()
}

/// A future that is not `Send` cannot be in the table.
#[tokio::test(start_paused = true)]
async fn futures_that_are_not_send_are_retried() {
    let calls = Calls::default();
    let _ = Local::read(&Memory(&calls, 0), Rc::new("key".to_owned())).await;
    assert_eq!(calls.count(), crate::ATTEMPTS);

    let (calls, cell) = (Calls::default(), Rc::new(Cell::new(0)));
    let _ = local(&calls, cell.clone()).await;
    assert_eq!((calls.count(), cell.get()), (3, 3));
}

struct Asked<'a, T>(&'a T);

/// Of two methods of one name, this one wins if there is one.
impl<T: Sync> Asked<'_, T> {
    fn is_sync(&self) -> bool {
        let _: &dyn Sync = self.0;
        true
    }
}

trait Otherwise {
    fn is_sync(&self) -> bool {
        false
    }
}

impl<T> Otherwise for Asked<'_, T> {}

#[tokio::test(start_paused = true)]
async fn a_future_is_not_sync_but_a_mutex_of_one_is() {
    let calls = Calls::default();
    assert!(Asked(&plain(&calls)).is_sync());
    assert!(!Asked(&opaque_by_call(&calls)).is_sync());

    let boxed: Pin<Box<dyn Future<Output = io::Result<u8>> + Send + '_>> =
        Box::pin(opaque_by_call(&calls));
    let mut held = Mutex::new(boxed);
    assert!(Asked(&held).is_sync());
    poll_fn(|cx| held.get_mut().unwrap().as_mut().poll(cx))
        .await
        .unwrap_err();
    assert_eq!(calls.count(), crate::ATTEMPTS);
}

cases! {
    async_trait: |calls| Store::read(&Memory(calls, 0), "key".into());
    async_trait_mut_self: |calls| Memory(calls, 0).write("key".into(), Vec::new());
    async_trait_boxed_self: |calls| Box::new(Memory(calls, 0)).close((1, 2));
    async_trait_default: |calls| Memory(calls, 0).by_default(calls, "key".into());
    async_trait_default_mut: |calls| Memory(calls, 0).mut_by_default(calls);
    boxed_by_hand: |calls| boxed_by_hand(calls, String::new());
    boxed_future: |calls| boxed_future(calls);
    boxed_with_early_return: |calls| boxed_with_early_return(calls, true);
    opaque: |calls| opaque(calls);
    opaque_by_call: |calls| opaque_by_call(calls);
}
