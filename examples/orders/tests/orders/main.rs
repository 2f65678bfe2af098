//! The program, and what the guide says of the queue that it uses.

// These are the files of the program. A test does not use all of them.
#[expect(dead_code, reason = "the queue needs only what an order is")]
#[path = "../../src/charge.rs"]
mod charge;
mod engine;
#[path = "../../src/orders.rs"]
mod orders;
mod page;
mod program;
#[expect(dead_code, reason = "a worker of the program reads it")]
#[path = "../../src/queue.rs"]
mod queue;
#[path = "../../src/ticks.rs"]
mod ticks;
mod tries;

use integrations::postgres;

integrations::tests! {
    [postgres::PROGRAM] =>
        program::each_order_is_charged_once_or_refused,
        tries::a_job_is_stored_with_its_transaction,
        tries::an_order_that_is_asked_for_again_has_one_job_and_is_charged_if_that_succeeds,
        tries::a_job_is_tried_for_about_a_day_and_then_given_up,
        engine::the_delay_of_an_error_is_not_kept,
        engine::a_worker_under_an_old_name_keeps_the_jobs_of_the_dead_one,
        engine::an_idle_worker_looks_for_jobs_with_each_heartbeat,
        engine::an_idle_worker_with_an_interval_may_sleep_for_ever,
        engine::a_worker_ends_if_it_loses_the_database,
        engine::a_worker_that_hangs_loses_its_job_and_both_run_it,
        engine::a_worker_with_jobs_in_stock_sends_no_heartbeats;
    [] => page::shows_the_code_of_the_example;
}
