//! The argument of `on_retry`.

use std::fmt;
use std::time::Duration;

use crate::Verdict;
use crate::getters::getters;
use crate::stopped::rounded;

/// A retry that was scheduled: the argument of `on_retry`.
///
/// It refers to what the call holds, so it stays on the thread of the hook. `on_retry` runs before the wait, in the task of the
/// call, and holds no lock of this crate. It is not async: spawn a task to call an async function.
///
/// # Examples
///
/// ```
/// # use reattempt_runtime as reattempt;
/// use std::io;
/// use std::time::Duration;
///
/// use reattempt::Policy;
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)] async fn main() {
/// const POLICY: Policy = Policy::new().with_delays(const { &[Duration::from_millis(200), Duration::from_secs(1)] });
/// let mut lines = Vec::new();
/// let fails = async || Err::<(), _>(io::Error::from(io::ErrorKind::ConnectionReset));
/// let call = POLICY.run(fails).on_retry(|event| lines.push(event.to_string()));
/// call.unboxed().await.unwrap_err();
/// assert_eq!(
///     lines,
///     [
///         "attempt 1 of 3 failed: connection reset, next attempt in 200ms",
///         "attempt 2 of 3 failed: connection reset, next attempt in 1s",
///     ]
/// );
/// # }
/// ```
pub struct RetryEvent<'a, E> {
    pub(crate) function: &'static str,
    pub(crate) attempt: u32,
    pub(crate) attempts: Option<u32>,
    pub(crate) verdict: Verdict,
    pub(crate) delay: Duration,
    pub(crate) elapsed: Duration,
    pub(crate) error: Option<&'a E>,
    /// The text of the error and of its causes, or what the attempt has in its place.
    pub(crate) words: &'a dyn fmt::Display,
}

impl<'a, E> RetryEvent<'a, E> {
    getters! {
        /// Returns the name of the function: the attribute's `name`, or module path and function name. That of a run is what
        /// [`with_name`](crate::Run::with_name) says, or its place in the source.
        function: &'static str;

        /// Returns the number of the attempt that failed, from 1.
        attempt: u32;

        /// Returns how many attempts the call may make, the first included, or `None` for no limit.
        attempts: Option<u32>;

        /// Returns the verdict of the failure. An attempt that was cut counts as transient. If two attempts failed side by side,
        /// it is the verdict of the failure with the higher price.
        verdict: Verdict;

        /// Returns the delay before the next attempt.
        delay: Duration;

        /// Returns the time since the beginning of the call.
        elapsed: Duration;

        /// Returns the error, or `None` if the attempt reached its timeout or returned an `Ok` that means failure.
        error: Option<&'a E>;
    }
}

/// Says which attempt failed, how, and when the next one begins. An error is written with its causes, as in the log. With
/// the key `sensitive`, `(sensitive)` stands for it.
impl<E> fmt::Display for RetryEvent<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "attempt {}", self.attempt)?;
        if let Some(attempts) = self.attempts {
            write!(f, " of {attempts}")?;
        }
        let delay = rounded(self.delay);
        write!(f, " failed: {}, next attempt in {delay:?}", self.words)
    }
}

/// As [`Display`](fmt::Display) shows the error, because the `Debug` of an error may have a secret.
impl<E> fmt::Debug for RetryEvent<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RetryEvent")
            .field("function", &self.function)
            .field("attempt", &self.attempt)
            .field("attempts", &self.attempts)
            .field("verdict", &self.verdict)
            .field("delay", &self.delay)
            .field("elapsed", &self.elapsed)
            .field("error", &format_args!("{}", self.words))
            .finish_non_exhaustive()
    }
}
