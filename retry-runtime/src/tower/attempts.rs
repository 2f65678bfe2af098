//! The call of one request: its attempts, and the waits between them.

use std::borrow::Borrow;
use std::future::poll_fn;
use std::ops::ControlFlow::{Break, Continue};
use std::pin::pin;
use std::time::Duration;

use ::tower::Service;

use super::answer::{Received, Sending};
use super::failed::FailedAttempt;
use super::{ErrorOfLayer, HasVerdict, Requests, RetryLayer};
use crate::call::{AsksDelay, Call, Cut, Judgement, Limits, unless};
use crate::classify::{Assessment, Ruling, Verdict};
use crate::context::{Ended, begin_outside};
use crate::faulty::faulty;
use crate::lookup::{BoxedError, Kept};
use crate::policy::Policy;
use crate::stopped::{Effect, Outcome, Stopped};

/// Stands for a host that is not known. It is not empty, because to compare two empty texts takes 100 ns on some machines.
const ANY_HOST: &str = "*";

/// How long the rest of a response is read. A server that sends a short one has sent it with the head.
const REST: Duration = Duration::from_millis(50);

impl<Q, L> RetryLayer<Q, L> {
    /// The policy of a call that has at most this time left.
    fn policy_within(&self, left: Option<Duration>) -> Policy {
        let policy = (self.policy)();
        let deadline = policy.deadline().into_iter().chain(left).min();
        policy.with_optional_deadline(deadline)
    }

    /// Makes the call of one request: sends it and copies of it to clones of the service until it succeeds, or until there is a
    /// reason to stop. Each attempt waits until its clone is ready.
    ///
    /// A response that is retried is dropped before the wait. What the wait needs of it was read before.
    pub(crate) async fn call<E, N, S>(
        layer: impl Borrow<Self>,
        request: N,
        service: S,
    ) -> Result<S::Response, E::Error>
    where
        E: ErrorOfLayer<S::Error>,
        Q: Requests<N, S::Response>,
        S: Service<N, Response: 'static, Error: HasVerdict + 'static> + Clone,
    {
        let layer = layer.borrow();
        let (requests, own) = (&layer.requests, layer.requests.own());
        let policy = layer.policy_within(own.deadline(&request));
        let host = requests.host(&request);
        let budget = (layer.budget)(&policy, host.as_deref().unwrap_or(ANY_HOST));
        let mut site = layer.site.clone();
        site.policy = policy;
        site.opens_requests = true;
        if let Some(budget) = &budget {
            site = site.with_budget(budget.budget());
        }
        if !requests.is_idempotent(&request) {
            site.idempotent.get_or_insert(false);
        }
        let mut sending = Sending::of(requests.copy(request));
        let streamed = sending.is_stream();
        if streamed {
            site.policy = site.policy.with_attempts(1);
        }
        let harmless = site.idempotent == Some(true);
        let once = site.idempotent == Some(false);
        let described = |failed: FailedAttempt| failed.described(host.clone(), streamed, once);
        let for_caller = |failed: FailedAttempt, in_doubt| {
            let error = said_in_doubt(failed.error, in_doubt);
            E::Error::from_box(if E::Cut::LIMITED {
                own.for_caller(error)
            } else {
                error
            })
        };
        let mut call = Call::<E::Cut, Kept<FailedAttempt>>::with(&site);
        let mut in_doubt = false;
        loop {
            if let Err(cut) = call.pass_pause().await {
                let stopped: Result<_, FailedAttempt> = call.cut_between(cut);
                return stopped.map_err(|failed| for_caller(failed, in_doubt));
            }
            let mut service = service.clone();
            let (mut open, mut leave) = (None, None);
            let attempt = async {
                if once {
                    // No outer attempt is repeated that has sent it, unless it had no effect.
                    open = Some(begin_outside(Effect::Request).await);
                }
                poll_fn(|context| service.poll_ready(context)).await?;
                let mut request = sending.send();
                own.sends(&mut request);
                leave = own.leaves(&mut request);
                let mut response = faulty!(fault_of_service().await, service.call(request).await)?;
                let failure = requests.failure(sending.copy(), &mut response).await;
                Ok::<_, FailedAttempt>((response, failure.map(FailedAttempt::from)))
            };
            let answer = match call.attempt(attempt).await {
                Ok(Ok((response, failure))) => Received::Response(response, failure),
                Ok(Err(failed)) if own.timed_out(&failed.error) => {
                    Received::TimedOut(failed, call.state.cut_by_client())
                }
                Ok(Err(failed)) => Received::Error(failed),
                Err(cut) if !sending.is_sent() && cut.into() == Cut::Timeout => {
                    Received::NotReady(call.state.stopped(Outcome::Timeout, Cut::Timeout))
                }
                Err(cut) => Received::Cut(cut),
            };
            // It may hold a permit.
            drop(service);
            let ended = if sending.is_sent() {
                answer.ended()
            } else {
                Ended::Known
            };
            in_doubt = open.is_some() && ended == Ended::InDoubt;
            open.inspect(|open| open.end(ended));
            let (ended, response) = answer.settles(harmless);
            let elsewhere = matches!(&ended, Ok(Err(failed)) if is_elsewhere(failed.assessment));
            let delay = |_: Option<&_>| delay_after(requests, &sending, response.as_ref());
            let decided = call.settle_with(
                ended.map(|sent| sent.map_err(described)),
                |failed| Judgement {
                    ruling: Ruling::by(failed.error().assessment, harmless),
                    words: failed.error(),
                    keeps: |failed| E::Cut::LIMITED.then_some(Kept(failed)),
                },
                (AsksDelay::RetryAfter, delay),
                |_| (),
            );
            let at = match (decided, response) {
                // The response of the last attempt is that of the call.
                (Break(Err(_)), Some(response)) => return Ok(response),
                (Break(ended), _) => return ended.map_err(|failed| for_caller(failed, in_doubt)),
                (Continue(at), None) => at,
                (Continue(at), Some(response)) => {
                    leave.filter(|_| elsewhere).inspect(|leave| leave());
                    let rest = pin!(at.into_future().at_most(REST));
                    unless(rest, own.discard(response)).await;
                    at
                }
            };
            at.await;
            sending = Sending::of(requests.copy(sending.again()));
        }
    }
}

/// A `Stopped` says so if the request that it cut is in doubt.
fn said_in_doubt(error: BoxedError, in_doubt: bool) -> BoxedError {
    if !in_doubt {
        return error;
    }
    match error.downcast::<Stopped>() {
        Ok(stopped) => stopped.cutting(Effect::Request).into(),
        Err(error) => error,
    }
}

/// How long to wait exactly after a response that is retried.
fn delay_after<Q, N, A>(
    requests: &Q,
    sending: &Sending<N>,
    response: Option<&A>,
) -> Option<Duration>
where
    Q: Requests<N, A>,
{
    // A server that says zero in the last second of a limit shall not get requests without a wait.
    (requests.delay(sending.copy(), response?)).filter(|delay| !delay.is_zero())
}

/// Whether another server may answer better than the one that failed so.
fn is_elsewhere(failed: Assessment) -> bool {
    failed.verdict == Verdict::Transient && failed.hint.is_none()
}
