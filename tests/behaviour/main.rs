//! What a retried call does: attempts, time, rules, errors, cancellation. On tokio's paused clock.

mod cancellation;
mod context;
mod deadlines;
mod ending;
mod limits;
mod rules;
mod schedule;
mod script;
mod timeouts;
