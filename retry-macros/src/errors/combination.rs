//! Wording: keys that contradict each other, or that have no effect together.

use std::time::Duration;

use retry_settings::duration::human;
use retry_settings::text;

use super::Message;

/// `attempts = 1` beside keys about retries.
pub(crate) fn never_retries(keys: &[&str]) -> Message {
    let verb = if keys.len() == 1 { "has" } else { "have" };
    let keys = text::list(keys, " and ");
    Message::new(format!(
        "`attempts = 1` never retries, so {keys} {verb} no effect"
    ))
    .help(format!("write `attempts = 2` or more, or remove {keys}"))
}

messages! {
    /// A key that has no effect because of another key.
    no_effect(idle: &str, because: &str, help: &str) {
        "`{idle}` has no effect with `{because}`";
        help "{help}";
    }

    /// `timeout` or `cancel`, and what to do instead.
    cut_while_blocking(key: &str, instead: &str) {
        "`{key}` has no effect with `blocking`: nothing can stop a body that blocks its thread";
        help "remove `{key}`, and {instead}";
    }

    awaited_while_blocking(found: &str) {
        "found `{found}`, but with `blocking` nothing is awaited";
        help "remove `async` and `.await`, and call what blocks";
    }

    decorrelated_delays() {
        "`jitter = \"decorrelated\"` computes the delays, and `delays` lists them";
        help "write `jitter = \"full\"` or `jitter = \"equal\"`, or remove `delays`";
    }

    base_above_max_delay(base: Duration, max_delay: Duration) {
        "`base` ({}) is above `max_delay` ({})", human(base), human(max_delay);
        help "write `max_delay = \"{}\"` or more, or a smaller `base`", human(base);
    }

    base_above_default(base: Duration, max_delay: Duration) {
        "`base` ({}) is above `max_delay`, {} by default", human(base), human(max_delay);
        help "add `max_delay = \"{}\"` or more", human(base);
    }

    max_delay_below_default(max_delay: Duration, base: Duration) {
        "`max_delay` ({}) is below `base`, {} by default", human(max_delay), human(base);
        help "add `base = \"{}\"` or less", human(max_delay);
    }

    timeout_above_deadline(timeout: Duration, deadline: Duration) {
        "`timeout` ({}) is above `deadline` ({})", human(timeout), human(deadline);
        help "`timeout` limits one attempt and `deadline` the whole call: swap them?";
    }

    /// The first wait alone is as long as the deadline.
    no_second_attempt(deadline: Duration, wait: Duration, jitter: &str) {
        "`deadline` ({}) leaves no room for a second attempt", human(deadline);
        help "write a longer `deadline`, or a smaller `base`";
        note "with `jitter = \"{jitter}\"` the first delay is at least {}", human(wait);
    }

    on_and_not_on(ty: &str) {
        "`{ty}` is in `on` and in `not_on`, so it is never retried";
        help "remove one of the two";
    }

    when_and_unless(function: &str) {
        "`when` and `unless` both ask `{function}`, so nothing is retried";
        help "remove one of the two";
    }
}
