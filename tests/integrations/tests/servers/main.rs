//! Clients against real servers: one binary, so that it is linked once.

#![allow(
    clippy::duplicate_mod,
    reason = "one source for each version of a client, so that they cannot differ"
)]

mod broken_commits;
mod busy;
mod crash_points;
mod deadpool;
mod hot_rows;
mod left_out;
mod listen;
mod payment_service;
mod redis;
mod sea_orm;
mod sqlx;
mod sqlx_0_8;
mod tokio_postgres;
mod ways_to_commit;

use integrations::{mariadb, pgbouncer, postgres, redis as redis_server};

integrations::tests! {
    [] =>
        left_out::a_test_whose_server_is_missing_is_ignored_with_the_reason_and_fails_in_ci,
        busy::a_shared_connection_that_is_dead_is_replaced_if_its_client_pings,
        sea_orm::a_locked_file_is_waited_for_and_a_statement_that_is_wrong_is_not_retried,
        sqlx::sqlite::a_sqlite_file_that_is_locked_is_waited_for;
    [redis_server::PROGRAM] =>
        listen::a_lease_that_is_lost_ends_the_work_until_it_is_free,
        redis::a_server_that_is_killed_and_restarted_is_waited_for,
        redis::a_managed_connection_survives_a_restart,
        redis::a_command_that_blocks_needs_a_connection_without_a_response_timeout,
        redis::a_connection_that_was_lost_or_cannot_be_made_is_transient,
        redis::what_the_server_says_is_by_its_kind,
        redis::after_a_failover_a_new_connection_writes_and_an_old_one_does_not,
        redis::states_that_pass_are_waited_for,
        redis::what_may_have_run_is_not_refused,
        busy::a_blocking_command_holds_up_its_connection_and_no_other;
    [mariadb::PROGRAM] =>
        crash_points::no_client_of_mariadb_books_twice_wherever_the_answer_breaks,
        hot_rows::conflicts_in_mariadb_end_no_call,
        sqlx::version::a_conflict_in_mariadb_runs_the_whole_transaction_again,
        sqlx_0_8::version::a_conflict_in_mariadb_runs_the_whole_transaction_again,
        sqlx::version::a_mariadb_without_a_free_connection_refuses,
        sqlx_0_8::version::a_mariadb_without_a_free_connection_refuses,
        sqlx::version::what_mariadb_says_is_by_its_number,
        sqlx_0_8::version::what_mariadb_says_is_by_its_number;
    [mariadb::PROGRAM, postgres::PROGRAM] =>
        sqlx::version::a_session_that_is_cut_in_its_begin_loses_writes_unless_its_pool_ends_it,
        sqlx_0_8::version::a_session_that_is_cut_in_its_begin_loses_writes_unless_its_pool_ends_it,
        sqlx::version::a_lost_connection_is_unknown_and_transient_before_the_commit,
        sqlx_0_8::version::a_lost_connection_is_unknown_and_transient_before_the_commit;
    [pgbouncer::PROGRAM, postgres::PROGRAM] =>
        sea_orm::v2::version::a_session_that_a_pooler_ends_before_the_commit_is_transient,
        sea_orm::v1::version::a_session_that_a_pooler_ends_before_the_commit_is_transient,
        sqlx::version::a_pooler_that_has_no_server_for_a_session_refuses_it,
        sqlx_0_8::version::a_pooler_that_has_no_server_for_a_session_refuses_it,
        tokio_postgres::a_pooler_that_has_no_server_for_a_session_refuses_it;
    [postgres::PROGRAM] =>
        broken_commits::a_transfer_whose_commit_is_broken_after_any_byte_is_not_booked_twice,
        broken_commits::a_commit_is_repeated_if_that_does_no_harm,
        crash_points::no_client_of_postgres_books_twice_wherever_the_answer_breaks,
        deadpool::a_pool_without_a_free_connection_and_without_a_server_refuses,
        hot_rows::conflicts_in_postgres_end_no_call,
        listen::what_is_written_between_two_sessions_is_read,
        deadpool::an_error_of_ones_own_knows_whether_the_commit_was_sent,
        payment_service::a_payment_whose_answer_is_lost_ten_times_is_booked_once,
        payment_service::requests_with_one_key_at_the_same_time_are_one_payment,
        payment_service::a_key_of_another_order_and_no_key_are_refused,
        sea_orm::v2::version::a_conflict_in_postgres_is_retried_and_a_lost_commit_is_not,
        sea_orm::v1::version::a_conflict_in_postgres_is_retried_and_a_lost_commit_is_not,
        sqlx::version::a_connection_lost_during_commit_is_unknown_and_not_retried,
        sqlx_0_8::version::a_connection_lost_during_commit_is_unknown_and_not_retried,
        sqlx::version::a_timeout_during_commit_is_unknown_and_not_retried,
        sqlx_0_8::version::a_timeout_during_commit_is_unknown_and_not_retried,
        sqlx::version::a_deadlock_in_postgres_runs_the_whole_transaction_again,
        sqlx_0_8::version::a_deadlock_in_postgres_runs_the_whole_transaction_again,
        sqlx::version::a_pool_tries_to_connect_until_its_acquire_timeout_and_then_refuses,
        sqlx_0_8::version::a_pool_tries_to_connect_until_its_acquire_timeout_and_then_refuses,
        sqlx::version::an_error_of_postgres_is_by_its_sqlstate,
        sqlx_0_8::version::an_error_of_postgres_is_by_its_sqlstate,
        busy::a_cut_attempt_leaves_a_busy_connection_in_a_pool_that_does_not_test_it,
        busy::a_pool_that_tests_its_connections_in_time_gives_another_one,
        busy::the_pool_of_sqlx_gives_another_connection,
        sqlx::version::a_program_that_starts_waits_for_its_server_and_not_for_its_password,
        sqlx_0_8::version::a_program_that_starts_waits_for_its_server_and_not_for_its_password,
        sqlx::version::a_query_whose_connection_is_lost_is_retried_if_that_does_no_harm,
        sqlx_0_8::version::a_query_whose_connection_is_lost_is_retried_if_that_does_no_harm,
        sqlx::version::after_a_failover_a_new_connection_writes,
        sqlx_0_8::version::after_a_failover_a_new_connection_writes,
        sqlx::version::after_a_migration_a_new_connection_reads,
        sqlx_0_8::version::after_a_migration_a_new_connection_reads,
        tokio_postgres::a_locked_row_is_waited_for_unless_statement_timeout_is_below_the_timeout,
        tokio_postgres::a_program_that_starts_waits_for_its_server_and_not_for_its_database,
        tokio_postgres::a_serialization_failure_runs_the_whole_transaction_again,
        tokio_postgres::a_statement_alone_cannot_be_retried,
        tokio_postgres::a_session_that_is_terminated_in_the_middle_is_run_again,
        tokio_postgres::a_server_that_restarts_is_waited_for,
        tokio_postgres::a_session_terminated_during_commit_is_unknown_and_not_retried,
        tokio_postgres::a_commit_that_the_server_refuses_is_permanent,
        tokio_postgres::what_the_server_says_is_by_its_code,
        tokio_postgres::a_connection_that_cannot_be_made_is_refused,
        tokio_postgres::two_sessions_that_make_the_same_thing_at_once_have_a_conflict,
        ways_to_commit::no_way_to_commit_books_twice_but_those_that_the_guide_lists;
}
