//! The result codes of SQLite.

use super::CodeNumber;
use crate::classify::Verdict;

/// Returns the verdict of a result code of SQLite, primary or extended.
///
/// An extended code has the verdict of its primary code, which is its lowest byte.
///
/// # Examples
///
/// ```
/// # use reattempt_runtime as reattempt;
/// use reattempt::{Verdict, codes};
///
/// // SQLITE_BUSY, SQLITE_BUSY_SNAPSHOT and SQLITE_CONSTRAINT_UNIQUE.
/// assert_eq!(codes::sqlite(5), Verdict::Conflict);
/// assert_eq!(codes::sqlite(517), Verdict::Conflict);
/// assert_eq!(codes::sqlite(2067), Verdict::Permanent);
/// ```
#[must_use]
pub fn sqlite(code: impl CodeNumber) -> Verdict {
    // After "Result and Error Codes" of sqlite.org. No code is negative, and 0 is no failure.
    match code.code_number().max(0) & 0xff {
        // BUSY and LOCKED: another connection holds the database or the table, and the statement had no effect.
        5 | 6 => Verdict::Conflict,
        // PROTOCOL: SQLite did not get a lock of the write-ahead log for some seconds.
        15 => Verdict::Transient,
        // SCHEMA: another connection changed the schema while the statement was prepared.
        17 => Verdict::Transient,

        // ERROR, PERM, READONLY, CORRUPT, NOTFOUND, CANTOPEN: the statement or the file is at fault.
        1 | 3 | 8 | 11 | 12 | 14 => Verdict::Permanent,
        // FULL: space has to be freed first, which takes longer than a retry waits.
        13 => Verdict::Permanent,
        // TOOBIG, CONSTRAINT, MISMATCH, MISUSE, NOLFS, AUTH, FORMAT, RANGE, NOTADB.
        18..=26 => Verdict::Permanent,

        // INTERNAL, ABORT, NOMEM, INTERRUPT, IOERR, and codes that are not failures.
        _ => Verdict::Unknown,
    }
}
