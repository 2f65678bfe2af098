use std::time::UNIX_EPOCH;

use super::*;

/// Sun, 06 Nov 1994 08:49:37 GMT, the instant of RFC 9110's examples.
fn now() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(784_111_777)
}

fn headers(values: &[&[u8]]) -> HeaderMap {
    let values = values
        .iter()
        .map(|value| (RETRY_AFTER, HeaderValue::from_bytes(value).unwrap()));
    // `collect` would keep only the last value of a name.
    let mut headers = HeaderMap::new();
    for (name, value) in values {
        headers.append(name, value);
    }
    headers
}

fn read(values: &[&[u8]]) -> Option<Duration> {
    retry_after_at(&headers(values), now)
}

#[expect(clippy::unnecessary_wraps, reason = "as the table has it")]
const fn seconds(seconds: u64) -> Option<Duration> {
    Some(Duration::from_secs(seconds))
}

#[test]
fn retry_after_is_read_or_left() {
    let table: &[(&[u8], Option<Duration>)] = &[
        // Seconds.
        (b"0", seconds(0)),
        (b"1", seconds(1)),
        (b"120", seconds(120)),
        (b"007", seconds(7)),
        (b" 3", seconds(3)),
        (b"3 \t", seconds(3)),
        (b"86400", seconds(86_400)),
        (b"4294967296", seconds(1 << 32)),
        (b"99999999999", seconds(99_999_999_999)),
        (b"1000000000000000000", seconds(1_000_000_000_000_000_000)),
        (b"18446744073709551615", seconds(u64::MAX)),
        (b"18446744073709551616", seconds(u64::MAX)),
        (
            b"99999999999999999999999999999999999999999",
            seconds(u64::MAX),
        ),
        // With a fraction, rounded up.
        (b"1.0", seconds(1)),
        (b"1.5", seconds(2)),
        (b"29.997", seconds(30)),
        (b"300.000", seconds(300)),
        (b"0.0000000000000000000000000001", seconds(1)),
        (b"18446744073709551615.5", seconds(u64::MAX)),
        // Not quite seconds.
        (b"-1", None),
        (b"-0", None),
        (b"+5", None),
        (b".5", None),
        (b"1.", None),
        (b".", None),
        (b"1.5.0", None),
        (b"1.+5", None),
        (b"-1.5", None),
        (b"1e18", None),
        (b"0x10", None),
        (b"1_000", None),
        (b"1,000", None),
        (b"1 2", None),
        (b"5s", None),
        (b"5 seconds", None),
        (b"PT5S", None),
        (b"\"5\"", None),
        (b"5;", None),
        (b"120, 240", None),
        (b"inf", None),
        (b"NaN", None),
        ("\u{0665}".as_bytes(), None),
        ("\u{ff15}".as_bytes(), None),
        ("5\u{a0}".as_bytes(), None),
        // Nothing to read.
        (b"", None),
        (b" ", None),
        (b"\t", None),
        (b"soon", None),
        (b"null", None),
        (b"\xff\xfe", None),
        ("in f\u{fc}nf Minuten".as_bytes(), None),
    ];
    assert_read(table);
}

fn assert_read(table: &[(&[u8], Option<Duration>)]) {
    for (value, expected) in table {
        assert_eq!(
            read(&[value]),
            *expected,
            "{}",
            String::from_utf8_lossy(value)
        );
    }
}

#[test]
fn a_date_is_read_in_any_form_that_a_server_may_send() {
    assert_read(&[
        // Dates: now, in a minute, in two hours; in all three forms.
        (b"Sun, 06 Nov 1994 08:49:37 GMT", seconds(0)),
        (b"Sun, 06 Nov 1994 08:50:37 GMT", seconds(60)),
        (b"  Sun, 06 Nov 1994 08:50:37 GMT ", seconds(60)),
        (b"Sunday, 06-Nov-94 08:50:37 GMT", seconds(60)),
        (b"Sun Nov  6 08:50:37 1994", seconds(60)),
        (b"Sun, 06 Nov 1994 10:49:37 GMT", seconds(7_200)),
        // In the past, and far away.
        (b"Sun, 06 Nov 1994 08:49:36 GMT", seconds(0)),
        (b"Thu, 01 Jan 1970 00:00:00 GMT", seconds(0)),
        (b"Sun, 06 Nov 1904 08:49:37 GMT", None),
        (
            b"Fri, 31 Dec 9999 23:59:59 GMT",
            seconds(253_402_300_799 - 784_111_777),
        ),
        (b"Sat, 01 Jan 10000 00:00:00 GMT", None),
        // As mail has dates (RFC 5322), which recipients are encouraged to read.
        (b"Mon, 06 Nov 1994 08:50:37 GMT", seconds(60)),
        (b"06 Nov 1994 08:50:37 GMT", seconds(60)),
        (b"Sun, 6 Nov 1994 08:50:37 GMT", seconds(60)),
        (b"Sun,  6 Nov 1994 08:50:37 GMT", seconds(60)),
        (b"Sun,06 Nov 1994 08:50:37 GMT", seconds(60)),
        (b"Sun, 06 Nov 1994 08:50:37 UTC", seconds(60)),
        (b"Sun, 06 Nov 1994 08:50:37 UT", seconds(60)),
        (b"Sun, 06 Nov 1994 08:50:37 Z", seconds(60)),
        (b"Sun, 06 Nov 1994 08:50:37 +0000", seconds(60)),
        (b"Sun, 06 Nov 1994 08:50:37 -0000", seconds(60)),
        (b"Sun, 06 Nov 1994 10:50:37 +0200", seconds(60)),
        (b"Sun, 06 Nov 1994 03:20:37 -0530", seconds(60)),
        (b"Sun, 06 Nov 1994 08:50 GMT", seconds(23)),
        (b"Sun, 06 Nov 94 08:50:37 GMT", seconds(60)),
        // Of the obsolete forms, with other weekdays, days and zones.
        (b"Monday, 06-Nov-94 08:50:37 GMT", seconds(60)),
        (b"Sun, 6-Nov-94 08:50:37 UTC", seconds(60)),
        (b"Sun, 06-Nov-1994 08:50:37 GMT", seconds(60)),
        (b"Mon Nov 06 08:50:37 1994", seconds(60)),
        (b"Nov  6 08:50:37 1994", seconds(60)),
        // Two digits of a year are in the next fifty years, else in the past.
        (b"Sunday, 06-Nov-43 08:49:37 GMT", seconds(1_546_300_800)),
        (b"Sunday, 06-Nov-95 08:49:37 GMT", seconds(31_536_000)),
        (b"Sunday, 06-Nov-93 08:49:37 GMT", seconds(0)),
        // Not quite dates.
        (b"Sun, 06 Nov 1994 08:50:37", None),
        (b"Sun, 06 Nov 1994 08:50:37 EST", None),
        (b"Sun, 06 Nov 1994 08:50:37 +2", None),
        (b"Sun, 06 Nov 1994 08:50:37 +0070", None),
        (b"Sun, 06 Nov 1994 08:50:37 +9900", None),
        (b"Sun, 06 Nov 994 08:50:37 GMT", None),
        (b"Sun, 06 Nov 11994 08:50:37 GMT", None),
        (b"Sun, 006 Nov 1994 08:50:37 GMT", None),
        (b"Sun, 00 Nov 1994 08:50:37 GMT", None),
        (b"Sun, 06 Nov 1994 8:50:37 GMT", None),
        (b"Sun, 06 Nox 1994 08:50:37 GMT", None),
        (b"Soon, 06 Nov 1994 08:50:37 GMT", None),
        (b"Sun, 31 Feb 1994 08:50:37 GMT", None),
        (b"Sun, 06 Nov 1994 25:50:37 GMT", None),
        (b"1994-11-06T08:50:37Z", None),
    ]);
}

#[test]
fn of_two_headers_the_longer_delay_counts_and_junk_does_not() {
    assert_eq!(read(&[b"1", b"120"]), seconds(120));
    assert_eq!(read(&[b"120", b"1"]), seconds(120));
    assert_eq!(read(&[b"1", b"Sun, 06 Nov 1994 08:50:37 GMT"]), seconds(60));
    assert_eq!(read(&[b"junk", b"7"]), seconds(7));
    assert_eq!(read(&[b"junk", b"-1"]), None);
    assert_eq!(read(&[]), None);
}

#[test]
fn a_date_is_relative_to_the_response_s_own_date() {
    let mut headers = headers(&[b"Sun, 06 Nov 1994 08:50:37 GMT"]);
    let wrong_clock = || UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    assert_eq!(retry_after_at(&headers, wrong_clock), seconds(0));
    headers.insert(
        DATE,
        HeaderValue::from_static("Sun, 06 Nov 1994 08:50:07 GMT"),
    );
    assert_eq!(retry_after_at(&headers, wrong_clock), seconds(30));
    headers.insert(DATE, HeaderValue::from_static("junk"));
    assert_eq!(retry_after_at(&headers, now), seconds(60));
}

#[test]
fn a_clock_before_1970_is_harmless() {
    let early = || UNIX_EPOCH - Duration::from_secs(1);
    let headers = headers(&[b"Thu, 01 Jan 1970 00:00:00 GMT"]);
    assert_eq!(retry_after_at(&headers, early), seconds(1));
}

#[test]
fn only_failures_become_errors() {
    for number in 100..1000 {
        let status = StatusCode::from_u16(number).unwrap();
        let mut response = Response::new("body");
        *response.status_mut() = status;
        *response.headers_mut() = headers(&[b"2"]);
        let retryable = is_retryable(&response);
        match check(response) {
            Ok(response) => {
                assert!(!(400..600).contains(&number), "{status}");
                assert_eq!((response.status(), *response.body()), (status, "body"));
                assert!(!retryable);
            }
            Err(error) => {
                assert!((400..600).contains(&number), "{status}");
                assert_eq!((error.status(), error.retry_after()), (status, seconds(2)));
                assert_eq!(error.verdict().is_retryable(), retryable);
                assert_eq!(error.hint(), seconds(2));
                assert!(
                    error
                        .to_string()
                        .starts_with(&format!("the server answered {number}"))
                );
            }
        }
    }
}

/// 413: RFC 9110, 15.5.14. 403: the secondary rate limits of GitHub. 409 and 423: what is in the way now is gone then.
#[test]
fn a_request_that_is_wrong_only_now_may_be_repeated_if_the_server_says_when() {
    for (number, verdict) in [
        (403, Verdict::Throttled),
        (409, Verdict::Throttled),
        (413, Verdict::Throttled),
        (423, Verdict::Throttled),
        (421, Verdict::Refused),
        (404, Verdict::Permanent),
        (503, Verdict::Transient),
    ] {
        let status = StatusCode::from_u16(number).unwrap();
        let plain = StatusError::from_parts(status, &headers(&[])).unwrap();
        let hinted = StatusError::from_parts(status, &headers(&[b"7"])).unwrap();
        assert_eq!(plain.verdict(), codes::http_status(number), "{number}");
        assert_eq!((hinted.verdict(), hinted.hint()), (verdict, seconds(7)));
        let ran = matches!(number, 503);
        assert_eq!(plain.may_have_run(), ran, "{number}");
        assert_eq!(plain.with_retry_after(Duration::from_secs(7)), hinted);
    }
}

#[test]
fn a_server_may_say_that_it_keeps_its_answer_or_did_not_run_the_request() {
    let error = |number, replayed| {
        let mut headers = headers(&[b"7"]);
        headers.insert("idempotent-replayed", HeaderValue::from_static(replayed));
        let status = StatusCode::from_u16(number).unwrap();
        StatusError::from_parts(status, &headers).unwrap()
    };
    for number in [409, 429, 500, 503] {
        let [kept, fresh] = ["true", "false"].map(|replayed| error(number, replayed));
        assert_eq!(kept.verdict(), Verdict::Permanent, "{number}");
        assert!(kept.may_have_run(), "{number}");
        assert!(fresh.verdict().is_retryable(), "{number}");
        let refused = fresh.refused();
        assert_eq!(
            (refused.verdict(), refused.hint()),
            (Verdict::Refused, seconds(7))
        );
    }
}

#[test]
fn the_server_may_say_whether_to_retry() {
    for (number, word, verdict) in [
        (503, "false", Verdict::Permanent),
        (429, "false", Verdict::Permanent),
        (503, "maybe", Verdict::Transient),
        (400, "true", Verdict::Transient),
        (500, "true", Verdict::Transient),
        (429, "true", Verdict::Throttled),
        (421, "true", Verdict::Refused),
        (404, "maybe", Verdict::Permanent),
    ] {
        for name in SHOULD_RETRY {
            let status = StatusCode::from_u16(number).unwrap();
            let headers = HeaderMap::from_iter([(name, HeaderValue::from_static(word))]);
            let error = StatusError::from_parts(status, &headers).unwrap();
            assert_eq!(error.verdict(), verdict, "{number} {word}");
        }
    }
}

#[test]
fn any_bytes_are_harmless() {
    use proptest::prelude::*;
    proptest!(|(values in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..4))| {
        let mut headers = HeaderMap::new();
        for value in values {
            if let Ok(value) = HeaderValue::from_bytes(&value) {
                headers.append(RETRY_AFTER, value.clone());
                headers.append(DATE, value);
            }
        }
        let _: Option<Duration> = retry_after(&headers);
    });
}
