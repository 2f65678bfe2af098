//! The body of an attempt, or a fault of its test scope in its place. Without the feature `testing`, it is the body.

#[cfg(not(feature = "testing"))]
pub use self::never::*;
#[cfg(feature = "testing")]
pub use self::on_purpose::*;

#[cfg(not(feature = "testing"))]
mod never {
    /// Returns the body.
    #[inline]
    pub const fn faulty<F>(body: F) -> F {
        body
    }

    /// Returns the body of a function that blocks.
    #[inline]
    pub const fn faulty_blocking<R, F: FnOnce() -> R>(body: F) -> F {
        body
    }

    /// Begins an operation.
    #[inline]
    pub(crate) fn faulty_run<F>(begin: impl FnOnce() -> F) -> F {
        begin()
    }

    /// Sends a request.
    #[cfg(feature = "_layers")]
    #[inline]
    pub(crate) fn faulty_service<F>(send: impl FnOnce() -> F) -> F {
        send()
    }
}

#[cfg(feature = "testing")]
mod on_purpose {
    use std::any::Any;
    use std::pin::Pin;
    use std::task::{Context, Poll, ready};
    use std::thread;

    use pin_project_lite::pin_project;

    use crate::clock::{Stamp, sleep_until};
    use crate::context::outer;
    use crate::opaque::opaque;
    use crate::test_scope::Fault;

    pin_project! {
        /// The body, unless the attempt has a fault.
        ///
        /// # Cancel safety
        ///
        /// Dropping it drops the body where it stands.
        #[must_use = "futures do nothing unless polled"]
        pub struct Faulty<F> {
            #[pin]
            body: F,
            fault: Option<MakesFault>,
        }
    }

    type MakesFault = Pin<Box<dyn Future<Output = Option<(Fault, Box<dyn Any>)>> + Send>>;

    /// Runs the body, unless the attempt has a fault.
    pub fn faulty<F>(body: F) -> Faulty<F> {
        let fault: MakesFault = Box::pin(made());
        let fault = Some(fault);
        Faulty { body, fault }
    }

    impl<F: Future<Output = Result<T, E>>, T, E: 'static> Future for Faulty<F> {
        type Output = Result<T, E>;

        fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<T, E>> {
            let this = self.project();
            if let Some(fault) = this.fault {
                let made = ready!(fault.as_mut().poll(context));
                *this.fault = None;
                if let Some((fault, made)) = made {
                    return Poll::Ready(Err(fault.error(made)));
                }
            }
            this.body.poll(context)
        }
    }

    opaque! { Faulty [F] [F]; }

    /// Runs the body of a function that blocks, unless the attempt has a fault.
    pub fn faulty_blocking<T, E: 'static>(
        body: impl FnOnce() -> Result<T, E>,
    ) -> impl FnOnce() -> Result<T, E> {
        || {
            let fault = fault();
            if let Some(fault) = &fault {
                thread::sleep(fault.after);
            }
            match fault.and_then(|fault| Some(fault.error(fault.made()?))) {
                Some(error) => Err(error),
                None => body(),
            }
        }
    }

    /// Begins an operation, unless the attempt has a fault.
    pub(crate) async fn faulty_run<T, E: 'static, F>(begin: impl FnOnce() -> F) -> Result<T, E>
    where
        F: Future<Output = Result<T, E>>,
    {
        faulty(async { begin().await }).await
    }

    /// Sends a request, unless the attempt has a fault, which is a response or an error.
    #[cfg(feature = "_layers")]
    pub(crate) async fn faulty_service<T: 'static, E: 'static, F>(
        send: impl FnOnce() -> F,
    ) -> Result<T, E>
    where
        F: Future<Output = Result<T, E>>,
    {
        if let Some((fault, made)) = made().await {
            return made
                .downcast()
                .map(|response| *response)
                .map_err(|made| fault.error(made));
        }
        send().await
    }

    /// What the fault of the attempt that is polled ends it with, after the time that it takes.
    async fn made() -> Option<(Fault, Box<dyn Any>)> {
        let fault = fault()?;
        if !fault.after.is_zero() {
            sleep_until(Stamp::now().plus(fault.after).instant()).await;
        }
        let made = fault.made()?;
        Some((fault, made))
    }

    fn fault() -> Option<Fault> {
        outer(|frame| frame.rest.get()?.scope.as_ref()?.fault(frame.present()))?
    }
}
