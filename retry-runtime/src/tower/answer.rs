//! What an attempt of a layer sends, what it gives, and what follows from that. Pure.

use super::failed::FailedAttempt;
use crate::adapters::known;
use crate::call::{Cut, Limits};
use crate::classify::{Assessment, Ruling, Verdict};
use crate::context::Ended;
use crate::stopped::Stopped;

/// The request of the present attempt, until the service gets it, and the copy for the next attempt.
pub(super) struct Sending<N> {
    unsent: Option<N>,
    copy: Option<N>,
}

impl<N> Sending<N> {
    /// A request with its copy, or without one, for a stream.
    pub(super) fn of((request, copy): (N, Option<N>)) -> Self {
        let unsent = Some(request);
        Self { unsent, copy }
    }

    pub(super) fn is_stream(&self) -> bool {
        self.copy.is_none()
    }

    pub(super) fn is_sent(&self) -> bool {
        self.unsent.is_none()
    }

    /// Takes the request, for the service.
    pub(super) fn send(&mut self) -> N {
        self.unsent.take().expect("an attempt sends one request")
    }

    /// The copy for the next attempt, if there is one.
    pub(super) fn copy(&self) -> Option<&N> {
        self.copy.as_ref()
    }

    /// Takes the request for the next attempt.
    pub(super) fn again(self) -> N {
        self.copy.expect("a request without a copy has one attempt")
    }
}

/// What an attempt gives, before any rule.
pub(super) enum Received<A, C> {
    /// A response, with the failure that it stands for.
    Response(A, Option<FailedAttempt>),
    /// An error of the service.
    Error(FailedAttempt),
    /// An error that says that the time of the attempt is over, by this limit.
    TimedOut(FailedAttempt, Cut),
    /// Nothing was sent before the timeout, because the service was not ready.
    NotReady(Stopped),
    /// A limit cut it.
    Cut(C),
}

impl<A, C> Received<A, C> {
    /// What is known of a request that may not run twice. What comes after the head of a response is the caller's.
    pub(super) fn ended(&self) -> Ended {
        let failed = match self {
            Self::Response(_, None) | Self::NotReady(_) => return Ended::Known,
            Self::Response(_, Some(failed)) if failed.verdict() == Verdict::Permanent => {
                return Ended::Known;
            }
            Self::Response(_, Some(failed)) | Self::Error(failed) => failed,
            Self::TimedOut(..) | Self::Cut(_) => return Ended::InDoubt,
        };
        match failed.verdict() {
            Verdict::Refused | Verdict::Conflict => Ended::Known,
            _ if known::is_unsent(&*failed.error) => Ended::Known,
            _ => Ended::InDoubt,
        }
    }
}

/// What the call settles: a success, a failure or a cut. And the response that stands for the failure.
pub(super) type Settles<A, C> = (Result<Result<A, FailedAttempt>, C>, Option<A>);

impl<A, C: Limits> Received<A, C> {
    /// What follows from it, by the table of [`RetryLayer`](super::RetryLayer), for a request that may run twice if that is
    /// `harmless`.
    pub(super) fn settles(self, harmless: bool) -> Settles<A, C> {
        match self {
            Self::Response(response, Some(failed))
                if Ruling::by(failed.assessment, harmless).retry =>
            {
                (Ok(Err(failed)), Some(response))
            }
            Self::Response(response, _) => (Ok(Ok(response)), None),
            Self::Error(failed) => (Ok(Err(failed)), None),
            // Without limits, nothing can end the call but this error.
            Self::TimedOut(failed, cut) => (C::reached(cut).and(Ok(Err(failed))), None),
            Self::NotReady(stopped) => {
                let assessment = Assessment::new(Verdict::Refused);
                let failed = FailedAttempt {
                    assessment,
                    ..stopped.into()
                };
                (Ok(Err(failed)), None)
            }
            Self::Cut(cut) => (Err(cut), None),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::time::Duration;

    use super::*;
    use crate::call::Never;
    use crate::stopped::Outcome;

    /// An attempt that failed so.
    fn failed(verdict: Verdict) -> FailedAttempt {
        FailedAttempt {
            assessment: Assessment::new(verdict),
            ..io::Error::other("failed").into()
        }
    }

    /// What a call does next, and whether it has the response then.
    fn next<C: Limits>(answer: Received<(), C>, harmless: bool) -> (&'static str, bool) {
        let (settled, response) = answer.settles(harmless);
        let next = match settled {
            Ok(Ok(())) => "succeeds",
            Ok(Err(failed)) => match Ruling::by(failed.assessment, harmless) {
                ruling if ruling.only_without_effect().retry => "retries any request",
                ruling if ruling.retry => "retries what may run twice",
                _ => "fails",
            },
            Err(cut) => cut.into().as_str(),
        };
        (next, response.is_some())
    }

    #[test]
    fn each_answer_has_the_consequence_that_the_table_of_the_layer_says() {
        use Received::{Error, NotReady, Response, TimedOut};
        use Verdict::{Conflict, Permanent, Refused, Transient, Unknown};
        const ANY: &str = "retries any request";
        const TWICE: &str = "retries what may run twice";
        let stands_for = |verdict| Response((), Some(failed(verdict)));
        let not_ready = Stopped {
            outcome: Outcome::Timeout,
            attempts: 1,
            elapsed: Duration::ZERO,
            limit: None,
            not_ready: false,
            may_have_run: false,
            source: None,
        };
        for (answer, harmless, expected) in [
            (Response((), None), false, ("succeeds", false)),
            (stands_for(Transient), false, (TWICE, true)),
            (stands_for(Refused), false, (ANY, true)),
            (stands_for(Conflict), false, (ANY, true)),
            (stands_for(Permanent), false, ("succeeds", false)),
            (stands_for(Unknown), false, ("succeeds", false)),
            (stands_for(Unknown), true, (TWICE, true)),
            (Error(failed(Transient)), false, (TWICE, false)),
            (Error(failed(Permanent)), true, ("fails", false)),
            (Error(failed(Unknown)), false, ("fails", false)),
            (Error(failed(Unknown)), true, (TWICE, false)),
            (NotReady(not_ready), false, (ANY, false)),
            (
                TimedOut(failed(Transient), Cut::OfClient),
                false,
                ("timed out", false),
            ),
            (
                Received::Cut(Cut::Deadline),
                false,
                ("deadline reached", false),
            ),
        ] {
            assert_eq!(next::<Cut>(answer, harmless), expected);
        }
        let unlimited = TimedOut::<(), Never>(failed(Transient), Cut::OfClient);
        assert_eq!(next(unlimited, false), (TWICE, false));
    }
}
