//! Where the calls of a run are made: `.await`, `unboxed`, `hedged` and `call`.

use std::pin::Pin;
use std::task::{Context, Poll};

use super::Run;
use super::drive::Blocking;
use super::rules::{RunRules, ruling};
use super::text::MakesText;
use crate::call::{CanBlock, Cuts};
use crate::classify::{Retryable, Ruling, verdict_of};
use crate::result::ResultFuture;

/// Without `on` and `when`, the verdict of the error decides. With one of them, the error type needs no verdict.
macro_rules! ends {
    ($($ruled:literal [$($retryable:tt)*] $ruling:expr;)*) => {$(
        impl<O, T, E, C: Cuts, X: MakesText<E>, R: RunRules<T, E>> Run<'_, O, T, E, $ruled, C, X, R> {
            /// Runs the operation without a box. The future is `Send` if the operation, its futures and their results
            /// are.
            ///
            /// # Errors
            ///
            /// - The error of the operation, or one made from a [`Stopped`](crate::Stopped).
            ///
            /// # Panics
            ///
            /// - If the `Run` was used before.
            // Not `async`: its future would hold `self` beside the parts.
            pub fn unboxed<F>(mut self) -> impl Future<Output = Result<T, E>>
            where
                O: FnMut() -> F,
                F: ResultFuture<T, E>,
                $(E: $retryable,)*
            {
                let (parts, decides) = self.take($ruling);
                parts.drive::<C, _, _, _>(decides)
            }

            /// Runs the operation, and a second time beside the first if that is slow: after the
            /// [`hedge`](crate::Policy::with_hedge) of the policy. The first success is the result, and the other attempt
            /// is dropped.
            ///
            /// The rules are those of the attribute's key `hedge`. The policy needs a budget, and without a `hedge` there is
            /// no second attempt. As with [`unboxed`](Self::unboxed), nothing is boxed.
            ///
            /// # Errors
            ///
            /// - The error of the operation, or one made from a [`Stopped`](crate::Stopped).
            ///
            /// # Panics
            ///
            /// - If the `Run` was used before.
            ///
            /// # Cancel safety
            ///
            /// Dropping the future drops both attempts.
            ///
            /// # Examples
            ///
            /// ```
            /// # use retry_runtime as reattempt;
            /// use std::io;
            /// use std::time::Duration;
            ///
            /// use reattempt::{Attempt, FAST_IO};
            /// use tokio::time::sleep;
            ///
            /// # #[tokio::main(flavor = "current_thread", start_paused = true)] async fn main() -> io::Result<()> {
            /// // The first replica is slow.
            /// let read = async || {
            ///     let replica = Attempt::current().map_or(1, |attempt| attempt.number());
            ///     sleep(Duration::from_millis(if replica == 1 { 400 } else { 5 })).await;
            ///     io::Result::Ok(replica)
            /// };
            /// let reads = FAST_IO.with_hedge(Duration::from_millis(20));
            /// assert_eq!(reads.run(read).hedged().await?, 2);
            /// # Ok(()) }
            /// ```
            pub fn hedged<F>(mut self) -> impl Future<Output = Result<T, E>>
            where
                O: FnMut() -> F,
                F: ResultFuture<T, E>,
                $(E: $retryable,)*
            {
                let (parts, decides) = self.take($ruling);
                parts.drive_hedged::<C, _, _, _>(decides)
            }
        }

        impl<O, T, E, C: Cuts, X: MakesText<E>, R: RunRules<T, E>> Run<'_, O, T, E, $ruled, Blocking<C>, X, R> {
            /// Makes the call of a [blocking](crate::Policy::run_blocking) run.
            ///
            /// # Errors
            ///
            /// - The error of the operation, or one made from a [`Stopped`](crate::Stopped).
            pub fn call(mut self) -> Result<T, E>
            where
                O: FnMut() -> Result<T, E>,
                C: CanBlock,
                $(E: $retryable,)*
            {
                let (parts, decides) = self.take($ruling);
                parts.drive_blocking::<C, _, _>(decides)
            }
        }

        impl<'p, O, F, T, E, C, X, R> Future for Run<'p, O, T, E, $ruled, C, X, R>
        where
            O: FnMut() -> F + Send + 'p,
            F: ResultFuture<T, E> + Send + 'p,
            T: Send + 'p,
            E: $($retryable +)* Send + 'p,
            C: Cuts + 'p,
            X: MakesText<E>,
            R: RunRules<T, E> + Send + 'p,
        {
            type Output = Result<T, E>;

            fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
                if self.0.running.is_none() {
                    let (parts, decides) = self.take($ruling);
                    self.0.running = Some(Box::pin(parts.drive::<C, _, _, _>(decides)));
                }
                let running = self.0.running.as_mut();
                running.expect("set above").as_mut().poll(context)
            }
        }
    )*};
}

ends! {
    false [Retryable] |_, error| Ruling::by(verdict_of(error));
    true [] ruling;
}
