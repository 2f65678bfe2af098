//! Faults on purpose: what an attempt in a test scope does in place of its body.

use std::any::{Any, type_name};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::{CallInScope, TestScope, is_named};
use crate::rng;

/// What attempts of a function do in a [`Scope`](crate::testing::Scope), in place of their body.
///
/// The call treats such an attempt as any other: rules, hints, limits, the budget, hooks, events and outer calls see no difference.
///
/// # Examples
///
/// ```
/// # use reattempt_runtime as reattempt;
/// use std::io;
///
/// use reattempt::FAST_IO;
/// use reattempt::testing::{Fault, Scope};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// let down = Fault::ends_with(|| io::Error::from(io::ErrorKind::ConnectionReset)).first(2);
/// let price = FAST_IO.run(async || Ok::<_, io::Error>(12)).with_name("price");
/// let (price, log) = Scope::new().with_fault("price", down).run(price).await;
///
/// assert_eq!(price.unwrap(), 12);
/// assert_eq!(log.calls()[0].report().attempts(), 3);
/// # }
/// ```
#[derive(Clone)]
#[must_use = "a fault does nothing outside of a scope"]
pub struct Fault {
    made: Option<Made>,
    type_name: &'static str,
    pub(crate) after: Duration,
    left: u32,
    share: f64,
}

type Made = Arc<dyn Fn() -> Box<dyn Any> + Send + Sync>;

impl Fault {
    /// Ends an attempt with this error, and does not run its body. The error has the type that the function returns; in a layer, that
    /// of the service, or of its response.
    pub fn ends_with<E: 'static>(make: impl Fn() -> E + Send + Sync + 'static) -> Self {
        Self {
            made: Some(Arc::new(move || Box::new(make()))),
            type_name: type_name::<E>(),
            ..Self::slow(Duration::ZERO)
        }
    }

    /// Lets this time pass before the body of an attempt runs. If a limit cuts the attempt before, the body does not run.
    pub const fn slow(time: Duration) -> Self {
        Self {
            made: None,
            type_name: "",
            after: time,
            left: u32::MAX,
            share: 1.0,
        }
    }

    /// Sets how long the attempt takes before it ends with the error. Default: zero.
    pub const fn after(mut self, time: Duration) -> Self {
        self.after = time;
        self
    }

    /// Sets how many attempts in the scope have the fault, which later ones have not. Default: all.
    pub const fn first(mut self, attempts: u32) -> Self {
        self.left = attempts;
        self
    }

    /// Sets the share of the attempts that have the fault, in `[0, 1]`. The seed of the scope draws them. Default: 1.
    pub const fn share(mut self, share: f64) -> Self {
        self.share = share;
        self
    }

    /// What the attempt ends with, or `None` if its body runs.
    pub(crate) fn made(&self) -> Option<Box<dyn Any>> {
        Some(self.made.as_ref()?())
    }

    /// Turns it into the error of the function.
    ///
    /// # Panics
    ///
    /// - If it has another type.
    pub(crate) fn error<E: 'static>(&self, made: Box<dyn Any>) -> E {
        *made.downcast().unwrap_or_else(|_| {
            let (has, expected) = (self.type_name, type_name::<E>());
            panic!("a fault ends with a `{has}`, but the error there is a `{expected}`")
        })
    }
}

/// A fault of a scope: for the functions with this name. Whether an attempt of such a function asked for it.
#[derive(Debug)]
pub(crate) struct FaultOf {
    pub(crate) name: String,
    pub(crate) fault: Fault,
    pub(crate) asked: bool,
}

impl CallInScope {
    /// The fault of this attempt, if it has one: the first that is not used up.
    pub(crate) fn fault(&self, attempt: u32) -> Option<Fault> {
        const ONE: Duration = Duration::from_nanos(999_999_999);
        let has = |of: &mut FaultOf| {
            let call = (&of.name, self.scope.seed, self.function, self.ordinal);
            let drawn = rng::draw(rng::seed_of((call, attempt)), (Duration::ZERO, ONE));
            let left = of.fault.left;
            let has = left > 0 && drawn.as_secs_f64() < of.fault.share;
            of.fault.left -= u32::from(has && left < u32::MAX);
            has.then(|| of.fault.clone())
        };
        let mut state = self.scope.state();
        let faults = state.faults.iter_mut();
        let named = faults.filter(|of| is_named(self.function, &of.name));
        named.fold(None, |found, of| {
            of.asked = true;
            found.or_else(|| has(of))
        })
    }
}

impl TestScope {
    /// Looks for faults that no attempt asked for, when the scope ends.
    ///
    /// # Panics
    ///
    /// - If there is one: its name is wrong, or its function cannot have faults.
    pub(crate) fn expect_faults(&self) {
        let state = self.state();
        let Some(of) = state.faults.iter().find(|of| !of.asked) else {
            return;
        };
        let name = of.name.clone();
        let mut called: Vec<_> = state.began.keys().copied().collect();
        drop(state);
        called.sort_unstable();
        let function = called.iter().find(|function| is_named(function, &name));
        assert!(
            function.is_none(),
            "no attempt of `{name}` could have its fault: there was none, or the error of the function may borrow, is a type parameter, or is not written in a closure of `run!`"
        );
        panic!("the scope has a fault for `{name}`, which was not called; called were {called:?}");
    }
}

impl fmt::Debug for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fault")
            .field("ends_with", &self.type_name)
            .finish_non_exhaustive()
    }
}
