//! Wording: keys that contradict each other, or that have no effect together.

use std::time::Duration;

use crate::duration::human;
use crate::keys::Key;
use crate::text;

use super::Message;

/// A duration that is longer than one that it must not exceed. `given` is which of the two keys are not defaults.
pub(crate) fn too_long(
    (short, length): (&Key, Duration),
    (long, limit): (&Key, Duration),
    given: [bool; 2],
) -> Message {
    let relation = if length > limit { "above" } else { "not below" };
    let [length, limit] = [length, limit].map(human);
    match given {
        [true, true] => Message::new(format!(
            "`{short}` ({length}) is {relation} `{long}` ({limit})"
        ))
        .help(match short.name {
            "timeout" => {
                "`timeout` limits one attempt and `deadline` the whole call: swap them?".to_owned()
            }
            "hedge" => {
                "write a shorter `hedge`: it is the time after which an attempt is slow, and ends nothing"
                    .to_owned()
            }
            _ => format!("write `{long} = \"{length}\"` or more, or a smaller `{short}`"),
        }),
        [true, false] => Message::new(format!(
            "`{short}` ({length}) is above `{long}`, {limit} by default"
        ))
        .help(format!("add `{long} = \"{length}\"` or more")),
        [false, _] => Message::new(format!(
            "`{long}` ({limit}) is below `{short}`, {length} by default"
        ))
        .help(format!("add `{short} = \"{limit}\"` or less")),
    }
}

messages! {
    /// `attempts = 1` beside keys about retries.
    never_retries(keys: &[&str]) {
        "`attempts = 1` never retries, so {} {} no effect",
            text::list(keys, " and "), if keys.len() == 1 { "has" } else { "have" };
        help "write `attempts = 2` or more, or remove {}", text::list(keys, " and ");
    }

    /// A key that has no effect because of another key.
    no_effect(idle: &str, because: &str, help: &str) {
        "`{idle}` has no effect with `{because}`";
        help "remove `{idle}`: {help}";
    }

    cancelled_twice() {
        "`cancel` and `cancel_waits` both say what stops the call";
        help "remove `cancel_waits`: `cancel` stops the call in a wait, and in an attempt too";
    }

    /// `timeout` or `cancel`, and what to do instead.
    cut_while_blocking(key: &str, instead: &str) {
        "`{key}` has no effect with `blocking`: nothing can stop a body that blocks its thread";
        help "remove `{key}`, and {instead}";
    }

    /// `hedge`, and what to do instead.
    hedge_while_blocking() {
        "`hedge` has no effect with `blocking`: a body that blocks its thread cannot run twice at once";
        help "remove `hedge`, or make the function async";
    }

    hedge_not_idempotent() {
        "`idempotent = false` forbids a second attempt, so `hedge` has no effect";
        help "remove `hedge`: a call that hedges may run its body twice, even if both succeed";
    }

    hedge_without_budget(because: &str) {
        "a call hedges only while its budget is half full, and with `{because}` it has none";
        help "name a budget: `budget = PAYMENTS`, with `static PAYMENTS: Budget = Budget::new();`, or remove `hedge`";
    }

    hedge_with_owned_delays() {
        "`hedge` runs two attempts at once, which cannot both take from `delays = &mut …`";
        help "remove `hedge`, or give each call a list: `delays = [\"0s\", \"200ms\"]`";
    }

    hedge_without_policy() {
        "`hedge = \"policy\"` takes the time from `policy`, and there is none";
        help "write the time here, such as `hedge = \"20ms\"`, or add `policy`";
    }

    awaited_while_blocking(found: &str) {
        "found `{found}`, but with `blocking` nothing is awaited";
        help "remove `async` and `.await`, and call what blocks";
    }

    /// `key` is `on_retry` or `on_end`.
    async_hook(key: &str) {
        "`{key}` is not async: nothing would await its future";
        help "{}", if key == "on_retry" {
            "spawn a task in it, or write `before_retry = async || …`, which runs after the wait"
        } else {
            "spawn a task in it"
        };
    }

    decorrelated_delays() {
        "`jitter = \"decorrelated\"` computes the delays, and `delays` lists them";
        help "write `jitter = \"full\"` or `jitter = \"equal\"`, or remove `delays`";
    }

    /// The first wait alone is as long as the deadline.
    no_second_attempt(deadline: Duration, wait: Duration, jitter: &str) {
        "`deadline` ({}) leaves no room for a second attempt", human(deadline);
        help "write a longer `deadline`, or a smaller `base`";
        note "with `jitter = \"{jitter}\"` the first delay is at least {}", human(wait);
    }

    verdict_beside_on() {
        "`verdict` has no effect with `on`: each error that `on` names has its own verdict";
        help "remove `on`, and look for the error inside in `verdict`, as with `error.downcast_ref()`";
    }

    until_and_when_ok() {
        "`until` and `when_ok` both say which `Ok` is retried";
        help "remove `when_ok`, and let `until` return true for each `Ok` that the call may return";
    }

    until_without_repeats() {
        "`until` never retries with `idempotent = false`: an attempt that returned an `Ok` has run";
        help "remove `idempotent = false`, and call what must not run twice in another function";
    }

    /// `key` is `on` or `when`.
    never_retried(key: &str, found: &str) {
        "`{found}` is in `{key}` and in `unless`, so it is never retried";
        help "remove one of the two";
    }
}
