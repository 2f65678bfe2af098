//! `sqlx` 0.9 against PostgreSQL, MariaDB and SQLite.

use ::sqlx as client;
use reattempt::sqlx as adapter;

pub(crate) mod sqlite;
pub(crate) mod version;
