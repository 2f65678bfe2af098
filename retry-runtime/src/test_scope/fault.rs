//! Faults on purpose: what an attempt in a test scope does in place of its body.

use std::any::{Any, type_name};
use std::sync::Arc;
use std::time::Duration;

use super::{CallInScope, TestScope, is_named};
use crate::getters::setters;
use crate::opaque::opaque;
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
pub struct Fault {
    /// A `Makes<X>`, and the name of its `X`.
    ends_with: Option<(Arc<dyn Any + Send + Sync>, &'static str)>,
    pub(crate) time: Duration,
    left: u32,
    share: f64,
    /// The name of the functions that have it.
    pub(crate) name: String,
    /// An attempt of such a function asked for it.
    asked: bool,
}

type Makes<X> = Box<dyn Fn() -> X + Send + Sync>;

impl Fault {
    /// Ends an attempt with this error, and does not run its body. The error has the type that the function returns; in a layer, that
    /// of the service, or of its response.
    #[must_use]
    pub fn ends_with<E: 'static>(make: impl Fn() -> E + Send + Sync + 'static) -> Self {
        let make: Makes<E> = Box::new(make);
        Self {
            ends_with: Some((Arc::new(make), type_name::<E>())),
            ..Self::slow(Duration::ZERO)
        }
    }

    /// Lets this time pass before the body of an attempt runs. If a limit cuts the attempt before, the body does not run.
    #[must_use]
    pub const fn slow(time: Duration) -> Self {
        Self {
            ends_with: None,
            time,
            left: u32::MAX,
            share: 1.0,
            name: String::new(),
            asked: false,
        }
    }

    setters! {
        /// Sets how long the attempt takes before it ends with the error. Default: zero.
        after(time: Duration) => time = time;

        /// Sets how many attempts in the scope have the fault, which later ones have not. Default: all.
        first(attempts: u32) => left = attempts;

        /// Sets the share of the attempts that have the fault, in `[0, 1]`. The seed of the scope draws them. Default: 1.
        share(share: f64) => share = share;
    }

    /// Whether the body of the attempt does not run.
    pub(crate) fn ends(&self) -> bool {
        self.ends_with.is_some()
    }

    /// What the attempt ends with, if it has this type.
    pub(crate) fn made<X: 'static>(&self) -> Option<X> {
        let (make, _) = self.ends_with.as_ref()?;
        Some(make.downcast_ref::<Makes<X>>()?())
    }

    /// The error that the attempt ends with.
    ///
    /// # Panics
    ///
    /// - If it has another type.
    pub(crate) fn error<E: 'static>(&self) -> E {
        self.made().unwrap_or_else(|| {
            let has = self.ends_with.as_ref().map_or("", |(_, has)| has);
            let expected = type_name::<E>();
            panic!("a fault ends with a `{has}`, but the error there is a `{expected}`")
        })
    }
}

impl CallInScope {
    /// The fault of this attempt, if it has one: the first that is not used up.
    pub(crate) fn fault(&self, attempt: u32) -> Option<Box<Fault>> {
        const ALL: (Duration, Duration) = (Duration::ZERO, Duration::from_nanos(999_999_999));
        let (mut found, faults) = (None, &mut self.scope.state().faults);
        for (index, fault) in faults.iter_mut().enumerate() {
            if !is_named(self.function, &fault.name) {
                continue;
            }
            fault.asked = true;
            let place = (index, self.scope.seed, self.function, self.ordinal, attempt);
            let drawn = rng::draw(rng::seed_of(place), ALL).as_secs_f64();
            if found.is_none() && fault.left > 0 && drawn < fault.share {
                fault.left -= 1;
                found = Some(Box::new(fault.clone()));
            }
        }
        found
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
        let Some(Fault { name, .. }) = state.faults.iter().find(|fault| !fault.asked) else {
            return;
        };
        let mut called: Vec<_> = state.began.keys().collect();
        called.sort_unstable();
        assert!(
            !called.iter().any(|function| is_named(function, name)),
            "no attempt of `{name}` could have its fault: there was none, or the error of the function may borrow, is a type parameter, or is not written in a closure of `run!`"
        );
        panic!("the scope has a fault for `{name}`, which was not called; called were {called:?}");
    }
}

opaque! { Fault [] []; }
