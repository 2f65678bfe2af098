use proptest::prelude::*;

use super::*;
use crate::classify::Verdict;

#[test]
fn every_status_has_its_verdict() {
    for status in -1..1100 {
        let verdict = match status {
            421 | 425 => Verdict::Refused,
            429 | 529 => Verdict::Throttled,
            408 | 500 | 502 | 503 | 504 | 520 | 521 | 522 | 523 | 524 | 527 => Verdict::Transient,
            400..=499 | 501 | 505 | 506 | 507 | 508 | 510 | 511 | 525 | 526 => Verdict::Permanent,
            _ => Verdict::Unknown,
        };
        assert_eq!(http_status(status), verdict, "{status}");
    }
}

#[test]
fn every_code_of_grpc_has_its_verdict() {
    for code in -1..100 {
        let verdict = match code {
            4 | 14 => Verdict::Transient,
            10 => Verdict::Conflict,
            3 | 5 | 6 | 7 | 9 | 11 | 12 | 15 | 16 => Verdict::Permanent,
            _ => Verdict::Unknown,
        };
        assert_eq!(grpc(code), verdict, "{code}");
    }
}

#[test]
fn every_sqlstate_has_its_verdict() {
    let transient = "25P03 55006 57P01 57P02 57P05 58000 58030 72000 08000 08006 08S01";
    let unknown =
        "08007 08P01 25006 25P04 26000 40003 42P05 57000 57014 58P01 HV000 HY000 XX000 XX001";
    // Unique violation, syntax error, wrong password, no such database, failed transaction,
    // a constraint at commit, too complex, not in the state that is needed, dropped database.
    let permanent = "23505 42601 28P01 3D000 25P02 40002 54001 55000 57P04";
    let no_database_sends = "0 40 4000 400011 ZZ000 \u{e9}\u{e9}\u{e9} 99999 00000 01000";
    for (verdict, codes) in [
        (Verdict::Transient, transient),
        (Verdict::Conflict, "40000 40001 40P01 55P03"),
        (Verdict::Throttled, "53000 53100 53200 53400 HV001"),
        (Verdict::Refused, "53300 57P03 08001 08003 08004 HV00N"),
        (Verdict::Unknown, unknown),
        (Verdict::Permanent, permanent),
        (Verdict::Unknown, no_database_sends),
    ] {
        for code in codes.split_whitespace() {
            assert_eq!(sqlstate(code), verdict, "{code}");
        }
    }
    assert_eq!(sqlstate(""), Verdict::Unknown);
}

#[test]
fn every_number_of_mysql_has_its_verdict() {
    let table = [
        (
            Verdict::Conflict,
            &[
                1020, 1150, 1205, 1213, 1412, 1613, 1614, 1689, 3058, 3101, 3132, 3133, 3177, 3547,
                3572, 3946, 3947, 4060, 8002, 8005, 8022, 8028, 9004, 9007,
            ][..],
        ),
        (
            Verdict::Transient,
            &[
                1053, 1297, 1378, 1429, 1587, 1924, 1927, 3169, 3193, 3197, 3549, 3656, 4031, 4050,
                8027, 8055, 9001, 9002, 9005, 9006, 9010, 9012,
            ],
        ),
        (
            Verdict::Refused,
            &[
                1040, 1042, 1043, 1047, 1135, 1203, 1226, 1615, 1836, 1874, 1963, 3032, 3166, 3168,
                3633, 3634, 3781, 3782, 3783, 3796, 3797, 3798, 3799, 3804, 3874, 4080, 4085, 4094,
                8113, 8120,
            ],
        ),
        (
            Verdict::Throttled,
            &[
                1021, 1037, 1041, 1151, 1206, 1257, 1461, 1637, 3015, 3044, 3675, 3884, 3950, 3985,
                4081, 8252, 9003, 9008, 9013,
            ],
        ),
        (
            Verdict::Permanent,
            &[
                1129, 1130, 1153, 1251, 1820, 1862, 3068, 3118, 3159, 3955, 4150, 4151,
            ],
        ),
    ];
    for number in -1..10_000 {
        let row = table.iter().find(|(_, numbers)| numbers.contains(&number));
        let verdict = row.map_or(Verdict::Unknown, |(verdict, _)| *verdict);
        assert_eq!(mysql(number), verdict, "{number}");
    }
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
fn every_code_of_redis_has_its_verdict_alone_and_in_its_line() {
    let refused =
        "LOADING MASTERDOWN NOMASTERLINK CLUSTERDOWN BUSY NOREPLICAS READONLY INPROG NOGOODSLAVE";
    let permanent = "MOVED ASK REDIRECT CROSSSLOT NOAUTH WRONGPASS NOPERM DENIED NOPROTO ERR WRONGTYPE NOSCRIPT \
                     NOTBUSY UNKILLABLE NOSUB BUSYKEY BUSYGROUP NOGROUP INVALIDOBJ EXECABORT";
    let unknown = "OOM MISCONF UNBLOCKED NOQUORUM MYMODULE loading";
    assert_eq!(redis(""), Verdict::Unknown);
    assert_eq!(redis("- and a text"), Verdict::Unknown);
    for (verdict, codes) in [
        (Verdict::Refused, refused),
        (Verdict::Conflict, "TRYAGAIN"),
        (Verdict::Transient, "IOERR"),
        (Verdict::Permanent, permanent),
        (Verdict::Unknown, unknown),
    ] {
        for code in codes.split_whitespace() {
            for line in [code.to_owned(), format!("-{code} and a text")] {
                assert_eq!(redis(&line), verdict, "{line}");
            }
        }
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
fn every_code_of_sqlite_has_its_verdict() {
    for code in 0..256 {
        let verdict = match code {
            5 | 6 => Verdict::Conflict,
            15 | 17 => Verdict::Transient,
            1 | 3 | 8 | 11..=14 | 18..=26 => Verdict::Permanent,
            _ => Verdict::Unknown,
        };
        for extension in [0, 1, 2, 34, 100] {
            let extended = code + (extension << 8);
            assert_eq!(sqlite(extended), verdict, "{extended}");
        }
    }
    // -251 has the lowest byte of BUSY.
    assert_eq!(sqlite(-251), Verdict::Unknown);
}

#[test]
fn every_code_of_aws_has_its_verdict() {
    let throttled = "Throttling ThrottlingException ThrottledException RequestThrottled RequestThrottledException \
                     TooManyRequestsException ProvisionedThroughputExceededException \
                     TransactionInProgressException RequestLimitExceeded BandwidthLimitExceeded \
                     LimitExceededException SlowDown PriorRequestNotComplete EC2ThrottledException \
                     KmsThrottled KMSThrottlingException";
    let transient = "RequestTimeout RequestTimeoutException InternalError InternalFailure InternalServerError \
                     InternalServerException ServiceUnavailable ServiceUnavailableException \
                     IDPCommunicationError";
    let conflict = "TransactionConflictException ReplicatedWriteConflictException OperationAborted \
                    ConditionalRequestConflict";
    let unknown =
        "ValidationException AccessDeniedException ResourceNotFoundException throttling Throttl";
    for (verdict, codes) in [
        (Verdict::Throttled, throttled),
        (Verdict::Transient, transient),
        (Verdict::Conflict, conflict),
        (Verdict::Unknown, unknown),
    ] {
        for code in codes.split_whitespace() {
            assert_eq!(aws(code), verdict, "{code}");
            // As the JSON protocols write it.
            let dressed = format!("com.amazonaws.dynamodb.v20120810#{code}:http://internal/");
            assert_eq!(aws(&dressed), verdict, "{dressed}");
        }
    }
    for odd in ["", "#", ":", "SlowDown#", ":SlowDown", "#:#"] {
        assert_eq!(aws(odd), Verdict::Unknown, "{odd}");
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
