//! Wording: keys that contradict each other, or that have no effect together.

use std::time::Duration;

use super::Message;

/// `attempts = 1` beside keys that are about retries.
pub(crate) fn never_retries(keys: &[&str]) -> Message {
    let verb = if keys.len() == 1 { "has" } else { "have" };
    Message::new(format!(
        "`attempts = 1` never retries, so {} {verb} no effect",
        and(keys)
    ))
    .help(format!(
        "write `attempts = 2` or more, or remove {}",
        and(keys)
    ))
}

/// One key that another makes idle.
pub(crate) fn no_effect(idle: &str, because: &str, help: &str) -> Message {
    Message::new(format!("`{idle}` has no effect with `{because}`")).help(help)
}

pub(crate) fn base_above_max_delay(base: Duration, max_delay: Duration) -> Message {
    let (base, max_delay) = (human(base), human(max_delay));
    Message::new(format!(
        "`base` ({base}) is above `max_delay` ({max_delay})"
    ))
    .help(format!(
        "write `max_delay = \"{base}\"` or more, or a smaller `base`"
    ))
}

pub(crate) fn base_above_default(base: Duration, max_delay: Duration) -> Message {
    let (base, max_delay) = (human(base), human(max_delay));
    Message::new(format!(
        "`base` ({base}) is above `max_delay`, {max_delay} by default"
    ))
    .help(format!("add `max_delay = \"{base}\"` or more"))
}

pub(crate) fn max_delay_below_default(max_delay: Duration, base: Duration) -> Message {
    let (base, max_delay) = (human(base), human(max_delay));
    Message::new(format!(
        "`max_delay` ({max_delay}) is below `base`, {base} by default"
    ))
    .help(format!("add `base = \"{max_delay}\"` or less"))
}

pub(crate) fn timeout_above_deadline(timeout: Duration, deadline: Duration) -> Message {
    let (timeout, deadline) = (human(timeout), human(deadline));
    Message::new(format!(
        "`timeout` ({timeout}) is above `deadline` ({deadline})"
    ))
    .help("a `timeout` is for one attempt, the `deadline` for all: swap them?")
}

/// The first wait alone is as long as the deadline.
pub(crate) fn no_second_attempt(deadline: Duration, wait: Duration, jitter: &str) -> Message {
    let (deadline, wait) = (human(deadline), human(wait));
    Message::new(format!(
        "`deadline` ({deadline}) leaves no room for a second attempt"
    ))
    .help("write a longer `deadline`, or a smaller `base`")
    .note(format!(
        "with `jitter = \"{jitter}\"` the first delay is at least {wait}"
    ))
}

pub(crate) fn on_and_not_on(ty: &str) -> Message {
    Message::new(format!("`{ty}` is in `on` and in `not_on`, which wins"))
        .help("remove one of the two")
}

pub(crate) fn when_and_unless(function: &str) -> Message {
    Message::new(format!(
        "`when` and `unless` both ask `{function}`, so nothing is retried"
    ))
    .help("remove one of the two")
}

/// `a`, `b` and `c`.
fn and(keys: &[&str]) -> String {
    let mut text = String::new();
    for (index, key) in keys.iter().enumerate() {
        match index {
            0 => {}
            _ if index + 1 == keys.len() => text.push_str(" and "),
            _ => text.push_str(", "),
        }
        text.push('`');
        text.push_str(key);
        text.push('`');
    }
    text
}

fn human(duration: Duration) -> String {
    humantime::format_duration(duration).to_string()
}
