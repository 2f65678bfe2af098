//! The policy of every side. The attributes repeat it as literals.

use std::io;
use std::time::Duration;

pub(crate) const ATTEMPTS: u32 = 4;
pub(crate) const RETRIES: u32 = ATTEMPTS - 1;
pub(crate) const TIMEOUT: Duration = Duration::from_millis(1500);
pub(crate) const DEADLINE: Duration = Duration::from_secs(5);

/// The ceiling of every delay: one tick of tokio's timer. So each wait takes one tick, whatever delay was drawn,
/// and the number of instructions repeats.
pub(crate) const DELAY: Duration = Duration::from_millis(DELAY_MILLIS);
pub(crate) const DELAY_MILLIS: u64 = 1;

/// Whether a side without its own rules retries an error.
pub(crate) fn is_temporary(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionRefused
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::BrokenPipe
            | io::ErrorKind::TimedOut
    )
}
