//! Events and spans, for `tracing`.
//!
//! Arguments are never recorded. The text of an error is made only if the event is wanted. A function logs each message
//! at most ten times a second. The next line says how many were left out.

mod lines;
mod spans;

use tracing::{Level, dispatcher};

pub(crate) use self::lines::{Lines, ONCE, ONE_IN_A_MINUTE, TEN_IN_A_SECOND};
pub(crate) use self::spans::{Begun, Entered, Spans};

/// Whether a subscriber takes the events of calls that fail.
#[inline]
pub(crate) fn subscriber_wants() -> bool {
    tracing::level_enabled!(Level::WARN)
}

/// Whether any subscriber wants spans of this level. One load and one comparison.
#[inline]
pub(crate) fn spans_may_be_wanted() -> bool {
    tracing::level_enabled!(Level::DEBUG)
}

/// Whether a subscriber may take these events. Without a subscriber, `tracing` may pass events to the crate `log`.
#[inline]
pub(crate) fn may_be_heard() -> bool {
    subscriber_wants() || !dispatcher::has_been_set()
}

/// Writes an event, unless it is not wanted or its line is left out. It says how many lines were left out before it.
///
/// The subscriber is asked first, by the names of the fields too, so a line that it does not want is not counted. `tracing`
/// may also pass the event to the crate `log`, which cannot be asked.
macro_rules! limited {
    ($level:ident, $lines:expr, $most:expr, $message:expr, $($name:ident = $value:expr),+ $(,)?) => {{
        use tracing::{Level, dispatcher, event_enabled};

        let wanted =
            event_enabled!(target: "reattempt", Level::$level, message, $($name,)+ left_out);
        if wanted || !dispatcher::has_been_set() {
            if let Some(left_out) = $lines.pass($message, $most, $crate::clock::Stamp::now()) {
                let left_out = Some(left_out).filter(|left_out| *left_out > 0);
                tracing::event!(
                    target: "reattempt",
                    Level::$level,
                    $($name = $value,)+
                    left_out,
                    "{}",
                    $message
                );
            }
        }
    }};
}

pub(crate) use limited;

/// A request has a header for a deadline whose value is of another form: an event of level debug.
#[cfg(feature = "tower")]
pub(crate) fn ignored_header(header: &str, value: &[u8], expected: &'static str) {
    static LINES: Lines = Lines::new();
    // A client chooses the value, so it is cut after what a deadline needs at most.
    let value = || String::from_utf8_lossy(&value[..value.len().min(32)]).into_owned();
    limited!(
        DEBUG,
        LINES,
        TEN_IN_A_SECOND,
        "a header with a deadline is ignored",
        header = header,
        value = value(),
        expected = expected,
    );
}
