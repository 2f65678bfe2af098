//! A program of its own, because its tests stop their process. It starts itself as the process of the servers that go on.

mod calls;

use std::process::ExitCode;

use integrations::{postgres, redis};

fn main() -> ExitCode {
    if std::env::args().nth(1).as_deref() == Some(calls::SERVE) {
        calls::serve();
        return ExitCode::SUCCESS;
    }
    suite::main()
}

mod suite {
    use super::{calls, postgres, redis};

    integrations::tests! {
        [] =>
            calls::an_http_answer_that_came_while_the_runtime_was_blocked_counts,
            calls::an_http_answer_that_came_while_the_process_was_stopped_counts,
            calls::a_grpc_answer_that_came_while_the_runtime_was_blocked_counts,
            calls::a_grpc_answer_that_came_while_the_process_was_stopped_counts;
        [postgres::PROGRAM] =>
            calls::an_answer_of_postgres_that_came_while_the_runtime_was_blocked_counts,
            calls::an_answer_of_postgres_that_came_while_the_process_was_stopped_counts;
        [redis::PROGRAM] =>
            calls::an_answer_of_redis_that_came_while_the_runtime_was_blocked_counts,
            calls::an_answer_of_redis_that_came_while_the_process_was_stopped_counts;
    }
}
