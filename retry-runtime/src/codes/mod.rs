//! Verdicts of codes, for clients that have no adapter.
//!
//! Each function looks up one code in the table that the adapters use as well. `docs/CLASSIFICATION.md` has
//! every row with its reason. An unlisted code is permanent if its class is known, else unknown. Neither is
//! retried without a rule in the attribute.
//!
//! A table is right for what was read, in November 2026 where no version stands, and a code may mean something else in a later
//! version. To stay with the verdicts of today, write your own function.
//!
//! | table | as of |
//! |---|---|
//! | `aws` | the lists of the AWS SDK for Rust |
//! | `grpc` | the codes 0 to 16 |
//! | `http_status` | RFC 9110, 9113 and 8470, *Cloudflare 5xx errors* |
//! | `io` | Windows, as `rustup` and Node.js retry |
//! | `jetstream` | `errors.json` of nats-server |
//! | `kafka` | the protocol 3.9 |
//! | `mongodb` | `error_codes.yml` and the driver specifications |
//! | `mysql` | the message files of MySQL, up to 4162, and `MariaDB` 10.11; `TiDB`, Vitess, `ProxySQL` |
//! | `redis` | Redis 7.0.15, Valkey 8 |
//! | `sqlite` | the result codes of SQLite 3 |
//! | `sqlstate` | PostgreSQL 15, pgbouncer 1.25 |
//!
//! # Examples
//!
//! ```
//! # use reattempt_runtime as reattempt;
//! use reattempt::{Verdict, codes};
//!
//! assert_eq!(codes::http_status(503), Verdict::Transient);
//! assert_eq!(codes::sqlstate("40001"), Verdict::Conflict);
//! assert_eq!(codes::grpc(8), Verdict::Unknown);
//! ```
//!
//! The key `with` of `#[derive(Retryable)]` accepts each function:
//!
//! ```text
//! #[derive(reattempt::Retryable)]
//! enum ApiError {
//!     #[retryable(with = "reattempt::codes::http_status")]
//!     Status(u16),
//!     #[retryable(with = "reattempt::codes::sqlstate")]
//!     Database(String),
//! }
//! ```

#![expect(clippy::match_same_arms, reason = "one arm for each reason")]

mod aws;
mod grpc;
mod http;
mod io;
mod jetstream;
mod kafka;
mod mongodb;
mod mysql;
mod redis;
mod sqlite;
mod sqlstate;

pub use self::aws::aws;
pub use self::grpc::grpc;
pub use self::http::http_status;
pub use self::io::io;
pub use self::jetstream::jetstream;
pub use self::kafka::kafka;
pub use self::mongodb::{mongodb, mongodb_labels};
pub use self::mysql::{mysql, mysql_error};
pub use self::redis::redis;
pub use self::sqlite::sqlite;
pub use self::sqlstate::{sqlstate, sqlstate_error};
use crate::sealed::Sealed;

/// An integer of any type, or a reference to one.
///
/// It can be a reference, because `with` of `#[derive(Retryable)]` passes the fields of an error by reference.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the number of a code",
    label = "expected an integer, or a reference to one",
    note = "write a function that returns the verdict: `#[retryable(with = \"path::to_function\")]`"
)]
pub trait CodeNumber: Sealed {
    /// Returns the number, or -1 if it does not fit in an `i32`. Every code fits.
    fn code_number(&self) -> i32;
}

macro_rules! integers {
    ($($integer:ty),+) => {$(
        impl Sealed for $integer {}

        #[diagnostic::do_not_recommend]
        impl CodeNumber for $integer {
            fn code_number(&self) -> i32 {
                (*self).try_into().unwrap_or(-1)
            }
        }
    )+};
}

integers!(
    u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize
);

impl<N: CodeNumber> Sealed for &N {}

#[diagnostic::do_not_recommend]
impl<N: CodeNumber> CodeNumber for &N {
    fn code_number(&self) -> i32 {
        (**self).code_number()
    }
}

#[cfg(test)]
mod tests;
