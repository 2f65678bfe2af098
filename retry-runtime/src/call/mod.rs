//! The loop of one call: attempt, ruling, wait. No other module uses timers.
//!
//! Generated code holds a [`Call`] and loops:
//!
//! ```text
//! loop {
//!     let ended = call.attempt(async { BODY }).await;                       // attempt.rs
//!     let at = match call.settle(ended, |error| …) {                     // settle.rs
//!         Continue(at) => at,
//!         Break(result) => return result,
//!     };
//!     at.await;                                                          // timers.rs
//! }
//! ```
//!
//! To follow a call, read these files in this order. `settle.rs` is generic over the types of the function. Behind it,
//! `after.rs` acts on what the pure `decide.rs` decides, and ends the call. If the attribute names a budget, the call asks before each attempt
//! whether that is in a pause (`pause.rs`). If the attribute has `hedge`, `race.rs` makes the attempts. An inner call
//! asks its outer call, and reports to it (`inner.rs`). Observers are notified in `observers.rs`.
//!
//! Most code is not generic, so a program has it once, and not once for each annotated function.

#![expect(
    clippy::inline_always,
    reason = "inlined, the call is made where it stays, and not copied there"
)]

mod after;
mod attempt;
mod blocking;
mod cancel;
mod decide;
mod ending;
mod ends;
mod events;
mod inner;
mod last_error;
mod observers;
mod on_end;
mod pause;
mod permit;
mod race;
mod settle;
mod timers;

pub use self::attempt::{Cut, Limits, Never, Preparing};
pub use self::blocking::{CanBlock, unless_blocking};
pub use self::cancel::{Cancels, Signal, unless, unless_begun};
pub use self::ends::{AnyEnding, Ending, NoStopped, RunsTwice, ends, ends_of_both};
pub use self::last_error::{CallResult, LastError, Stops};
pub use self::on_end::OnEnd;
pub use self::settle::{AsksDelay, Judgement, Said};
pub use self::timers::NextAttemptAt;

use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use crate::budget::{BudgetCell, BudgetConfig, BudgetRef};
use crate::clock::Stamp;
use crate::context::{Frame, Rest, Times};
use crate::listen::{is_listening, test_scope_around};
use crate::opaque::opaque;
use crate::site::{Site, SiteSettings};
use crate::switch::DISABLED;
use crate::test_scope::CallInScope;
use crate::{metrics, trace};

/// One call of an annotated function.
///
/// `C` is what can cut its attempts: [`Cut`], or [`Never`] without limits. `K` is what it keeps of its last error.
#[must_use]
pub struct Call<'p, C, K> {
    pub(crate) state: State<'p>,
    /// What is kept of the last error that an attempt returned.
    last: Option<K>,
    cuts: PhantomData<fn() -> C>,
}

impl<'p, C: Limits, K> Call<'p, C, K> {
    /// Begins a call with these settings.
    #[inline(always)]
    pub(crate) fn with(settings: &'p SiteSettings<'p>) -> Self {
        let recorded = metrics::is_recording();
        let observed = recorded || settings.listens || is_listening();
        // Without limits, the time matters only to those who ask how long the call took.
        let started = (C::LIMITED || observed || trace::may_be_heard()).then(Stamp::now);
        let deadline = started.map_or(Stamp::NEVER, |now| now.after(settings.policy.deadline()));
        let rest = observed.then(|| of_test_scope(settings)).flatten();
        let mut state = State {
            frame: Frame::new(Times::new(started, deadline), rest),
            settings,
            ran: false,
            observed,
            waits: recorded.then_some(false),
            has_last: false,
            follows_refusal: false,
            last_polls: 0,
            said: Said::Nothing,
            was_cut: false,
        };
        let own = state.own_attempts();
        state.frame.allow(own);
        Self {
            state,
            last: None,
            cuts: PhantomData,
        }
    }
}

// The receiver only says whether there are limits. Generated code writes `Site::begin(&SITE, &SITE)` for a function with limits,
// and `SiteSettings::begin(&SITE, &SITE)` for one without. If only rustc can read the policy, it writes `SITE.begin(&settings)`.
// rustc then finds the method on `Site<true>`, or behind another site. If such a policy has a wrong type, the parameter of its
// site is unknown: rustc takes the first method, and reports only the policy. If each kind of site had methods of its own,
// rustc would report that it cannot choose.

impl Site<true> {
    /// Begins a call with these settings: the function's own, or those made for the call.
    #[inline(always)]
    pub fn begin<'p, K>(&self, settings: &'p SiteSettings<'p>) -> Call<'p, Cut, K> {
        Call::with(settings)
    }
}

impl SiteSettings<'static> {
    /// Begins a call with these settings: the function's own, or those made for the call.
    #[inline(always)]
    pub fn begin<'p, K>(&self, settings: &'p SiteSettings<'p>) -> Call<'p, Never, K> {
        Call::with(settings)
    }
}

/// A call, without what is generic.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(crate) struct State<'p> {
    /// What the call shares with the code inside its attempts.
    pub(crate) frame: Frame,
    pub(super) settings: &'p SiteSettings<'p>,
    /// An attempt ended, and it is not proven that it had no effect.
    ran: bool,
    /// A hook, a recorder or a listener observes the call.
    observed: bool,
    /// Whether the recorder counts the call as one that is between two attempts, if one was found when the call began.
    waits: Option<bool>,
    /// The last error is that of the last attempt, which neither was cut nor gave an `Ok` that means failure.
    has_last: bool,
    /// How often the body of the present attempt was polled after its limit.
    last_polls: u8,
    /// What `when_ok`, `until` or `unless` says about the attempt that ended.
    said: Said,
    /// The call began after the refusal of another one, in the present poll of the outer call.
    follows_refusal: bool,
    /// The delay before the present attempt was cut to the deadline, so the attempt is the last.
    was_cut: bool,
}

/// The environment of a call: its budget, the budget of its hedges, the switch, the most attempts, and its time.
/// It is that of the process, or that of the test scope in which the call begins.
impl State<'_> {
    /// Returns how long the call has taken, or `None` if its time has not started.
    pub(super) fn elapsed(&self) -> Option<Duration> {
        let started = self.frame.times.started?;
        Some(Stamp::now().since(started))
    }

    /// Whether something is noted of the call: for those who observe it, or because it needed what most calls never need.
    #[inline]
    fn is_noted(&self) -> bool {
        self.observed || self.frame.rest.get().is_some()
    }

    /// What its test scope gives to the call, if it began in one.
    #[inline]
    fn scope(&self) -> Option<&CallInScope> {
        // One that is in a scope is observed. No program without `testing` links what scopes do.
        let observed = cfg!(feature = "testing") && self.observed;
        let rest = observed.then(|| self.frame.rest.get())??;
        rest.scope.as_ref()
    }

    /// The attempts that the call may make by itself.
    #[inline]
    fn own_attempts(&self) -> u32 {
        let own = self.settings.policy.most_attempts();
        let most = self.scope().and_then(|own| own.scope.attempts);
        most.map_or(own, |most| most.min(own))
    }

    /// Whether retries are on.
    pub(super) fn is_enabled(&self) -> bool {
        let own = self.scope().map(|own| &own.scope.disabled);
        own.unwrap_or(&DISABLED).is_down()
    }

    /// The budget, or `None` for none.
    #[inline]
    pub(super) fn budget(&self) -> Option<BudgetRef<'_>> {
        let budget = self.settings.budget()?;
        let own = self.scope().and_then(|own| own.cell.as_deref());
        let cell = own.unwrap_or(budget.cell);
        Some(BudgetRef { cell, ..budget })
    }

    /// The budget of the function's hedges.
    pub(super) fn hedges(&self) -> BudgetRef<'_> {
        let own = self.scope().map(|own| &*own.hedges);
        hedges_of(own.unwrap_or(&self.settings.shared.hedges))
    }
}

/// What the test scope around gives to a call that begins now, if there is one.
#[cold]
fn of_test_scope(settings: &SiteSettings<'_>) -> Option<Arc<Rest>> {
    let (budget, hedges) = (settings.budget(), hedges_of(&settings.shared.hedges));
    let scope = test_scope_around()?;
    Some(Rest::of(scope.enter(settings.name, budget, hedges)))
}

fn hedges_of(cell: &BudgetCell) -> BudgetRef<'_> {
    let numbers = &BudgetConfig::HEDGES;
    BudgetRef { cell, numbers }
}

opaque! { Call [C, K] ['_, C, K]; }
