//! Headers in which a server or a caller speaks of time.

use std::time::Duration;

use http::header::{DATE, RETRY_AFTER};
use http::{HeaderMap, HeaderValue};
use reattempt::deadline::header::{
    format_grpc_timeout, format_millis, parse_grpc_timeout, parse_millis,
};
use reattempt::http_1::retry_after as hint;

/// A line for each value of `Retry-After`; the first is the `Date`.
pub(crate) fn retry_after(bytes: &[u8]) {
    let mut headers = HeaderMap::new();
    let mut longest = None;
    for (index, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        let Ok(value) = HeaderValue::from_bytes(line) else {
            return;
        };
        if index == 0 {
            headers.insert(DATE, value);
            continue;
        }
        let text = value.to_str().unwrap_or_default().trim_matches([' ', '\t']);
        if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
            let seconds = text.parse().unwrap_or(u64::MAX);
            longest = longest.max(Some(Duration::from_secs(seconds)));
        }
        headers.append(RETRY_AFTER, value);
    }
    let found = hint(&headers);
    assert!(found >= longest, "{headers:?}: {found:?}, not {longest:?}");
}

/// What was read is written and read again as no longer, and loses less than the last digit of the format.
pub(crate) fn grpc_timeout(text: &str) {
    if let Some(length) = parse_grpc_timeout(text) {
        let written = format_grpc_timeout(length);
        let again = parse_grpc_timeout(&written).expect("what was written can be read");
        let most = length.max(Duration::from_nanos(1));
        let lost = most.checked_sub(again).expect("never longer than it was");
        assert!(lost <= most / 1_000_000, "{text}: {written}");
    }
    if let Some(length) = parse_millis(text) {
        let again = parse_millis(&format_millis(length));
        assert_eq!(again, Some(length), "{text}");
    }
}
