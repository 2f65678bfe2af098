//! Two attempts of one call side by side: the first one, and the hedge.
//!
//! The frame has what belongs to the attempt that is polled, or that ended last: the *present* one. What belongs to the other
//! is here. So the frame of a call that does not hedge is as small as before.

use std::sync::Arc;
use std::time::Duration;

use super::frame::{Frame, Leeway, Noted, Notes, Phase, Previous, Refusal};
use super::open_commits::OpenCommits;
use crate::report::Hedge;
#[cfg(feature = "tracing")]
use crate::trace::SpanBeside;

/// What a call knows of its hedge.
#[derive(Debug)]
pub(crate) struct Hedging {
    result: Hedge,
    /// Whether the present attempt is the hedge.
    present_is_hedge: bool,
    /// What belongs to the other attempt, while that runs.
    other: Option<OfAttempt>,
    /// What calls inside the attempts that follow may do.
    inside: Leeway,
    /// The failure that was set aside, and the delay that its server asked for.
    aside: Option<(Previous, Option<Duration>)>,
    /// The retry that a call inside the present attempt was refused, in the poll in which this ended.
    refused: Option<Refusal>,
}

/// What belongs to one attempt alone.
#[derive(Debug)]
struct OfAttempt {
    until: u64,
    again: bool,
    inside: Leeway,
    called: u8,
    open_commits: Option<Arc<OpenCommits>>,
    #[cfg(feature = "tracing")]
    span: SpanBeside,
}

/// Which of two attempts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Which {
    First,
    Hedge,
}

impl Frame {
    /// Records that the call wanted to hedge and may not.
    pub(crate) fn refuse_hedge(&self) {
        self.cold().noted().hedging = Some(Box::new(Hedging::new(Hedge::Refused, self)));
    }

    /// Makes the hedge the present attempt, beside the first one. It is cut at `until`.
    pub(crate) fn begin_hedge(&self, until: u64) {
        let mut hedging = Hedging::new(Hedge::Lost, self);
        let hedge = OfAttempt {
            until,
            again: true,
            inside: Leeway::Nothing,
            called: 0,
            open_commits: None,
            #[cfg(feature = "tracing")]
            span: SpanBeside::default(),
        };
        let mut noted = self.cold().noted();
        hedging.other = Some(self.replace_present(&mut noted, hedge));
        hedging.present_is_hedge = true;
        noted.hedging = Some(Box::new(hedging));
        drop(noted);
        self.number.set(2);
    }

    /// Makes one of the attempts that run the present one. `both` is whether the other runs too.
    pub(crate) fn turn_to(&self, which: Which, both: bool) {
        self.phase.set(Phase::Attempt);
        let Some(cold) = self.if_cold() else { return };
        let mut noted = cold.noted();
        let Some(mut hedging) = noted.hedging.take() else {
            return;
        };
        if hedging.present_is_hedge != (which == Which::Hedge) {
            if let Some(other) = hedging.other.take() {
                let earlier = self.replace_present(&mut noted, other);
                hedging.other = Some(earlier).filter(|_| both);
                hedging.present_is_hedge = which == Which::Hedge;
            }
        }
        noted.hedging = Some(hedging);
    }

    fn replace_present(&self, noted: &mut Noted, with: OfAttempt) -> OfAttempt {
        OfAttempt {
            until: self.until.replace(with.until),
            again: {
                let again = self.has(Notes::AGAIN);
                self.note(Notes::AGAIN, with.again);
                again
            },
            inside: self.inside.replace(with.inside),
            called: self.called.replace(with.called),
            open_commits: std::mem::replace(&mut noted.open_commits, with.open_commits),
            #[cfg(feature = "tracing")]
            span: with.span.replace(noted.spans.as_mut()),
        }
    }

    /// Runs one poll of an attempt, in which its number is that of the attempt. Outside of a poll, it is the number of the
    /// attempts that began.
    pub(crate) fn lend_to<T>(&self, which: Which, poll: impl FnOnce() -> T) -> T {
        struct Restored<'f>(&'f Frame, u32);
        impl Drop for Restored<'_> {
            fn drop(&mut self) {
                self.0.number.set(self.1);
            }
        }
        let begun = Restored(self, self.number.get());
        if begun.1 == 2 && which == Which::First {
            self.number.set(1);
        }
        self.lend(poll)
    }

    /// Records that the present attempt, one of two, ends. The refusal of its poll counts only if it is the last.
    pub(crate) fn one_of_two_ends(&self) {
        let refused = self.refusal();
        if self
            .with_hedging(|hedging| hedging.refused = refused)
            .is_some()
        {
            self.refusal.set(Some(Refusal::OneOfTwo));
        }
    }

    /// Whether an attempt runs beside the present one, or beside the one that ended last.
    pub(crate) fn is_beside(&self) -> bool {
        self.with_hedging(|hedging| hedging.other.is_some()) == Some(true)
    }

    /// Makes the other attempt the present one if it runs and a commit is open in it.
    pub(crate) fn turn_to_open_commit(&self) {
        let other = self.with_hedging(|hedging| {
            let commits = hedging.other.as_ref()?.open_commits.as_ref()?;
            let other = if hedging.present_is_hedge {
                Which::First
            } else {
                Which::Hedge
            };
            commits.is_present().then_some(other)
        });
        if let Some(other) = other.flatten() {
            self.turn_to(other, true);
        }
    }

    /// Sets the failure of the present attempt aside, because the other attempt may succeed.
    pub(crate) fn set_aside(&self, hint: Option<Duration>) {
        let previous = self.previous.get();
        self.refusal.set(None);
        self.with_hedging(|hedging| hedging.aside = previous.map(|previous| (previous, hint)));
    }

    /// Takes the failure that was set aside into that of the present attempt: the dearer one is the last one, and the larger
    /// hint counts. What follows is an ordinary attempt.
    pub(crate) fn join_aside(&self, hint: Option<Duration>) -> Option<Duration> {
        let (aside, refused) = self
            .with_hedging(|hedging| {
                hedging.present_is_hedge = false;
                self.inside.set(hedging.inside);
                (hedging.aside.take(), hedging.refused.take())
            })
            .unwrap_or_default();
        self.refusal.set(refused);
        let Some((previous, other_hint)) = aside else {
            return hint;
        };
        let last = self.previous.get();
        let dearer = last.filter(|last| last.charge() >= previous.charge());
        self.previous.set(dearer.or(Some(previous)));
        hint.max(other_hint)
    }

    /// Loses the attempt beside the present one, because the call ends. Returns whether there was one.
    pub(crate) fn lose_other(&self) -> bool {
        if self.refusal.get() == Some(Refusal::OneOfTwo) {
            let refused = self.with_hedging(|hedging| hedging.refused);
            self.refusal.set(refused.flatten());
        }
        // Dropped without the lock, because its span calls a subscriber.
        let lost = self.with_hedging(|hedging| hedging.other.take());
        lost.flatten().is_some()
    }

    /// What became of the hedge, if the call wanted one. `succeeded` is whether the call did.
    pub(crate) fn hedge(&self, succeeded: bool) -> Option<Hedge> {
        self.with_hedging(|hedging| match hedging.result {
            Hedge::Lost if succeeded && hedging.present_is_hedge => Hedge::Won,
            result => result,
        })
    }

    /// Whether the present attempt is the hedge.
    pub(crate) fn is_hedge(&self) -> bool {
        let is_hedge = |hedging: &mut Hedging| hedging.present_is_hedge;
        self.with_hedging(is_hedge) == Some(true)
    }

    fn with_hedging<T>(&self, f: impl FnOnce(&mut Hedging) -> T) -> Option<T> {
        self.if_cold()?.noted().hedging.as_deref_mut().map(f)
    }
}

impl Hedging {
    fn new(result: Hedge, frame: &Frame) -> Self {
        Self {
            result,
            present_is_hedge: false,
            other: None,
            inside: frame.inside.get(),
            aside: None,
            refused: None,
        }
    }
}
