//! What retries do to a server, in virtual time.

mod annotated;
mod closed;
mod contention;
mod guide;
mod hedges;
mod load_page;
mod loops;
mod luck;
mod network;
mod overload;
mod quota;

// The tests of this program.
#[path = "../../../examples/schedule.rs"]
#[allow(dead_code, reason = "its `main` is not run here")]
mod schedule;
