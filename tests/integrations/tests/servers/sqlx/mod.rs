//! `sqlx` 0.9 against PostgreSQL, MariaDB and SQLite.

use ::sqlx as client;
use reattempt::sqlx_0_9 as adapter;

pub(crate) mod sqlite;
pub(crate) mod version;
