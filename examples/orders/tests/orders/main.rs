//! The program, and the transactions of its queue.

// These are the files of the program. A test does not use all of them.
#[expect(dead_code, reason = "the queue needs only what an order is")]
#[path = "../../src/charge.rs"]
mod charge;
#[path = "../../src/orders.rs"]
mod orders;
mod program;
#[expect(dead_code, reason = "a worker of the program reads it")]
#[path = "../../src/queue.rs"]
mod queue;
mod tries;

use integrations::postgres;

integrations::tests! {
    [postgres::PROGRAM] =>
        program::each_order_is_charged_once_or_refused,
        tries::a_job_is_stored_with_its_transaction,
        tries::an_order_that_is_asked_for_again_has_one_job_and_is_charged_if_that_succeeds,
        tries::a_job_is_tried_for_about_a_day_and_then_given_up;
}
