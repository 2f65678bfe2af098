//! A program of its own, because its tests stop their process.

mod calls;

use integrations::{postgres, redis};

integrations::tests! {
    [] =>
        calls::an_http_answer_that_came_while_the_runtime_was_blocked_counts,
        calls::a_grpc_answer_that_came_while_the_runtime_was_blocked_counts;
    [postgres::PROGRAM] =>
        calls::an_answer_of_postgres_that_came_while_the_process_was_stopped_counts;
    [redis::PROGRAM] =>
        calls::an_answer_of_redis_that_came_while_the_process_was_stopped_counts;
}
