use proptest::prelude::*;

use super::*;

#[test]
fn durations_are_read_exactly() {
    for (text, nanos) in [
        ("1s", 1_000_000_000),
        ("1.5s", 1_500_000_000),
        ("1.50s", 1_500_000_000),
        ("500ms", 500_000_000),
        (" 500 ms ", 500_000_000),
        ("250 ms", 250_000_000),
        ("1m 30s", 90_000_000_000),
        ("1m30s", 90_000_000_000),
        ("1.5m", 90_000_000_000),
        ("0.00001h", 36_000_000),
        ("0.000000001s", 1),
        ("1us", 1_000),
        ("1µs", 1_000),
        ("1μs", 1_000),
        ("2 seconds", 2_000_000_000),
        ("1d", 86_400_000_000_000),
        ("24h", 86_400_000_000_000),
        ("86400s", 86_400_000_000_000),
        ("0s", 0),
        ("007s", 7_000_000_000),
    ] {
        assert_eq!(parse(text), Ok(Duration::from_nanos(nanos)), "{text}");
    }
}

#[test]
fn the_fault_is_the_one_that_was_most_likely_made() {
    use DurationFault as Is;
    for (text, fault) in [
        ("", Is::NoDuration),
        ("soon", Is::NoDuration),
        ("s", Is::NoDuration),
        ("+5s", Is::NoDuration),
        ("1s +5", Is::NoDuration),
        ("1 5s", Is::NoDuration),
        ("1h30", Is::NoDuration),
        ("1s1s", Is::NoDuration),
        (".5s", Is::NoDuration),
        ("1.s", Is::NoDuration),
        ("1..5s", Is::NoDuration),
        ("1.5.2s", Is::NoDuration),
        ("1_000ms", Is::NoDuration),
        ("PT5S", Is::NoDuration),
        ("1,s", Is::NoDuration),
        ("1,5s", Is::Comma("1.5s".to_owned())),
        ("1m 1,5s", Is::Comma("1m 1.5s".to_owned())),
        ("-5s", Is::Negative),
        ("1.5", Is::NoUnit("1.5")),
        ("5sx", Is::UnknownUnit("sx", Some("s"))),
        ("5MS", Is::UnknownUnit("MS", Some("ms"))),
        ("5M", Is::UnknownUnit("M", Some("m"))),
        ("1 month", Is::UnknownUnit("month", None)),
        ("2y", Is::UnknownUnit("y", None)),
    ] {
        assert_eq!(parse(text), Err(fault), "{text}");
    }
}

#[test]
fn numbers_beyond_all_bounds_are_refused() {
    for text in [
        "24h 1ns",
        "25h",
        "2d",
        "1w",
        "18446744073709551615s 999999999ns",
        "18446744073709551615s 1000000000ns",
        "99999999999999999999999999999999999999999999s",
        "18446744073709551615h",
    ] {
        assert_eq!(parse(text), Err(DurationFault::AboveLimit), "{text}");
    }
    for text in [
        "0.5ns",
        "0.0000000001s",
        "1.00000000000000000000000000000001s",
    ] {
        assert_eq!(parse(text), Err(DurationFault::NoDuration), "{text}");
    }
}

#[test]
fn the_human_form_is_read_back() {
    for (nanos, expected) in [
        (0, "0s"),
        (1, "1ns"),
        (90_000_000_000, "1m 30s"),
        (86_400_000_000_000, "24h"),
        (3_661_001_001_001, "1h 1m 1s 1ms 1us 1ns"),
    ] {
        let duration = Duration::from_nanos(nanos);
        assert_eq!(human(duration), expected);
        assert_eq!(parse(expected), Ok(duration));
    }
}

proptest! {
    #[test]
    fn the_human_form_of_any_duration_is_read_back(nanos in 0..=86_400_000_000_000_u64) {
        let duration = Duration::from_nanos(nanos);
        let text = human(duration);
        prop_assert_eq!(parse(&text), Ok(duration));
    }
}
