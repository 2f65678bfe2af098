//! Keys: each with a value as people write it.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use reattempt::{Policy, RetryEvent, Stopped};

pub const MINE: Policy = Policy::new().with_attempts(4);
pub const ATTEMPTS: u32 = 4;

#[derive(Debug)]
pub enum Failure {
    Io(io::Error),
    Http(u16),
    Stopped(Stopped),
}

impl From<Stopped> for Failure {
    fn from(stopped: Stopped) -> Self {
        Self::Stopped(stopped)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl Failure {
    #[must_use]
    pub const fn is_temporary(&self) -> bool {
        matches!(self, Self::Http(503))
    }
}

async fn send(text: &str) -> io::Result<u16> {
    tokio::task::yield_now().await;
    Ok(u16::from(text.is_empty()))
}

/// # Errors
///
/// Must give no warning.
#[reattempt::retry(
    attempts = 4,
    timeout = "1.5s",
    jitter = "full",
    on = "io::Error",
    deadline = "5s"
)]
pub async fn as_in_the_readme(text: &str) -> io::Result<u16> {
    send(text).await
}

#[reattempt::retry(
    attempts = ATTEMPTS,
    backoff = "exponential",
    base = "50ms",
    max_delay = max,
    factor = 3.0,
    jitter = "equal",
    name = "schedule"
)]
pub async fn schedule(text: &str, max: Duration) -> io::Result<u16> {
    Ok(send(text).await? + u16::from(max.is_zero()))
}

#[reattempt::retry(hedge = "20ms", timeout = "1s", on_retry = observe)]
pub async fn hedged(text: &str, owned: String, mut count: u16) -> io::Result<u16> {
    count += send(&owned).await?;
    Ok(send(text).await? + count + u16::from(take(owned).is_empty()))
}

const fn take(text: String) -> String {
    text
}

#[reattempt::retry(attempts = "unlimited", deadline = Duration::from_secs(1), backoff = "linear")]
pub async fn unlimited(text: &str) -> io::Result<u16> {
    send(text).await
}

#[reattempt::retry(policy = MINE, jitter = "none")]
pub async fn by_policy(text: &str) -> io::Result<u16> {
    send(text).await
}

#[reattempt::retry(policy = policy)]
pub async fn by_policy_of_the_call(text: &str, policy: Policy) -> io::Result<u16> {
    Ok(send(text).await? + u16::from(policy == MINE))
}

#[reattempt::retry(when = |error| matches!(error, Failure::Http(429 | 500..=599) | Failure::Io(_)), timeout = "1s")]
pub async fn matched(text: &str) -> Result<(), Failure> {
    Err(Failure::Http(send(text).await?))
}

#[reattempt::retry(when = Failure::is_temporary)]
pub async fn asked_by_path(text: &str) -> Result<u16, Failure> {
    Ok(send(text).await?)
}

#[reattempt::retry(on(io::Error, std::fmt::Error), when = |error| error.kind() != io::ErrorKind::Other)]
pub async fn on_and_when(text: &str) -> io::Result<u16> {
    send(text).await
}

#[reattempt::retry(when = |_| true, unless = |error| matches!(error, Failure::Stopped(_)), deadline = "1s")]
pub async fn when_and_unless(text: &str) -> Result<u16, Failure> {
    Ok(send(text).await?)
}

#[reattempt::retry(unless = std::fmt::Error, when_ok = |status| *status >= 500)]
pub async fn unless_of_types_and_when_ok(text: &str) -> io::Result<u16> {
    send(text).await
}

#[reattempt::retry(until = |status| *status < 300, unless = |error| error.kind() == io::ErrorKind::Other)]
pub async fn until_and_unless(text: &str) -> io::Result<u16> {
    send(text).await
}

#[reattempt::retry(idempotent = false, timeout = "1s")]
pub async fn not_idempotent(text: &str) -> io::Result<u16> {
    send(text).await
}

#[reattempt::retry(on_retry = |event| drop(event.function().to_owned()))]
pub async fn told(text: &str) -> io::Result<u16> {
    send(text).await
}

pub fn observe<E>(event: &RetryEvent<'_, E>) {
    drop(event.function().to_owned());
}

#[reattempt::retry(on_retry = observe)]
pub async fn told_by_path(text: &str) -> io::Result<u16> {
    send(text).await
}

#[derive(Debug, Default)]
pub struct Client {
    pub sent: u16,
}

impl Client {
    pub async fn reconnect(&mut self) -> io::Result<()> {
        self.sent += send("").await?;
        Ok(())
    }

    #[reattempt::retry(before_retry = self.reconnect(), deadline = "1s")]
    pub async fn prepared(&mut self, text: &str) -> io::Result<u16> {
        self.sent += send(text).await?;
        Ok(self.sent)
    }

    #[reattempt::retry(before_retry = async || self.reconnect().await)]
    pub async fn prepared_by_a_closure(&mut self, text: &str) -> io::Result<u16> {
        self.sent += send(text).await?;
        Ok(self.sent)
    }
}

#[reattempt::retry(budget = "none", nested = "multiply")]
pub async fn without_budget(text: &str) -> io::Result<u16> {
    send(text).await
}

pub static BUDGET: reattempt::Budget = reattempt::Budget::new();

#[reattempt::retry(budget = BUDGET, nested = "outermost", silent)]
pub async fn with_a_shared_budget(text: &str) -> io::Result<u16> {
    send(text).await
}

#[reattempt::retry(cancel = tokio::time::sleep(limit), deadline = limit, before_retry = tokio::task::yield_now())]
pub async fn cancelled(text: &str, limit: Duration) -> io::Result<u16> {
    Ok(send(text).await? + u16::from(limit.is_zero()))
}

#[reattempt::retry(cancel_waits = tokio::time::sleep(limit), budget = "none")]
pub async fn cancelled_between_attempts(text: &str, limit: Duration) -> io::Result<u16> {
    Ok(send(text).await? + u16::from(limit.is_zero()))
}

#[reattempt::retry(retry_after = |error| (error.kind() == io::ErrorKind::Other).then_some(Duration::from_secs(1)))]
pub async fn retried_after(text: &str) -> io::Result<u16> {
    send(text).await
}

#[reattempt::retry(verdict = |error| (reattempt::Verdict::Throttled, (error.kind() == io::ErrorKind::Other).then_some(Duration::from_secs(1))))]
pub async fn with_a_verdict(text: &str) -> io::Result<u16> {
    send(text).await
}

/// The output of the `cancel` future is not used.
///
#[reattempt::retry(cancel = stop.acquire())]
pub async fn cancelled_by_a_result(stop: &tokio::sync::Semaphore) -> io::Result<u16> {
    Ok(send("text").await? + u16::from(stop.is_closed()))
}

/// A signal that calls take by value.
#[derive(Debug, Clone, Default)]
pub struct Shutdown(std::sync::Arc<tokio::sync::Notify>);

impl Shutdown {
    pub async fn cancelled(&self) {
        self.0.notified().await;
    }
}

#[reattempt::retry(cancel = shutdown.cancelled())]
pub async fn cancelled_by_an_argument(
    text: &str,
    shutdown: Shutdown,
    mut count: u16,
) -> io::Result<u16> {
    count += send(text).await?;
    drop(shutdown.clone());
    Ok(count)
}

#[reattempt::retry(cancel = shutdown.cancelled())]
pub async fn cancelled_by_an_argument_that_is_handed_over(
    mut shutdown: Shutdown,
) -> io::Result<u16> {
    shutdown.0 = std::sync::Arc::default();
    drop(Some(shutdown));
    send("").await
}

#[derive(Debug, Default)]
pub struct Service {
    pub shutdown: Shutdown,
    pub sent: u16,
}

impl Service {
    #[reattempt::retry(cancel = self.shutdown.cancelled())]
    pub async fn by_reference(&self) -> io::Result<u16> {
        Ok(send("").await? + self.sent)
    }

    #[reattempt::retry(cancel = self.shutdown.cancelled(), timeout = "1s")]
    pub async fn by_mut_reference(&mut self) -> io::Result<u16> {
        self.sent += send("").await?;
        Ok(self.sent)
    }

    #[reattempt::retry(cancel = self.shutdown.cancelled())]
    pub async fn by_value(self) -> io::Result<u16> {
        Ok(send("").await? + self.sent)
    }
}

/// The settings that a service reads from its configuration.
#[derive(Debug)]
pub struct Settings {
    pub policy: std::sync::Arc<Policy>,
    pub budget: reattempt::Budget,
    pub delays: Vec<Duration>,
    pub longest: Duration,
    pub sent: u16,
}

impl Settings {
    pub fn hear(&self, report: &reattempt::Report) {
        drop((self.sent, report.function().to_owned()));
    }

    #[reattempt::retry(policy = self.policy, max_retry_after = self.longest, idempotent = self.sent > 0)]
    pub async fn by_policy(&self, text: &str) -> io::Result<u16> {
        Ok(send(text).await? + self.sent)
    }

    #[reattempt::retry(delays = &self.delays, attempts = 4, budget = &self.budget)]
    pub async fn by_delays(&self, text: &str) -> io::Result<u16> {
        Ok(send(text).await? + self.sent)
    }

    #[reattempt::retry(delays = ["0s", "200ms"], on_end = |report| self.hear(report))]
    pub async fn heard(&self, text: &str) -> io::Result<u16> {
        Ok(send(text).await? + self.sent)
    }

    #[reattempt::retry(delays(self.longest, "1s"), max_retry_after = "5m", jitter = "equal")]
    pub async fn mixed(&self, text: &str) -> io::Result<u16> {
        Ok(send(text).await? + self.sent)
    }
}

#[reattempt::retry(budget = budget, on_end = listen)]
pub async fn with_a_budget_of_the_call(
    text: &str,
    budget: Option<&reattempt::Budget>,
) -> io::Result<u16> {
    Ok(send(text).await? + u16::from(budget.is_some()))
}

pub fn listen(report: &reattempt::Report) {
    drop(report.function().to_owned());
}

/// A future with a field.
#[derive(Debug)]
pub struct Alarm {
    pub after: Duration,
}

impl Future for Alarm {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if self.after.is_zero() {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }
}

/// The generated code has parentheses around these values.
///
#[reattempt::retry(
    policy = if text.is_empty() { MINE } else { MINE.with_attempts(2) },
    budget = match text.len() { 0 => None, _ => budget },
    delays = if text.is_empty() { &[] } else { delays },
    before_retry = &mut *alarm,
    cancel = Alarm { after: limit }
)]
pub async fn with_values_of_all_kinds(
    text: &str,
    alarm: &mut Alarm,
    limit: Duration,
    delays: &[Duration],
    budget: Option<&reattempt::Budget>,
) -> io::Result<u16> {
    alarm.after += limit;
    Ok(send(text).await? + u16::from(delays.is_empty() || budget.is_some()))
}

/// Waits.
pub async fn wait(limit: Duration) {
    tokio::time::sleep(limit).await;
}

/// The parentheses are the user's own.
///
#[reattempt::retry(
    policy = (MINE.with_attempts(2)),
    before_retry = (&mut *alarm),
    cancel = (wait(limit))
)]
pub async fn with_parentheses(text: &str, alarm: &mut Alarm, limit: Duration) -> io::Result<u16> {
    alarm.after += limit;
    send(text).await
}
