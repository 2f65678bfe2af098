//! Durations that are longer than another one lets them be.

use std::cmp::Ordering;
use std::time::Duration;

use humantime::format_duration;

use super::keys::Keys;
use crate::Backoff;
use crate::policy::Policy;

/// The name of a key, and its duration.
type DurationKey = (&'static str, fn(&Keys) -> Option<Duration>);

const TIMEOUT: DurationKey = ("timeout", |keys| Some(keys.timeout?.0));
const DEADLINE: DurationKey = ("deadline", |keys| Some(keys.deadline?.0));
const BASE: DurationKey = ("base", |keys| Some(keys.base?.0));
const THROTTLED_BASE: DurationKey = ("throttled_base", |keys| Some(keys.throttled_base?.0));
const MIN_DELAY: DurationKey = ("min_delay", |keys| Some(keys.min_delay?.0));
const MAX_DELAY: DurationKey = ("max_delay", |keys| Some(keys.max_delay?.0));
const HEDGE: DurationKey = ("hedge", |keys| Some(keys.hedge?.0));

/// Each key, and the key that it must not be above.
const AT_MOST: [(DurationKey, DurationKey); 6] = [
    (TIMEOUT, DEADLINE),
    (BASE, MAX_DELAY),
    (THROTTLED_BASE, MAX_DELAY),
    (MIN_DELAY, MAX_DELAY),
    (HEDGE, TIMEOUT),
    (HEDGE, DEADLINE),
];

/// Refuses settings that contradict each other, or this policy, and settings without effect. What contradicts itself in the
/// code is the code's own.
pub(super) fn check(settings: &Keys, code: Option<&Policy>) -> Result<(), String> {
    let has_list = code.is_some_and(|code| matches!(code.backoff(), Backoff::Delays(_)));
    let list_stays = has_list && settings.backoff.is_none();
    let of_delays = [BASE, THROTTLED_BASE, MIN_DELAY, MAX_DELAY];
    let idle = of_delays
        .iter()
        .find(|key| list_stays && key.1(settings).is_some());
    if let Some((key, _)) = idle {
        return Err(format!(
            "`{key}` has no effect beside the list of delays in the code: set `backoff` too"
        ));
    }
    let code = code.map(Keys::of).unwrap_or_default();
    let too_long = AT_MOST
        .iter()
        .filter_map(|((short, shorter), (long, longer))| {
            let set = (shorter(settings), longer(settings));
            let (least, most) = (set.0.or(shorter(&code))?, set.1.or(longer(&code))?);
            let relation = match least.cmp(&most) {
                _ if set == (None, None) => return None,
                Ordering::Greater => "above",
                // A hedge would begin when nothing is left of the limit.
                Ordering::Equal if *short == HEDGE.0 => "not below",
                _ => return None,
            };
            let place = |set: Option<_>| set.map_or("in the code", |_| "in the settings");
            let (short_place, long_place) = (place(set.0), place(set.1));
            let (least, most) = (format_duration(least), format_duration(most));
            Some(format!(
                "`{short}` ({least} {short_place}) is {relation} `{long}` ({most} {long_place})"
            ))
        });
    let problems = too_long.collect::<Vec<_>>().join("; ");
    problems.is_empty().then_some(()).ok_or(problems)
}
