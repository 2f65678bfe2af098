//! Events and spans, for `tracing`.
//!
//! Arguments are never recorded. The text of an error is made only if the event is wanted. A function logs each message
//! at most ten times a second. The next line says how many were left out.

mod shown;
mod spans;

use std::mem;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tracing::Level;

pub(crate) use self::shown::Shown;
#[cfg(feature = "http-1")]
pub(crate) use self::spans::record;
pub(crate) use self::spans::{Begun, Entered, Spans};
use crate::clock::Stamp;
use crate::stopped::Effect;

/// Whether any subscriber wants spans of this level. One load and one comparison.
#[inline]
pub(crate) fn spans_may_be_wanted() -> bool {
    tracing::level_enabled!(Level::TRACE)
}

/// Whether a subscriber may take the events of calls that fail, or the crate `log`: with its feature of that name, `tracing` passes events on if
/// there is no subscriber.
#[inline]
pub(crate) fn may_be_heard() -> bool {
    tracing::level_enabled!(Level::WARN)
        || tracing::if_log_enabled!(Level::ERROR, { true } else { false })
}

/// Writes an event, unless it is not wanted or its line is left out. It says how many lines were left out before it.
///
/// A line that the subscriber does not want is not counted. It may decide by the fields, so it is asked with their names.
/// `tracing` may also pass the event to the crate `log`, which cannot be asked.
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

pub(crate) const fn in_doubt(effect: Effect) -> &'static str {
    match effect {
        Effect::Commit => "a transaction may have taken effect; nothing repeats it",
        Effect::Request => "a request may have run; nothing repeats it",
        Effect::Call => "an inner call may have run; nothing repeats it",
    }
}

pub(crate) const UNSEEN_REQUEST: &str =
    "a POST or PATCH may be sent twice: turn on the feature of its client, or set `idempotent`";

/// How many lines with one message are logged in a period that begins with the first of them.
pub(crate) type Most = (u32, Duration);

pub(crate) const TEN_IN_A_SECOND: Most = (10, Duration::from_secs(1));
pub(crate) const ONE_IN_A_MINUTE: Most = (1, Duration::from_secs(60));
pub(crate) const ONCE: Most = (1, Duration::MAX);

/// The lines of one function. It has room for all messages, because a call that is not observed does not allocate.
#[derive(Debug)]
pub(crate) struct Lines(Mutex<[Option<Period>; 14]>);

/// The current period of one message.
#[derive(Debug, Clone, Copy)]
struct Period {
    message: &'static str,
    began: Stamp,
    logged: u32,
    /// Since the last line that was logged.
    left_out: u64,
}

impl Lines {
    pub(crate) const fn new() -> Self {
        Self(Mutex::new([None; 14]))
    }

    /// Counts a line. Returns how many lines with this message were left out since the last logged one, or `None` if this one is
    /// left out too.
    pub(crate) fn pass(
        &self,
        message: &'static str,
        (most, length): Most,
        now: Stamp,
    ) -> Option<u64> {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut slots = lines.iter_mut();
        let slot = slots.find(|slot| slot.is_none_or(|period| period.message == message))?;
        let period = slot.get_or_insert(Period {
            message,
            began: now,
            logged: 0,
            left_out: 0,
        });
        // Another thread may have read the clock a little later.
        if period.began.since(now).max(now.since(period.began)) >= length {
            (period.began, period.logged) = (now, 0);
        }
        if period.logged == most {
            period.left_out += 1;
            return None;
        }
        period.logged += 1;
        Some(mem::take(&mut period.left_out))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use proptest::prelude::*;

    use super::*;

    const START: u64 = 1 << 60;

    fn pass(lines: &Lines, now: Stamp) -> Option<u64> {
        lines.pass("gave up", TEN_IN_A_SECOND, now)
    }

    fn at(millis: u64) -> Stamp {
        Stamp::from_nanos(START + millis * 1_000_000)
    }

    #[test]
    fn ten_lines_pass_in_a_second_and_the_next_one_says_how_many_did_not() {
        let lines = Lines::new();
        let passed = (0..1_000).filter(|&millis| pass(&lines, at(millis)) == Some(0));
        assert_eq!(passed.count(), 10);
        assert_eq!(pass(&lines, at(999)), None);
        assert_eq!(pass(&lines, at(1_000)), Some(991));
        assert_eq!(pass(&lines, at(1_001)), Some(0));
    }

    #[test]
    fn one_line_passes_in_a_minute_whoever_asks() {
        let lines = Lines::new();
        let pass = |lines: &Lines, now| lines.pass("still failing", ONE_IN_A_MINUTE, now);
        let passed = (0..180_000)
            .step_by(7)
            .filter(|&millis| pass(&lines, at(millis)).is_some());
        assert_eq!(passed.collect::<Vec<_>>(), [0, 60_004, 120_008]);
        assert_eq!(pass(&lines, at(100_000)), None, "read a little earlier");
    }

    #[test]
    fn a_clock_that_was_read_a_little_earlier_begins_no_new_second() {
        let lines = Lines::new();
        for _ in 0..10 {
            pass(&lines, at(2_000));
        }
        assert_eq!(pass(&lines, at(1_998)), None);
        assert_eq!(pass(&lines, at(500)), Some(1), "another clock");
    }

    #[test]
    fn messages_do_not_limit_each_other_and_one_is_logged_once() {
        let lines = Lines::new();
        for millis in [0, 1, u64::from(u32::MAX)] {
            let once = lines.pass("blocked", ONCE, at(millis)).is_some();
            assert_eq!(once, millis == 0);
            assert!(pass(&lines, at(millis)).is_some());
        }
    }

    #[test]
    fn threads_lose_no_line() {
        let (lines, sum) = (Lines::new(), AtomicU64::new(0));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..1_000 {
                        if let Some(left_out) = pass(&lines, at(0)) {
                            sum.fetch_add(left_out + 1, Ordering::Relaxed);
                        }
                    }
                });
            }
        });
        assert_eq!(sum.load(Ordering::Relaxed), 10);
        assert_eq!(pass(&lines, at(1_000)), Some(3_990));
    }

    proptest! {
        #[test]
        fn what_passed_and_what_was_left_out_is_all(steps in prop::collection::vec(0_u64..300, 1..200)) {
            let lines = Lines::new();
            let (mut now, mut logged, mut times) = (0, 0, Vec::new());
            for step in &steps {
                now += step;
                if let Some(left_out) = pass(&lines, at(now)) {
                    logged += 1 + left_out;
                    times.push(now);
                }
            }
            let last = pass(&lines, at(now + 1_000)).expect("a new second");
            prop_assert_eq!(logged + last, steps.len() as u64);
            for &time in &times {
                let near = times.iter().filter(|&&other| (time..time + 1_000).contains(&other));
                prop_assert!(near.count() < 20, "ten, and those of a second that began before");
            }
        }
    }
}
