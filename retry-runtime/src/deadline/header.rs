//! The time left, as the value of a header: text in, `Duration` out, and back.
//!
//! A value is rounded down when written, so that the next service never believes in more time than
//! there is. Junk gives `None` when read, and no value, however large, overflows anything.

use std::time::Duration;

/// Writes the value of a `grpc-timeout` header: at most eight digits and a unit.
///
/// The unit is the finest that has room: `n`, `u`, `m` (thousandths of a second), `S`, `M`, `H`. The
/// value is positive, as the format asks, so no time at all is one nanosecond; it ends at 99,999,999
/// hours. Source: *gRPC over HTTP2*, `Timeout`, gRPC project.
///
/// # Examples
///
/// ```
/// use retry_runtime::deadline::header::to_grpc;
/// use std::time::Duration;
///
/// assert_eq!(to_grpc(Duration::from_millis(1500)), "1500000u");
/// assert_eq!(to_grpc(Duration::from_secs(900)), "900000m");
/// assert_eq!(to_grpc(Duration::ZERO), "1n");
/// ```
#[must_use]
pub fn to_grpc(remaining: Duration) -> String {
    let nanos = remaining.as_nanos().max(1);
    let (count, unit) = UNITS
        .iter()
        .rev()
        .map(|(unit, length)| (nanos / length.as_nanos(), unit))
        .find(|(count, _)| *count <= MOST)
        .unwrap_or((MOST, &'H'));
    format!("{count}{unit}")
}

/// Reads the value of a `grpc-timeout` header; `None` if it is not of its form.
///
/// # Examples
///
/// ```
/// use retry_runtime::deadline::header::from_grpc;
/// use std::time::Duration;
///
/// assert_eq!(from_grpc("1500m"), Some(Duration::from_millis(1500)));
/// assert_eq!(from_grpc("2H"), Some(Duration::from_secs(7200)));
/// assert_eq!(from_grpc("-1S"), None);
/// assert_eq!(from_grpc("123456789n"), None); // nine digits
/// ```
#[must_use]
pub fn from_grpc(value: &str) -> Option<Duration> {
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

/// Writes the time left in whole milliseconds, for a header of one's own choosing.
///
/// # Examples
///
/// ```
/// use retry_runtime::deadline::header::to_millis;
/// use std::time::Duration;
///
/// assert_eq!(to_millis(Duration::from_micros(1_999)), "1");
/// ```
#[must_use]
pub fn to_millis(remaining: Duration) -> String {
    remaining.as_millis().to_string()
}

/// Reads a number of milliseconds; `None` if it is not one. What is too large for 64 bits is as long
/// as they can say.
///
/// # Examples
///
/// ```
/// use retry_runtime::deadline::header::from_millis;
/// use std::time::Duration;
///
/// assert_eq!(from_millis("250"), Some(Duration::from_millis(250)));
/// assert_eq!(from_millis("1e18"), None);
/// assert_eq!(from_millis("-5"), None);
/// ```
#[must_use]
pub fn from_millis(value: &str) -> Option<Duration> {
    number(value.trim_matches(BLANK)).map(Duration::from_millis)
}

/// What may stand around the value of a header (RFC 9110, section 5.5).
const BLANK: [char; 2] = [' ', '\t'];

/// The largest number of eight digits.
const MOST: u128 = 99_999_999;

/// From the longest to the shortest.
const UNITS: [(char, Duration); 6] = [
    ('H', Duration::from_secs(3600)),
    ('M', Duration::from_secs(60)),
    ('S', Duration::from_secs(1)),
    ('m', Duration::from_millis(1)),
    ('u', Duration::from_micros(1)),
    ('n', Duration::from_nanos(1)),
];

/// Digits and nothing else, which `parse` alone does not ask for ("+5"); saturating.
fn number(digits: &str) -> Option<u64> {
    if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    // All are digits, so the only error is that there are too many.
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
            assert_eq!(from_grpc(value), None, "{value:?}");
        }
        for value in ["", " ", "1.5", "+1", "-1", "1 2", "1ms", "１", "NaN", "\n5"] {
            assert_eq!(from_millis(value), None, "{value:?}");
        }
    }

    #[test]
    fn the_largest_values_saturate() {
        assert_eq!(to_grpc(Duration::MAX), "99999999H");
        assert_eq!(
            from_grpc("99999999H"),
            Some(Duration::from_secs(99_999_999 * 3600))
        );
        assert_eq!(
            from_millis(&"9".repeat(400)),
            Some(Duration::from_millis(u64::MAX))
        );
        assert!(from_millis(&to_millis(Duration::MAX)).is_some());
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back_as_no_more_and_little_less(secs in 0..400_000_000_u64, nanos in 0..1_000_000_000_u32) {
            let written = Duration::new(secs, nanos).max(Duration::from_nanos(1));
            let text = to_grpc(written);
            prop_assert!(text.len() <= 9);
            let read = from_grpc(&text).unwrap();
            prop_assert!(read <= written);
            // 100,000 s is the first that is written in seconds, so at most one part in 100,000 is
            // cut off.
            prop_assert!(written.saturating_sub(read) <= (written / 100_000).max(Duration::from_nanos(1)));
            let millis = from_millis(&to_millis(written)).unwrap();
            prop_assert!(millis <= written && written.saturating_sub(millis) < Duration::from_millis(1));
        }

        #[test]
        fn no_text_makes_it_panic(text in "\\PC{0,20}") {
            let _ = (from_grpc(&text), from_millis(&text));
        }
    }
}
