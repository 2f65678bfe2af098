//! What a retried call does: attempts, time, rules, errors, cancellation. On tokio's paused clock.

mod attempt;
mod budget;
mod cancel;
mod cancellation;
mod combined;
mod context;
mod deadlines;
mod ending;
mod events;
mod hints;
mod hooks;
mod idempotent;
mod inherited;
mod limits;
mod nested_chains;
mod nested_dropped;
mod nested_rule;
mod nested_time;
mod nesting;
mod reentrant;
mod rules;
mod schedule;
mod script;
mod timeouts;
