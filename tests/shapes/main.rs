//! Every shape of function compiles, retries, and is `Send` if the plain function is.
//!
//! Each case is a function whose body counts its calls and always fails. The test calls each function of the table
//! and checks the exact number of calls, so that each shape really retries.

mod arguments;
mod blocking;
mod bodies;
mod boxed;
mod by_value;
mod captured;
mod case;
mod compiles;
mod conditional;
mod converted;
mod generic;
mod hedged;
mod hygiene;
mod layers;
mod lent;
mod methods;
mod one_line;
mod operands;
mod results;
mod traced;
mod written;

pub(crate) use case::{cases, take, Calls, Case, ATTEMPTS};

#[tokio::test(start_paused = true)]
async fn every_shape_makes_all_its_attempts() {
    case::check(&[
        arguments::CASES,
        blocking::CASES,
        bodies::CASES,
        boxed::CASES,
        by_value::CASES,
        captured::CASES,
        conditional::CASES,
        converted::CASES,
        generic::CASES,
        hedged::CASES,
        hygiene::CASES,
        lent::CASES,
        methods::CASES,
        operands::CASES,
        results::CASES,
        traced::CASES,
        written::CASES,
    ])
    .await;
}
