//! What was cut, or whose answer was lost, may have taken effect, so its attempt must not be repeated: a `COMMIT`, and a request that
//! may not run twice.
//!
//! The open effects of an attempt are those that began in it and are not known to have ended. Each is noted in all outer attempts when
//! it begins, because nothing may poll the calls between them before a limit of an outer call cuts its attempt: they may run in tasks,
//! or in a `FuturesUnordered`, which polls only what was woken.

#[cfg(any(feature = "_transactions", feature = "http-1", test))]
use std::sync::Arc;

#[cfg(any(feature = "_transactions", feature = "http-1", test))]
use super::frame::Frame;
#[cfg(any(feature = "_transactions", feature = "http-1", test))]
use super::rest::OpenEffect;
#[cfg(any(feature = "_transactions", feature = "http-1", test))]
use crate::stopped::Effect;

/// How an effect ended.
#[cfg(any(feature = "_transactions", feature = "http-1", test))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// It is known whether it took effect. The attempt may be repeated.
    Known,
    /// It took effect, and what follows is a part of it, as the body of a response.
    #[cfg(feature = "http-1")]
    Answered,
    /// It may have taken effect.
    InDoubt,
}

/// Awaits what may have taken effect as soon as it has begun.
///
/// If this future is dropped before its end, or `ends` leaves that in doubt, the attempt is not repeated, whatever fails. This
/// also holds for the attempts of the outer calls. It also holds after an answer, until the attempt records progress.
#[cfg(any(feature = "_transactions", feature = "http-1", test))]
pub(crate) async fn open<T>(
    effect: Effect,
    future: impl Future<Output = T>,
    ends: impl FnOnce(&T) -> Ended,
) -> T {
    use crate::stopped::Outcome;
    use crate::trace::{Lines, TEN_IN_A_SECOND, in_doubt, limited};

    // If the future is dropped before its end, the effect stays open.
    let (open, in_call) = begin(effect);
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
#[cfg(any(feature = "_transactions", feature = "http-1", test))]
pub(crate) fn begin(effect: Effect) -> (Arc<OpenEffect>, bool) {
    let open = Arc::new(OpenEffect::new(effect));
    let in_call = super::outer(|frame| frame.open(&open));
    (open, in_call == Some(true))
}

#[cfg(any(feature = "_transactions", feature = "http-1", test))]
impl OpenEffect {
    pub(crate) fn end(&self, ended: Ended) {
        match ended {
            Ended::Known => drop(self.ended.raise()),
            #[cfg(feature = "http-1")]
            Ended::Answered => drop(self.answered.raise()),
            Ended::InDoubt => (),
        }
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

#[cfg(any(feature = "_transactions", feature = "http-1", test))]
impl Frame {
    /// Adds what opens to the effects of the present attempt, or of its `before_retry`, and to those of the outer attempts. Returns
    /// whether there is an attempt.
    fn open(&self, effect: &Arc<OpenEffect>) -> bool {
        let in_call = self.is_attempt() || self.is_call();
        if in_call {
            self.within_rest().open(effect);
        }
        in_call
    }
}

#[cfg(test)]
mod tests;
