//! What the table of `docs/CLASSIFICATION.md` does not say. `tests/integrations/tests/classification.rs` compares it with each code.

use proptest::prelude::*;

use super::*;
use crate::classify::Verdict;

#[test]
fn a_code_has_its_verdict_however_it_is_written() {
    for code in ["BUSY", "TRYAGAIN", "IOERR", "ERR", "OOM"] {
        let line = format!("-{code} and a text");
        assert_eq!(redis(&line), redis(code), "{line}");
    }
    // As the JSON protocols of AWS write it.
    for code in ["SlowDown", "InternalError", "OperationAborted", "Throttl"] {
        let dressed = format!("com.amazonaws.dynamodb.v20120810#{code}:http://internal/");
        assert_eq!(aws(&dressed), aws(code), "{dressed}");
    }
    for code in 0..256 {
        for extension in [1, 2, 34, 100] {
            let extended = code + (extension << 8);
            assert_eq!(sqlite(extended), sqlite(code), "{extended}");
        }
    }
}

#[test]
fn what_is_no_code_is_unknown() {
    for odd in ["", "#", ":", "SlowDown#", ":SlowDown", "#:#", "throttling"] {
        assert_eq!(aws(odd), Verdict::Unknown, "{odd}");
    }
    for odd in ["", "- and a text", "MYMODULE", "loading"] {
        assert_eq!(redis(odd), Verdict::Unknown, "{odd}");
    }
    // -251 has the lowest byte of BUSY.
    assert_eq!(sqlite(-251), Verdict::Unknown);
}

#[test]
fn a_pooler_says_by_its_text_that_nothing_ran() {
    for (code, text) in [
        ("08P01", "query_wait_timeout"),
        ("08P01", "no more connections allowed (max_client_conn)"),
        (
            "08P01",
            "client connections exceeded (max_user_client_connections)",
        ),
        (
            "08P01",
            "server login has been failing, try again later (server_login_retry)",
        ),
        (
            "08P01",
            "server login has been failing, cached error: connect failed (server_login_retry)",
        ),
        ("08P01", "client_login_timeout (server down)"),
        ("08P01", "pgbouncer cannot connect to server"),
        ("08P01", "server shutting down"),
        ("08P01", "pooler is shutting down"),
        ("XX000", "Max client connections reached"),
        ("XX000", "Max pools count reached"),
        (
            "XX000",
            "MaxClientsInSessionMode: max clients reached - in Session mode max clients are limited to pool_size",
        ),
        (
            "XX000",
            "Unable to check out process from the pool due to timeout",
        ),
        (
            "XX000",
            "(EMAXCONN) max client connections reached, limit: 200",
        ),
        (
            "XX000",
            "(EMAXCONNSESSION) max clients reached in session mode - max clients are limited to pool_size: 15",
        ),
        ("XX000", "(EMAXPOOLSREACHED) max pools count reached"),
        (
            "XX000",
            "(ECHECKOUTTIMEOUT) unable to check out connection from the pool after 60000ms in Transaction mode",
        ),
        (
            "XX000",
            "(ECIRCUITBREAKER) too many failed attempts to connect to the database, new connections are temporarily blocked",
        ),
        ("XX000", "EMAXCLIENTSESSION"),
        (
            "58000",
            "could not get connection from the pool - AllServersDown",
        ),
        (
            "58000",
            "Pool down for database: \"shop\", user: \"worker\"",
        ),
        ("08006", "failed to connect to remote server s2d4f6a8b9c01"),
        ("08006", "Failed to connect to database: :econnrefused"),
        ("08000", "Timed-out waiting to acquire database connection."),
    ] {
        assert_eq!(sqlstate_error(code, text), Verdict::Refused, "{text}");
        assert_eq!(sqlstate_error("42601", text), Verdict::Permanent, "{text}");
    }
    for (code, text) in [
        ("08P01", ""),
        ("08P01", "no such user"),
        ("08P01", "server conn crashed?"),
        ("08P01", "query_timeout"),
        (
            "XX000",
            "(ECIRCUITBREAKER) too many authentication failures, new connections are temporarily blocked",
        ),
        (
            "XX000",
            "(EDBHANDLEREXITED) DbHandler exited. Check logs for more information",
        ),
        ("XX000", "Tenant or user not found"),
        // These poolers may have lost the server in the middle of a `COMMIT`.
        ("58000", "error receiving data from server: SocketError"),
        ("58000", "pool statement timeout"),
        (
            "08006",
            "remote server read/write error s2d4f6a8b9c01: Connection reset by peer",
        ),
    ] {
        assert_eq!(sqlstate_error(code, text), Verdict::Unknown, "{text}");
    }
}

#[test]
fn what_another_session_caused_is_a_conflict() {
    for (code, text) in [
        (
            "23505",
            "duplicate key value violates unique constraint \"pg_type_typname_nsp_index\"",
        ),
        (
            "23505",
            "doppelter Schlüsselwert verletzt Unique-Constraint »pg_authid_rolname_index«",
        ),
        ("XX000", "tuple concurrently updated"),
        ("XX000", "could not open relation with OID 16384"),
        ("XX000", "cache lookup failed for function 16385"),
        ("XX000", "1023"),
        (
            "XX000",
            "could not complete because of conflict with concurrent transaction",
        ),
    ] {
        assert_eq!(sqlstate_error(code, text), Verdict::Conflict, "{text}");
    }
    for (code, text, verdict) in [
        (
            "23505",
            "duplicate key value violates unique constraint \"page_pg_index\"",
            Verdict::Permanent,
        ),
        (
            "42P07",
            "relation \"pg_x_index\" already exists",
            Verdict::Permanent,
        ),
        ("XX000", "unexpected chunk number 1023", Verdict::Unknown),
    ] {
        assert_eq!(sqlstate_error(code, text), verdict, "{text}");
    }
}

#[test]
fn the_text_of_an_unknown_error_of_mysql_may_have_a_verdict() {
    for (text, verdict) in [
        (
            "The last transaction was aborted due to an unknown error. Please retry.",
            Verdict::Transient,
        ),
        (
            "target: shop.-.primary: primary is not serving, there is a reparent operation in progress",
            Verdict::Transient,
        ),
        (
            "target: shop.0.primary: vttablet: rpc error: code = Unavailable desc = connection error: desc = \"transport: Error \
             while dialing dial tcp 10.244.0.37:15999: connect: connection refused\"",
            Verdict::Transient,
        ),
        (
            "VT14003: no connection for tablet zone1-100",
            Verdict::Transient,
        ),
        ("VT14004: cannot find keyspace for: shop", Verdict::Unknown),
        ("VT13001: [BUG] what is this", Verdict::Unknown),
        ("", Verdict::Unknown),
    ] {
        assert_eq!(mysql_error(1105, text), verdict, "{text}");
        assert_eq!(mysql_error(1815, text), verdict, "{text}");
        assert_eq!(mysql_error(1064, text), Verdict::Unknown, "{text}");
        assert_eq!(mysql_error(1213, text), Verdict::Conflict, "{text}");
    }
}

/// As `MaxScale` writes it, whose number is also that of another failure.
#[test]
fn a_proxy_of_mysql_that_lost_the_server_is_unknown() {
    let lost =
        "Lost connection to backend server: network error (server1: 104, Connection reset by peer)";
    for number in [1927, 2003, 2006, 2013] {
        assert_eq!(mysql_error(number, lost), Verdict::Unknown, "{number}");
    }
    let killed = mysql_error(1927, "Connection was killed");
    assert_eq!(killed, Verdict::Transient);
    let unreached = mysql_error(2003, "Can't connect to remote MySQL server");
    assert_eq!(unreached, Verdict::Refused);
}

#[test]
fn a_canceled_transaction_of_dynamodb_has_the_verdict_of_its_worst_reason() {
    for (reasons, verdict) in [
        ("TransactionConflict", Verdict::Conflict),
        ("None, TransactionConflict, None", Verdict::Conflict),
        ("TransactionConflict, ThrottlingError", Verdict::Throttled),
        ("ProvisionedThroughputExceeded, None", Verdict::Throttled),
        // The condition fails in each attempt, so the status decides.
        (
            "TransactionConflict, ConditionalCheckFailed",
            Verdict::Unknown,
        ),
        ("ValidationError", Verdict::Unknown),
        ("None", Verdict::Unknown),
        ("", Verdict::Unknown),
    ] {
        let text = format!(
            "Transaction cancelled, please refer cancellation reasons for specific reasons [{reasons}]"
        );
        assert_eq!(aws(&text), verdict, "{text}");
        let cut = text.trim_end_matches(']');
        assert_eq!(aws(cut), verdict, "{cut}");
    }
}

#[test]
fn some_texts_of_redis_say_more_than_the_code() {
    for (line, verdict) in [
        ("no upstream host", Verdict::Refused),
        ("upstream failure", Verdict::Transient),
        ("no such thing", Verdict::Unknown),
        ("upstream protocol error", Verdict::Unknown),
        ("ERR max number of clients reached", Verdict::Refused),
        (
            "ERR max number of clients + cluster connections reached",
            Verdict::Refused,
        ),
        (
            "ERR Error running script (call to f_1): @user_script:1: -READONLY You can't write.",
            Verdict::Refused,
        ),
        (
            "EXECABORT Transaction discarded because of previous errors.",
            Verdict::Permanent,
        ),
        (
            "EXECABORT Transaction discarded because of: READONLY You can't write.",
            Verdict::Refused,
        ),
        (
            "EXECABORT Transaction discarded because of: OOM command not allowed",
            Verdict::Unknown,
        ),
        (
            "UNBLOCKED force unblock from blocking operation, instance state changed",
            Verdict::Refused,
        ),
        (
            "UNBLOCKED client unblocked via CLIENT UNBLOCK",
            Verdict::Unknown,
        ),
    ] {
        assert_eq!(redis(line), verdict, "{line}");
    }
}

#[test]
fn a_number_may_have_any_type_and_one_that_is_too_large_is_unknown() {
    assert_eq!(http_status(503_u16), Verdict::Transient);
    let field = &503_u64;
    assert_eq!(http_status(field), Verdict::Transient);
    assert_eq!(http_status(503_i128), Verdict::Transient);
    assert_eq!(grpc(14_u8), Verdict::Transient);
    // The lowest bits of these are 503 and 14.
    assert_eq!(http_status((1_u64 << 32) + 503), Verdict::Unknown);
    assert_eq!(grpc((1_u128 << 64) + 14), Verdict::Unknown);
}

#[test]
fn any_number_is_harmless_and_only_listed_ones_are_retried() {
    let statuses = [
        408, 421, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 527, 529,
    ];
    proptest!(|(number: i64)| {
        let listed = |codes: &[i64]| codes.contains(&number);
        prop_assert_eq!(http_status(number).is_retryable(), listed(&statuses));
        prop_assert_eq!(grpc(number).is_retryable(), listed(&[4, 10, 14]));
        let primary = i32::try_from(number).ok().filter(|code| *code >= 0).map(|code| code & 0xff);
        let busy = primary.is_some_and(|primary| [5, 6, 15, 17].contains(&primary));
        prop_assert_eq!(sqlite(number).is_retryable(), busy);
        prop_assert!((1_000..10_000).contains(&number) || mysql(number) == Verdict::Unknown);
    });
}

#[test]
fn any_text_is_harmless_and_only_listed_sqlstates_are_retried() {
    let listed = [
        "25P03", "40000", "40001", "40P01", "55006", "55P03", "57P01", "57P02", "57P03", "57P05",
        "58000", "58030", "72000", "08000", "08001", "08003", "08004", "08006", "08S01", "53000",
        "53100", "53200", "53300", "53400", "HV001", "HV00N",
    ];
    proptest!(|(code in "\\PC{0,6}|[0-9A-Z]{5}")| {
        prop_assert_eq!(sqlstate(&code).is_retryable(), listed.contains(&code.as_str()));
    });
}
