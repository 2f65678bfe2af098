//! `sqlx` 0.8 against PostgreSQL and MariaDB. A program can link one SQLite only, which is that of 0.9.

use ::sqlx_0_8 as client;
use reattempt::sqlx_0_8 as adapter;

#[allow(
    clippy::duplicate_mod,
    reason = "one source for each version, so that the versions behave alike"
)]
#[path = "sqlx/version.rs"]
pub(crate) mod version;
