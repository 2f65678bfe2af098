//! Generic functions, with and without `Clone`.

use std::error::Error;
use std::fmt::Debug;
use std::io;
use std::time::Duration;

use futures::future::BoxFuture;
use reattempt::{retry, Retryable, Stopped};

use crate::{cases, Calls};

fn show<T: Debug>(value: T) -> usize {
    format!("{value:?}").len()
}

#[derive(Debug)]
struct NotClone;

#[retry]
async fn handed_over_and_not_clone<T: Debug + Sync>(calls: &Calls, value: T) -> io::Result<usize> {
    let size = show(value);
    calls.fail::<()>()?;
    Ok(size)
}

#[retry]
async fn handed_over_and_clone<T>(calls: &Calls, value: T) -> io::Result<T>
where
    T: Clone + Debug + Send + Sync + 'static,
{
    calls.fail::<()>()?;
    Ok(value)
}

#[retry]
async fn borrowed_and_not_sync<T: Debug + Send>(calls: &Calls, value: T) -> io::Result<usize> {
    let size = format!("{value:?}").len();
    tokio::task::yield_now().await;
    calls.fail::<()>()?;
    Ok(size)
}

/// The attribute adds no bound: `E` is neither `'static` nor `Error`.
#[retry(when = |_| true)]
async fn generic_error<E>(calls: &Calls, make: impl Fn() -> E + Send + Sync) -> Result<u8, E> {
    calls.up();
    Err(make())
}

#[retry]
async fn generic_error_with_verdict<E: Retryable>(
    calls: &Calls,
    make: impl Fn() -> E + Send + Sync,
) -> Result<u8, E> {
    calls.up();
    Err(make())
}

/// A setting may name a const parameter, at any depth.
#[retry(attempts = 3, timeout = Duration::from_secs(SECONDS), base = Duration::from_millis(1 + SECONDS))]
async fn const_parameter_in_a_setting<const SECONDS: u64>(calls: &Calls) -> io::Result<u8> {
    calls.fail()
}

#[retry(timeout = "1s", when = |_| true)]
async fn generic_error_with_limit<E: From<Stopped>>(
    calls: &Calls,
    make: impl Fn() -> E + Send + Sync,
) -> Result<u8, E> {
    calls.up();
    Err(make())
}

#[derive(Debug)]
struct Wrapped<P>(Option<P>);

impl<P> std::fmt::Display for Wrapped<P> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("wrapped")
    }
}

impl<P: Debug> Error for Wrapped<P> {}

impl<P> From<Stopped> for Wrapped<P> {
    fn from(_: Stopped) -> Self {
        Self(None)
    }
}

/// The call may not keep such an error, because `T` is not `'static`.
#[retry(timeout = "1s", when = |_| true)]
async fn generic_error_in_parentheses<T: Debug + Send + Sync>(
    calls: &Calls,
    make: impl Fn() -> T + Send + Sync,
) -> Result<u8, Wrapped<(T, u8)>> {
    calls.up();
    Err(Wrapped(Some((make(), 1))))
}

struct Over<E>(E);

impl<E> Over<E>
where
    E: Error + Clone + From<Stopped> + Send + Sync,
{
    #[retry(timeout = "1s", when = |_| true)]
    async fn error_of_the_impl(&self, calls: &Calls) -> Result<u8, E> {
        calls.up();
        Err(self.0.clone())
    }
}

trait Backend: Sync {
    type Error: Error + From<Stopped> + Send + Sync;
    fn fail(&self) -> Self::Error;
}

impl Backend for Cloned {
    type Error = Self;
    fn fail(&self) -> Self {
        self.clone()
    }
}

trait Arguments<DB> {
    fn count(self) -> usize;
}

impl<DB> Arguments<DB> for String {
    fn count(self) -> usize {
        self.len()
    }
}

fn count<DB>(arguments: impl Arguments<DB>) -> usize {
    arguments.count()
}

struct Pool<Store, DB>(Store, DB);

/// The parameters of the `impl` have names of several letters.
impl<Store: Backend, DB: Sync> Pool<Store, DB> {
    #[retry(timeout = "1s", when = |_| true)]
    async fn error_of_a_parameter(&self, calls: &Calls) -> Result<u8, Store::Error> {
        calls.up();
        Err(self.0.fail())
    }

    #[retry(timeout = "1s", when = |_| true)]
    async fn error_of_a_trait(&self, calls: &Calls) -> Result<u8, <Store as Backend>::Error> {
        calls.up();
        Err(self.0.fail())
    }

    #[retry]
    async fn bound_by_a_parameter<A>(&self, calls: &Calls, arguments: A) -> io::Result<usize>
    where
        A: Arguments<DB> + Clone + Sync,
    {
        let count = count(arguments);
        calls.fail::<()>()?;
        Ok(count)
    }
}

#[derive(Debug, Clone)]
struct Cloned;

impl std::fmt::Display for Cloned {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("cloned")
    }
}

impl Error for Cloned {}

impl From<Stopped> for Cloned {
    fn from(_: Stopped) -> Self {
        Self
    }
}

#[retry(attempts = 3)]
async fn recursion_ends(calls: &Calls, depth: u32) -> io::Result<u8> {
    descend(calls, depth).await
}

/// Recursion through a box. Each level makes one attempt, so that only the outer function retries.
#[retry(attempts = 1)]
async fn descend_once(calls: &Calls, depth: u32) -> io::Result<u8> {
    if depth == 0 {
        calls.fail()
    } else {
        descend(calls, depth - 1).await
    }
}

fn descend(calls: &Calls, depth: u32) -> BoxFuture<'_, io::Result<u8>> {
    Box::pin(descend_once(calls, depth))
}

cases! {
    handed_over_and_not_clone: |calls| handed_over_and_not_clone(calls, NotClone);
    handed_over_and_clone: |calls| handed_over_and_clone(calls, 1);
    borrowed_and_not_sync: |calls| borrowed_and_not_sync(calls, std::cell::Cell::new(1));
    generic_error: |calls| generic_error(calls, || NotClone);
    error_of_a_parameter: |calls| async { Pool(Cloned, 1).error_of_a_parameter(calls).await };
    error_of_a_trait: |calls| async { Pool(Cloned, 1).error_of_a_trait(calls).await };
    bound_by_a_parameter: |calls| async { Pool(Cloned, 1).bound_by_a_parameter(calls, String::new()).await };
    generic_error_with_verdict: |calls| generic_error_with_verdict(calls, || io::Error::from(io::ErrorKind::TimedOut));
    const_parameter_in_a_setting: |calls| const_parameter_in_a_setting::<1>(calls);
    generic_error_with_limit: |calls| generic_error_with_limit(calls, || io::Error::from(io::ErrorKind::TimedOut));
    generic_error_in_parentheses: |calls| generic_error_in_parentheses(calls, || NotClone);
    error_of_the_impl: |calls| Over(Cloned).error_of_the_impl(calls);
    recursion_ends: |calls| recursion_ends(calls, 3);
}
