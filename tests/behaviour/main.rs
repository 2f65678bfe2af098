//! What a retried call does: attempts, time, rules, errors, cancellation. On tokio's paused clock.

mod attempt;
mod budget;
mod cancel;
mod cancellation;
mod context;
mod deadlines;
mod ending;
mod inherited;
mod limits;
mod nesting;
mod rules;
mod schedule;
mod script;
mod timeouts;
