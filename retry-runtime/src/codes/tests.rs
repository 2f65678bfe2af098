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
fn pgbouncer_says_by_its_text_that_nothing_ran() {
    for text in [
        "query_wait_timeout",
        "no more connections allowed (max_client_conn)",
        "client connections exceeded (max_user_client_connections)",
        "server login has been failing, try again later (server_login_retry)",
        "server login has been failing, cached error: connect failed (server_login_retry)",
        "client_login_timeout (server down)",
        "pgbouncer cannot connect to server",
        "server shutting down",
        "pooler is shutting down",
    ] {
        assert_eq!(sqlstate_error("08P01", text), Verdict::Refused, "{text}");
        assert_eq!(sqlstate_error("42601", text), Verdict::Permanent, "{text}");
    }
    for text in ["", "no such user", "server conn crashed?", "query_timeout"] {
        assert_eq!(sqlstate_error("08P01", text), Verdict::Unknown, "{text}");
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

#[test]
fn some_texts_of_redis_say_more_than_the_code() {
    for (line, verdict) in [
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
