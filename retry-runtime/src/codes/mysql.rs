//! The error numbers of MySQL and MariaDB.

use super::CodeNumber;
use crate::classify::Verdict;

/// Returns the verdict of an error number of MySQL or MariaDB.
///
/// The number is more exact than the SQLSTATE, which is `HY000` for a lock that was not granted in time, for
/// example. If a number is unknown here, look up its [`sqlstate`](super::sqlstate()), as the adapters do.
///
/// # Examples
///
/// ```
/// # use retry_runtime as reattempt;
/// use reattempt::{Verdict, codes};
///
/// // A deadlock, and too many connections.
/// assert_eq!(codes::mysql(1213), Verdict::Conflict);
/// assert_eq!(codes::mysql(1040), Verdict::Refused);
/// ```
#[must_use]
pub fn mysql(number: impl CodeNumber) -> Verdict {
    of(number.code_number())
}

/// After the "Server Error Message Reference" of MySQL and "MariaDB Error Codes".
#[expect(clippy::match_same_arms, reason = "one arm for each reason")]
fn of(number: i32) -> Verdict {
    match number {
        // The server rolled back the transaction, or the statement. Dropping a transaction rolls back what was before.
        // ER_LOCK_DEADLOCK and ER_XA_RBDEADLOCK: the server rolled back; run the transaction again.
        1213 | 1614 => Verdict::Conflict,
        // ER_LOCK_WAIT_TIMEOUT and ER_LOCK_NOWAIT: another transaction holds the lock.
        1205 | 3572 => Verdict::Conflict,
        // ER_CHECKREAD, "record has changed since last read": the conflict of MariaDB's snapshot isolation.
        1020 => Verdict::Conflict,

        // ER_CON_COUNT_ERROR and ER_TOO_MANY_USER_CONNECTIONS: the server refused this connection.
        1040 | 1203 => Verdict::Refused,
        // ER_TOO_MANY_CONCURRENT_TRXS: used up by the present load.
        1637 => Verdict::Throttled,

        // ER_SERVER_SHUTDOWN and ER_CLIENT_INTERACTION_TIMEOUT: the server ended the session.
        1053 | 4031 => Verdict::Transient,

        // The SQLSTATE may have a verdict.
        _ => Verdict::Unknown,
    }
}
