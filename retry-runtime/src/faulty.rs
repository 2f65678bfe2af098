//! What an attempt does before its body: in a test scope, a fault may end it. Without the feature `testing`, it is no code.

/// Gives the body.
#[cfg(not(feature = "testing"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __faulty {
    ($fault:ident() $(.$await:tt)?) => {};
    ($fault:ident() $(.$await:tt)?, $body:expr) => {
        $body
    };
}

#[cfg(feature = "testing")]
mod on_purpose {
    use std::thread;

    use crate::clock::{Stamp, sleep_until};
    use crate::context::outer;
    use crate::test_scope::Fault;

    /// Ends the attempt if it has a fault, or gives the body.
    #[doc(hidden)]
    #[macro_export]
    macro_rules! __faulty {
        ($fault:ident() $(.$await:tt)?) => {
            if let ::core::option::Option::Some(ended) = $crate::faulty::$fault()$(.$await)? {
                return ended;
            }
        };
        ($fault:ident() $(.$await:tt)?, $body:expr) => {
            if let Some(ended) = $crate::faulty::$fault()$(.$await)? {
                ended
            } else {
                $body
            }
        };
    }

    /// What ends an attempt in place of its body.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future has no effect.
    pub async fn fault<T, E: 'static>() -> Option<Result<T, E>> {
        Some(Err(ending().await?.error()))
    }

    /// What ends an attempt that blocks, in place of its body.
    #[must_use]
    pub fn fault_blocking<T, E: 'static>() -> Option<Result<T, E>> {
        let fault = of_attempt()?;
        thread::sleep(fault.time);
        fault.ends().then(|| Err(fault.error()))
    }

    /// What ends an attempt in place of a service: a response or an error.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future has no effect.
    #[cfg(feature = "_layers")]
    pub async fn fault_of_service<T: 'static, E: 'static>() -> Option<Result<T, E>> {
        let fault = ending().await?;
        Some(fault.made().map_or_else(|| Err(fault.error()), Ok))
    }

    /// The fault that ends the attempt, after the time that it takes.
    async fn ending() -> Option<Box<Fault>> {
        let fault = of_attempt()?;
        if !fault.time.is_zero() {
            Box::pin(sleep_until(Stamp::now().plus(fault.time).instant())).await;
        }
        fault.ends().then_some(fault)
    }

    /// The fault of the attempt that is polled.
    fn of_attempt() -> Option<Box<Fault>> {
        outer(|frame| frame.rest.get()?.scope.as_ref()?.fault(frame.present()))?
    }
}

#[cfg(feature = "testing")]
pub use self::on_purpose::*;
pub use crate::__faulty as faulty;
