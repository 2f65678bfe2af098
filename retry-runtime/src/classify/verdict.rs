//! The verdict of an error.

use std::error::Error;
use std::io;
use std::iter::successors;
use std::time::Duration;

use crate::words::words;

/// Whether another attempt could help.
///
/// # Examples
///
/// ```
/// # use reattempt_runtime as reattempt;
/// use reattempt::{Retryable as _, Verdict};
///
/// let reset = std::io::Error::from(std::io::ErrorKind::ConnectionReset);
/// assert_eq!(reset.verdict(), Verdict::Transient);
/// assert_eq!(Verdict::Transient.to_string(), "transient");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Verdict {
    /// The failure may pass. The request may or may not have run.
    Transient,
    /// The server asks for fewer requests. A later attempt may succeed.
    Throttled,
    /// The request provably never ran, so a retry cannot run it twice.
    Refused,
    /// Another caller was faster, and what this attempt did was rolled back, so a retry cannot run it twice. The service
    /// does not fail: the budget charges nothing.
    Conflict,
    /// Another attempt would fail the same way.
    Permanent,
    /// The error does not say. It is retried only if a rule of the attribute selects it, or with `idempotent = true`.
    Unknown,
}

words! {
    Verdict, "Returns the name used in events, spans and metrics.",
    Self::Transient => "transient",
    Self::Throttled => "throttled",
    Self::Refused => "refused",
    Self::Conflict => "conflict",
    Self::Permanent => "permanent",
    Self::Unknown => "unknown",
}

impl Verdict {
    /// Returns whether what failed may have run: not if it was refused, nor if it was rolled back after a conflict. An error may know
    /// more: [`Retryable::may_have_run`].
    #[must_use]
    pub const fn may_have_run(self) -> bool {
        !matches!(self, Self::Refused | Self::Conflict)
    }

    /// Returns whether the verdict alone allows another attempt: transient, throttled, refused or conflict.
    #[must_use]
    pub const fn is_retryable(self) -> bool {
        // No catch-all: a new verdict is not retried until it is listed here.
        match self {
            Self::Transient | Self::Throttled | Self::Refused | Self::Conflict => true,
            Self::Permanent | Self::Unknown => false,
        }
    }
}

/// An error type that says which of its values are worth another attempt.
///
/// `#[derive(Retryable)]` implements it for an enum or a struct. `std::io::Error` implements it by kind.
/// Each adapter implements it for the errors of one crate.
///
/// # Examples
///
/// ```
/// # use reattempt_runtime as reattempt;
/// use std::time::Duration;
/// use reattempt::{Retryable, Verdict};
///
/// enum QueueError {
///     Busy { wait: Duration },
///     NoSuchQueue,
/// }
///
/// impl Retryable for QueueError {
///     fn verdict(&self) -> Verdict {
///         match self {
///             Self::Busy { .. } => Verdict::Throttled,
///             Self::NoSuchQueue => Verdict::Permanent,
///         }
///     }
///
///     fn hint(&self) -> Option<Duration> {
///         match self {
///             Self::Busy { wait } => Some(*wait),
///             Self::NoSuchQueue => None,
///         }
///     }
/// }
///
/// assert!(QueueError::Busy { wait: Duration::from_secs(2) }.verdict().is_retryable());
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say which of its errors are worth another attempt",
    label = "no verdict for `{Self}`",
    note = "name the error types to retry: `#[retry(on = \"std::io::Error\")]`, or `run!(on(std::io::Error), async || …)`",
    note = "or write a predicate: `#[retry(when = \"is_temporary\")]`, with `fn is_temporary(error: &{Self}) -> bool`",
    note = "or, for your own type, give each variant a verdict: `#[derive(reattempt::Retryable)]`",
    note = "or, for an error of another crate, enable the feature of `reattempt` with the name and the version of that crate",
    note = "or, for one without a feature, write `#[retry(verdict = \"verdict_of\")]`, with `fn verdict_of(error: &{Self}) -> reattempt::Verdict`, \
            or `.verdict(verdict_of)` for a closure",
    note = "there are the features `deadpool-0_13`, `h2-0_4`, `http-1`, `hyper-1`, `redis-1`, `reqwest-0_13`, `reqwest-0_12`, `reqwest-middleware-0_5`, `reqwest-middleware-0_4`, `sea-orm-2`, `sea-orm-1`, `sqlx-0_9`, `sqlx-0_8`, `tokio-postgres-0_7`, `tonic-0_14` and `tonic-0_13`; other versions of these have no verdict, and neither has a fork (`package = \"…\"`), which is another crate; nor has `sqlx::migrate::MigrateError`, which `on(sqlx::Error), idempotent = true` retries"
)]
pub trait Retryable {
    /// Returns whether another attempt could help.
    fn verdict(&self) -> Verdict;

    /// Returns the delay that the server asked for. The next delay is at least this long.
    ///
    /// The default is `None`. A permanent error may have a hint too: it counts if a rule, such as `when`, retries the error.
    /// A hint above the policy's `max_retry_after`, or one that does not fit the deadline, ends the call.
    fn hint(&self) -> Option<Duration> {
        None
    }

    /// Whether the client ended the request at a limit of its own, so the server may still work on it.
    #[doc(hidden)]
    fn timed_out(&self) -> bool {
        false
    }

    /// Returns whether what failed with this error may have run. It is false only if it provably had no effect. Default:
    /// [`Verdict::may_have_run`].
    ///
    /// It is about one attempt: earlier ones may have run, unless they must not run twice. [`Report::may_have_run`] and
    /// [`Stopped::may_have_run`] are about the whole call.
    ///
    /// [`Report::may_have_run`]: crate::Report::may_have_run
    /// [`Stopped::may_have_run`]: crate::Stopped::may_have_run
    fn may_have_run(&self) -> bool {
        self.verdict().may_have_run()
    }
}

/// The error type of a client. It cannot hold a [`Stopped`](crate::Stopped), so the call of a run gives an
/// [`Error`](crate::Error) around it.
pub trait OfClient: Retryable {}

/// The error of a client with transactions.
#[diagnostic::on_unimplemented(
    message = "no transaction of a client fails with `{Self}`",
    label = "expected the error of the client, such as `tokio_postgres::Error`",
    note = "for the error of a pool too, write an enum: `enum Error {{ Pool(#[from] PoolError), Transaction(#[from] TransactionError<tokio_postgres::Error>) }}`, \
            with `#[derive(thiserror::Error, reattempt::Retryable)]`, and `#[retryable(forward)]` on both"
)]
pub trait Lost: Retryable + Error + Sized + 'static {
    /// Whether it is that of a lost connection.
    fn is_lost(&self) -> bool;

    /// Whether a `COMMIT` that failed so may have taken effect: the session ended, or the server did not answer.
    fn is_in_doubt(&self) -> bool {
        let first: &(dyn Error + 'static) = self;
        let mut causes = successors(Some(first), |&cause| cause.source());
        match self.verdict() {
            Verdict::Conflict => false,
            // What was read may be no answer, and the connection was open.
            Verdict::Permanent | Verdict::Refused => causes.any(<dyn Error>::is::<io::Error>),
            _ => true,
        }
    }
}

/// What an error answered: its verdict and its hint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Assessment {
    /// Whether another attempt could help.
    pub verdict: Verdict,
    /// The delay that the server asked for.
    pub hint: Option<Duration>,
    /// Whether the client ended the request at a limit of its own.
    pub timed_out: bool,
    /// Whether what failed may have run.
    pub may_have_run: bool,
}

impl Assessment {
    /// The answer of an error type that does not implement [`Retryable`].
    pub const UNKNOWN: Self = Self::new(Verdict::Unknown);

    /// Makes an answer without a hint.
    #[must_use]
    pub const fn new(verdict: Verdict) -> Self {
        Self {
            verdict,
            hint: None,
            timed_out: false,
            may_have_run: verdict.may_have_run(),
        }
    }

    /// Sets the delay that the server asked for.
    pub(crate) const fn with_hint(self, hint: Option<Duration>) -> Self {
        Self { hint, ..self }
    }

    /// Asks the error.
    pub fn of<E: Retryable + ?Sized>(error: &E) -> Self {
        Self {
            verdict: error.verdict(),
            hint: error.hint(),
            timed_out: error.timed_out(),
            may_have_run: error.may_have_run(),
        }
    }
}
