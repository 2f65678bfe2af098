//! Where the calls of a run are made: `.await`, `unboxed` and `call`.

use std::pin::Pin;
use std::task::{Context, Poll};

use super::Run;
use super::blocking::Blocking;
use super::rules::RunRules;
use super::text::MakesText;
use crate::call::Cuts;
use crate::classify::{Retryable, Ruling, Said};
use crate::result::ResultFuture;

/// Without `on` and `when`, the verdict of the error decides. With one of them, the error type needs no verdict.
macro_rules! ends {
    ($($ruled:literal [$($retryable:tt)*] $ruling:expr;)*) => {$(
        impl<O, T, E, C: Cuts, X: MakesText<E>> Run<'_, O, T, E, $ruled, C, X> {
            /// Runs the operation without a box. The future is `Send` if the operation, its futures and their results
            /// are.
            ///
            /// # Errors
            ///
            /// - The error of the operation, or one made from a [`Stopped`](crate::Stopped).
            ///
            /// # Panics
            ///
            /// - If the `Run` was polled before.
            // Not `async`: its future would hold `self` beside the parts.
            pub fn unboxed<F>(mut self) -> impl Future<Output = Result<T, E>>
            where
                O: FnMut() -> F,
                F: ResultFuture<T, E>,
                $(E: $retryable,)*
            {
                let text = self.text.function();
                self.take().drive::<C>($ruling, text)
            }
        }

        impl<O, T, E, C: Cuts, X: MakesText<E>> Run<'_, O, T, E, $ruled, Blocking<C>, X> {
            /// Makes the call of a [blocking](crate::Policy::run_blocking) run.
            ///
            /// # Errors
            ///
            /// - The error of the operation, or one made from a [`Stopped`](crate::Stopped).
            pub fn call(mut self) -> Result<T, E>
            where
                O: FnMut() -> Result<T, E>,
                $(E: $retryable,)*
            {
                let text = self.text.function();
                self.take().drive_blocking::<C>($ruling, text)
            }
        }

        impl<'p, O, F, T, E, C, X> Future for Run<'p, O, T, E, $ruled, C, X>
        where
            O: FnMut() -> F + Send + 'p,
            F: ResultFuture<T, E> + Send + 'p,
            T: Send + 'p,
            E: $($retryable +)* Send + 'p,
            C: Cuts + 'p,
            X: MakesText<E>,
        {
            type Output = Result<T, E>;

            fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
                if self.running.is_none() {
                    let text = self.text.function();
                    let running = self.take().drive::<C>($ruling, text);
                    self.running = Some(Box::pin(running));
                }
                let running = self.running.as_mut();
                running.expect("set above").as_mut().poll(context)
            }
        }
    )*};
}

ends! {
    false [Retryable] |_, error| Ruling::by(Said::of(error));
    true [] RunRules::ruling;
}
