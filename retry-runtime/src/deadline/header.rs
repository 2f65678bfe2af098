//! The time left, as the value of a header: text in, `Duration` out, and back.
//!
//! The `format_` functions round down, so the next service never assumes more time than is left. The `parse_` functions
//! return `None` for text of any other form, and saturate for values that are too large.

use std::time::Duration;

/// Writes the value of a `grpc-timeout` header: at most eight digits and a unit.
///
/// The unit is the finest in which the number fits: `n`, `u`, `m` (milliseconds), `S`, `M`, `H`. The format requires
/// a positive value, so a duration of zero is written as one nanosecond. The largest value is 99,999,999 hours.
/// Source: *gRPC over HTTP2*, `Timeout`, gRPC project.
///
/// # Examples
///
/// ```
/// # use reattempt_runtime as reattempt;
/// use reattempt::deadline::header::format_grpc_timeout;
/// use std::time::Duration;
///
/// assert_eq!(format_grpc_timeout(Duration::from_millis(1500)), "1500000u");
/// assert_eq!(format_grpc_timeout(Duration::from_secs(900)), "900000m");
/// assert_eq!(format_grpc_timeout(Duration::ZERO), "1n");
/// ```
#[must_use]
pub fn format_grpc_timeout(remaining: Duration) -> String {
    let nanos = remaining.as_nanos().max(1);
    let (count, unit) = UNITS
        .iter()
        .rev()
        .map(|(unit, length)| (nanos / length.as_nanos(), unit))
        .find(|(count, _)| *count <= MOST)
        .unwrap_or((MOST, &'H'));
    format!("{count}{unit}")
}

/// Reads the value of a `grpc-timeout` header. Returns `None` if it is not at most eight digits and a unit.
///
/// # Examples
///
/// ```
/// # use reattempt_runtime as reattempt;
/// use reattempt::deadline::header::parse_grpc_timeout;
/// use std::time::Duration;
///
/// assert_eq!(parse_grpc_timeout("1500m"), Some(Duration::from_millis(1500)));
/// assert_eq!(parse_grpc_timeout("2H"), Some(Duration::from_secs(7200)));
/// assert_eq!(parse_grpc_timeout("-1S"), None);
/// assert_eq!(parse_grpc_timeout("123456789n"), None); // nine digits
/// ```
#[must_use]
pub fn parse_grpc_timeout(value: &str) -> Option<Duration> {
    let value = value.trim_matches(BLANK);
    let unit = value.chars().next_back()?;
    let (_, length) = UNITS.iter().find(|(name, _)| *name == unit)?;
    let digits = &value[..value.len() - unit.len_utf8()];
    if digits.len() > 8 {
        return None;
    }
    // At most 99,999,999 hours, which a `Duration` holds.
    Some(length.saturating_mul(u32::try_from(number(digits)?).ok()?))
}

/// Writes the time left in whole milliseconds, for a header of your own.
///
/// # Examples
///
/// ```
/// # use reattempt_runtime as reattempt;
/// use reattempt::deadline::header::format_millis;
/// use std::time::Duration;
///
/// assert_eq!(format_millis(Duration::from_micros(1_999)), "1");
/// ```
#[must_use]
pub fn format_millis(remaining: Duration) -> String {
    remaining.as_millis().to_string()
}

/// Reads a number of milliseconds. Returns `None` if the value is anything but digits. A number above `u64::MAX` counts
/// as `u64::MAX`.
///
/// # Examples
///
/// ```
/// # use reattempt_runtime as reattempt;
/// use reattempt::deadline::header::parse_millis;
/// use std::time::Duration;
///
/// assert_eq!(parse_millis("250"), Some(Duration::from_millis(250)));
/// assert_eq!(parse_millis("1e18"), None);
/// assert_eq!(parse_millis("-5"), None);
/// ```
#[must_use]
pub fn parse_millis(value: &str) -> Option<Duration> {
    number(value.trim_matches(BLANK)).map(Duration::from_millis)
}

/// The blanks that may stand around the value of a header (RFC 9110, section 5.5).
const BLANK: [char; 2] = [' ', '\t'];

/// The largest number of eight digits.
const MOST: u128 = 99_999_999;

/// The units, from the longest to the shortest.
const UNITS: [(char, Duration); 6] = [
    ('H', Duration::from_secs(3600)),
    ('M', Duration::from_secs(60)),
    ('S', Duration::from_secs(1)),
    ('m', Duration::from_millis(1)),
    ('u', Duration::from_micros(1)),
    ('n', Duration::from_nanos(1)),
];

/// Reads digits and nothing else, saturating. `parse` alone would accept "+5".
pub(crate) fn number(digits: &str) -> Option<u64> {
    if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    // All characters are digits, so the only possible error is overflow.
    Some(digits.parse().unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn junk_is_no_duration() {
        let junk = [
            "", " ", "n", "1", "1s", "1.5S", "+1S", "-1S", "0x1S", "1 S", "１S", "1é", "\0", "NaN",
            "∞S",
        ];
        for value in junk {
            assert_eq!(parse_grpc_timeout(value), None, "{value:?}");
        }
        for value in ["", " ", "1.5", "+1", "-1", "1 2", "1ms", "１", "NaN", "\n5"] {
            assert_eq!(parse_millis(value), None, "{value:?}");
        }
    }

    #[test]
    fn the_largest_values_saturate() {
        assert_eq!(format_grpc_timeout(Duration::MAX), "99999999H");
        assert_eq!(
            parse_grpc_timeout("99999999H"),
            Some(Duration::from_secs(99_999_999 * 3600))
        );
        assert_eq!(
            parse_millis(&"9".repeat(400)),
            Some(Duration::from_millis(u64::MAX))
        );
        assert!(parse_millis(&format_millis(Duration::MAX)).is_some());
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back_as_no_more_and_little_less(secs in 0..400_000_000_u64, nanos in 0..1_000_000_000_u32) {
            let written = Duration::new(secs, nanos).max(Duration::from_nanos(1));
            let text = format_grpc_timeout(written);
            prop_assert!(text.len() <= 9);
            let read = parse_grpc_timeout(&text).unwrap();
            prop_assert!(read <= written);
            // From 100,000 s on, the unit is a second. So rounding loses at most one part in 100,000.
            prop_assert!(written.saturating_sub(read) <= (written / 100_000).max(Duration::from_nanos(1)));
            let millis = parse_millis(&format_millis(written)).unwrap();
            prop_assert!(millis <= written && written.saturating_sub(millis) < Duration::from_millis(1));
        }

        #[test]
        fn no_text_makes_it_panic(text in "\\PC{0,20}") {
            let _ = (parse_grpc_timeout(&text), parse_millis(&text));
        }
    }
}
