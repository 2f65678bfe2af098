//! Where a run begins.

use std::panic::Location;

use super::{Run, RunState, Runs, WithoutLimits};
use crate::policy::Policy;
use crate::preset::Preset;
use crate::result::ResultFuture;

impl Policy {
    /// Runs an operation with retries, without an attribute: `POLICY.run(async || { … }).await`.
    ///
    /// The operation is called once in each attempt, so what it does before it returns a future belongs to the attempt. Prefer
    /// the attribute when you write a function: it checks more at compile time, keeps the error of an earlier attempt as the
    /// source of a [`Stopped`](crate::Stopped), and costs less. For a closure, `run!` has all of that too. Use this method where you want no
    /// macros.
    ///
    /// [`when`](Run::when), [`on`](Run::on) and [`unless`](Run::unless) select the errors to retry, as in the
    /// attribute. Without `when` and `on`, the error type decides, through [`Retryable`](crate::Retryable). Events show the
    /// error, so it must implement `Display`. For a closure that is not async, write [`run_blocking`](Self::run_blocking).
    ///
    /// The policy may have a timeout or a deadline, so the error of the call must be able to say that it was
    /// [`Stopped`](crate::Stopped):
    ///
    /// | the operation fails with | the call gives |
    /// |---|---|
    /// | an `E` that can hold a `Stopped`: `io::Error`, `anyhow::Error`, `Box<dyn Error + Send + Sync>`, `String`, your own with `From<Stopped>` | `Result<T, E>` |
    /// | the error of a client for which a feature is on: `sqlx::Error`, `redis::RedisError` | `Result<T, `[`Error<E>`](crate::Error)`>` |
    /// | any other `E`, or one that borrows | a compile error: write `run!` |
    /// | any `E` that does not borrow, in [`POLICY.without_limits().run(…)`](Policy::without_limits) | `Result<T, E>` |
    ///
    /// Limits, backoff, nested calls, events and reports are those of an annotated function. All calls made at one
    /// place in the source share a name (that place, unless [`with_name`](Run::with_name) sets another) and a default
    /// budget.
    ///
    /// An `async` closure cannot change the variables that it captures. Use an atomic or a `Mutex` for that, or a
    /// closure that returns an `async move` block.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops the running attempt, or ends the wait.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # use reattempt_runtime as reattempt;
    /// use reattempt::FAST_IO;
    /// # use tokio::{io::AsyncReadExt, net::TcpStream};
    ///
    /// # async fn example() -> std::io::Result<()> {
    /// let first = FAST_IO
    ///     .run(async || TcpStream::connect("10.0.0.7:6379").await?.read_u8().await)
    ///     .with_name("first byte")
    ///     .await?;
    /// # Ok(()) }
    /// ```
    #[track_caller]
    pub fn run<'p, O, F, T, E, S: RunState>(&self, operation: O) -> Run<'p, O, T, E, S>
    where
        Self: Runs<S>,
        O: FnMut() -> F,
        F: ResultFuture<T, E>,
    {
        Run::at(Location::caller(), self.clone(), operation)
    }

    /// Runs a closure that is not async, with retries: `POLICY.run_blocking(|| …).call()`.
    ///
    /// Rules, delays, budget, nested calls, events and reports are those of [`run`](Self::run), with these differences:
    ///
    /// - The call waits with [`std::thread::sleep`] and needs no runtime. In async code, use [`run`](Self::run).
    /// - Nothing can stop a closure that blocks its thread. So the timeout of the policy cuts nothing, and there is no
    ///   [`with_cancel`](Run::with_cancel). The closure can read the timeout with
    ///   [`Attempt::remaining`](crate::Attempt::remaining).
    /// - After the deadline, no attempt begins. No wait would end after it. Time counts from the beginning of the call.
    ///
    /// The closure may change what it captures.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # use reattempt_runtime as reattempt;
    /// use std::net::TcpStream;
    ///
    /// use reattempt::FAST_IO;
    ///
    /// # fn example() -> std::io::Result<()> {
    /// let stream = FAST_IO.run_blocking(|| TcpStream::connect("10.0.0.7:6379")).with_name("connect").call()?;
    /// # Ok(()) }
    /// ```
    #[track_caller]
    pub fn run_blocking<'p, O, T, E, S: RunState>(&self, operation: O) -> Run<'p, O, T, E, S>
    where
        Self: Runs<S>,
        O: FnMut() -> Result<T, E>,
    {
        Run::at(Location::caller(), self.clone(), operation)
    }
}

impl Preset {
    /// Runs an operation with retries, without an attribute: [`Policy::run`] with the present [`policy`](Self::policy).
    ///
    /// # Examples
    ///
    /// ```
    /// # use reattempt_runtime as reattempt;
    /// use std::io;
    ///
    /// use reattempt::{Policy, Preset};
    ///
    /// static PAYMENTS: Preset = Preset::new("payments", Policy::new().with_attempts(4));
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> io::Result<()> {
    /// let paid = PAYMENTS.run(async || Ok::<_, io::Error>(12)).await?;
    /// assert_eq!(paid, 12);
    /// # Ok(()) }
    /// ```
    #[track_caller]
    pub fn run<'p, O, F, T, E, S: RunState>(&self, operation: O) -> Run<'p, O, T, E, S>
    where
        Policy: Runs<S>,
        O: FnMut() -> F,
        F: ResultFuture<T, E>,
    {
        self.policy().run(operation)
    }

    /// Runs a closure that is not async, with retries: [`Policy::run_blocking`] with the present
    /// [`policy`](Self::policy).
    #[track_caller]
    pub fn run_blocking<'p, O, T, E, S: RunState>(&self, operation: O) -> Run<'p, O, T, E, S>
    where
        Policy: Runs<S>,
        O: FnMut() -> Result<T, E>,
    {
        self.policy().run_blocking(operation)
    }
}

impl WithoutLimits {
    /// Runs an operation with retries: [`Policy::run`], which gives the error of the operation itself. Nothing stops the
    /// call, so [`with_cancel`](Run::with_cancel) and [`until`](Run::until) do not compile.
    #[track_caller]
    pub fn run<'p, O, F, T, E, S: RunState>(&self, operation: O) -> Run<'p, O, T, E, S>
    where
        Self: Runs<S>,
        O: FnMut() -> F,
        F: ResultFuture<T, E>,
    {
        Run::at(Location::caller(), self.policy().clone(), operation)
    }

    /// Runs a closure that is not async, with retries: [`Policy::run_blocking`], which gives the error of the
    /// closure itself.
    #[track_caller]
    pub fn run_blocking<'p, O, T, E, S: RunState>(&self, operation: O) -> Run<'p, O, T, E, S>
    where
        Self: Runs<S>,
        O: FnMut() -> Result<T, E>,
    {
        Run::at(Location::caller(), self.policy().clone(), operation)
    }
}
