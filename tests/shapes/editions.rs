//! The shapes whose expansion an edition could change: what a closure and an `impl Trait` capture, when a temporary is dropped,
//! and what a body returns. `tests/edition-2018` and `edition-2021` compile them; `main.rs` has all in the newest edition.

mod bodies;
mod by_value;
mod captured;
mod case;
mod results;
mod written;

pub(crate) use case::{cases, take, Calls, Case, ATTEMPTS};

#[tokio::test(start_paused = true)]
async fn every_shape_makes_all_its_attempts() {
    case::check(&[
        bodies::CASES,
        by_value::CASES,
        captured::CASES,
        results::CASES,
        written::CASES,
    ])
    .await;
}
