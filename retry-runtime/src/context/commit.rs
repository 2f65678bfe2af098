//! What was cut, or whose answer was lost, may have taken effect, so its attempt must not be repeated: a `COMMIT`, a request that
//! may not run twice, and an inner call that may not (`call/inner.rs`).
//!
//! The open effects of an attempt are those that began in it and are not known to have ended. Each is noted in all outer attempts when
//! it begins, because nothing may poll the calls between them before a limit of an outer call cuts its attempt: they may run in tasks,
//! or in a `FuturesUnordered`, which polls only what was woken.

use std::future::poll_fn;
use std::sync::{Arc, PoisonError};
use std::task::Poll;

use super::frame::Frame;
use super::rest::OpenEffect;
use crate::stopped::{Effect, Outcome};
use crate::trace::{Lines, TEN_IN_A_SECOND, in_doubt, limited};

/// How an effect ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// It is known whether it took effect. The attempt may be repeated.
    Known,
    /// It took effect, and what follows is a part of it, as the body of a response.
    #[cfg(any(feature = "http-1", test))]
    Answered,
    /// It may have taken effect.
    InDoubt,
}

/// Awaits what may have taken effect as soon as it has begun.
///
/// If this future is dropped before its end, or `ends` leaves that in doubt, the attempt is not repeated, whatever fails. This
/// also holds for the attempts of the outer calls. It also holds after an answer, until the attempt records progress. If the other
/// body of a hedged attempt has begun one, this one waits until that is known to have had no effect.
pub(crate) async fn open<T>(
    effect: Effect,
    future: impl Future<Output = T>,
    ends: impl FnOnce(&T) -> Ended,
) -> T {
    // If the future is dropped before its end, the effect stays open.
    let (open, in_call) = begin(effect).await;
    let output = future.await;
    match ends(&output) {
        // The error of a request says it.
        Ended::InDoubt if !in_call && effect == Effect::Commit => {
            // No call ends with it.
            static LINES: Lines = Lines::new();
            let outcome = Outcome::InDoubt.as_str();
            limited!(
                WARN,
                LINES,
                TEN_IN_A_SECOND,
                in_doubt(effect),
                outcome = outcome
            );
        }
        ended => open.end(ended),
    }
    output
}

/// Begins such an effect. Returns whether it is in an attempt too.
async fn begin(effect: Effect) -> (Arc<OpenEffect>, bool) {
    begin_by(effect, Frame::open).await
}

/// The same in the outer attempts alone, for a call whose attempt this is, and that settles itself what it may repeat.
#[cfg(feature = "_layers")]
pub(crate) async fn begin_outside(effect: Effect) -> Arc<OpenEffect> {
    let opens = |frame: &Frame, open: &_| frame.open_outside(open).map_or(Ok(false), Err);
    begin_by(effect, opens).await.0
}

async fn begin_by(
    effect: Effect,
    opens: impl Fn(&Frame, &Arc<OpenEffect>) -> Result<bool, Arc<OpenEffect>>,
) -> (Arc<OpenEffect>, bool) {
    loop {
        let open = Arc::new(OpenEffect::new(effect));
        match super::outer(|frame| opens(frame, &open)) {
            Some(Err(other)) => {
                // Outer attempts may know this one already.
                open.end(Ended::Known);
                other.wait().await;
            }
            opened => return (open, matches!(opened, Some(Ok(true)))),
        }
    }
}

impl OpenEffect {
    pub(crate) fn end(&self, ended: Ended) {
        match ended {
            Ended::Known => self.end_known(),
            #[cfg(any(feature = "http-1", test))]
            Ended::Answered => drop(self.answered.raise()),
            Ended::InDoubt => (),
        }
    }

    /// Waits until it is known how it ended. If that stays in doubt, the attempt ends first.
    async fn wait(&self) {
        poll_fn(|context| {
            let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
            if !self.ended.is_down() {
                return Poll::Ready(());
            }
            if !waiting.iter().any(|waker| waker.will_wake(context.waker())) {
                waiting.push(context.waker().clone());
            }
            Poll::Pending
        })
        .await;
    }
}

/// Awaits a `COMMIT`.
#[cfg(any(feature = "_transactions", test))]
pub(crate) async fn open_commit<T, E: crate::classify::Lost>(
    commit: impl Future<Output = Result<T, E>>,
) -> Result<T, E> {
    let ends = |committed: &Result<_, E>| match committed {
        Err(error) if error.is_in_doubt() => Ended::InDoubt,
        _ => Ended::Known,
    };
    open(Effect::Commit, commit, ends).await
}

impl Frame {
    /// Adds what opens to the effects of the present attempt, or of its `before_retry`, and to those of the outer attempts. Returns
    /// whether there is an attempt, or what must end before.
    fn open(&self, effect: &Arc<OpenEffect>) -> Result<bool, Arc<OpenEffect>> {
        let in_call = self.is_attempt() || self.is_call();
        let other = in_call.then(|| self.within_rest().open(effect, self.which()));
        other.flatten().map_or(Ok(in_call), Err)
    }
}

#[cfg(test)]
mod tests;
