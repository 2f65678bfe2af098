//! Wording: values of the wrong kind, and values out of range.

use super::Message;
use crate::keys::Key;

messages! {
    /// A value that the key does not take.
    wrong(key: &Key, found: &str) {
        "found `{found}`, expected {}", key.kind;
        help "write `{}`", key.example;
    }

    /// `until` with the time after which the call ends.
    until_a_time(found: &str, duration: &str) {
        "found `{found}`, a duration, expected a path or a closure";
        help "write `deadline = \"{duration}\"` to limit the whole call";
    }

    /// The same, with a better suggestion than the example.
    wrong_but(key: &Key, found: &str, write: &str) {
        "found `{found}`, expected {}", key.kind;
        help "write `{key} = {write}`";
    }

    /// `timeout = limit?`. A setting can neither return nor await.
    leaves(key: &Key, token: &str, found: &str) {
        "`{token}` cannot be used in a setting, found `{found}`";
        help "take it as an argument, `{key}: …`, and write `{key} = {key}`";
    }

    // `attempts`.

    attempts_zero() {
        "`attempts` is 0, expected at least 1, as the first call counts";
        help "write `attempts = 1` for no retry";
    }

    attempts_negative(found: &str) {
        "`attempts` is negative (`{found}`), expected at least 1";
        help "write `attempts = 1` for no retry, or `attempts = \"unlimited\"`";
    }

    attempts_out_of_range(found: &str) {
        "`attempts` is out of range (`{found}`), expected at most {}", u32::MAX - 1;
        help "write `attempts = \"unlimited\"` for no limit";
    }

    /// `never`, `none`.
    attempts_once(found: &str) {
        "found `{found}`, expected a whole number or `\"unlimited\"`";
        help "write `attempts = 1` for no retry";
    }

    /// `forever`, `u32::MAX`.
    attempts_unlimited(found: &str) {
        "found `{found}`, expected a whole number or `\"unlimited\"`";
        help "write `attempts = \"unlimited\"`";
        note "such a call ends only by success, by an error that must not be retried, by its deadline, or by being cancelled or dropped";
    }

    // `factor`.

    factor_below_one(found: &str) {
        "factor `{found}` is below 1, so delays would shrink";
        help "write `factor = 2.0`, or `backoff = \"constant\"` for equal delays";
    }

    factor_above_limit(found: &str) {
        "factor `{found}` is above 1000, expected 1 to 1000";
        help "write `factor = 2.0`";
    }

    factor_not_finite(found: &str) {
        "factor `{found}` is {}, expected 1 to 1000",
            if found.to_lowercase().contains("nan") { "not a number" } else { "not finite" };
        help "write `factor = 2.0`";
    }

    /// `backoff = "exponential(100ms, 2)"`.
    word_with_arguments(key: &Key, found: &str, write: &str) {
        "found `{found}`, expected {}", key.kind;
        help "write `{write}`";
    }

    // Functions.

    closure_arguments(key: &Key, found: usize, expected: usize, write: &str) {
        "the closure of `{key}` takes {found} {}, expected {expected}",
            if found == 1 { "argument" } else { "arguments" };
        help "write `{key} = {write}`";
    }

    // Futures.

    awaited(key: &Key, found: &str, write: &str) {
        "found `{found}`, expected the future itself";
        help "write `{key} = {write}`, it is awaited for you";
    }

    /// A token in a field: `self.shutdown`.
    token(key: &Key, found: &str) {
        "found `{found}`, expected a future, which a token is not";
        help "write `{key} = {found}.cancelled()`";
    }

    not_called(key: &Key, path: &str) {
        "found the path `{path}`, expected a future";
        help "write `{key} = {path}()`";
    }

    // Error types: `on`, `unless`.

    no_types(key: &Key) {
        "`{key}` names no type";
        help "write `{}`, or leave it out", key.example;
    }

    not_a_type(found: &str, write: &str) {
        "found `{found}`, expected an error type";
        help "write `{write}`";
    }

    every_error(key: &Key, found: &str) {
        "`{found}` is any error, expected one type";
        help "write `{}`", key.example;
    }

    twice(key: &Key, found: &str) {
        "`{found}` is in `{key}` twice";
        help "remove one of the two";
    }

    // Paths and names.

    unknown_preset(key: &Key, found: &str, name: &str) {
        "unknown policy `{found}`";
        help "did you mean `{key} = {name}`?";
    }

    /// `budget = 0.1`.
    number_for_budget(key: &Key, found: &str, item: &str) {
        "found `{found}`, expected {}", key.kind;
        help "write `{item}` above the function, and name it here";
    }

    /// `budget = Budget::ratio(0.1)`.
    new_budget(found: &str) {
        "`{found}` is a new budget for each call, so it would refuse nothing";
        help "write `static BUDGET: Budget = …;` above the function, and name it here";
    }

    hyphen_in_path(key: &Key, found: &str, write: &str) {
        "found `{found}`, expected a path";
        help "write `{key} = \"{write}\"`, with `_` for `-`";
    }

    name_without_quotes(found: &str, name: &str) {
        "found `{found}`, expected a string";
        help "write `name = \"{name}\"`, or give each call its own: `policy.run(…).with_name({found})`";
    }

    empty_name() {
        "`name` is empty";
        help "leave `name` out: the default is the module path and the name of the function";
    }
}

/// A word that is not in the list of the key.
pub(crate) fn unknown_word(
    key: &Key,
    noun: &str,
    found: &str,
    nearest: Option<&str>,
    words: &str,
) -> Message {
    let message = Message::new(format!("unknown {noun} `{found}`"));
    let list = format!("`{key}` is one of {words}");
    match nearest {
        Some(word) => message
            .help(format!("did you mean `{key} = \"{word}\"`?"))
            .note(list),
        None => message.help(list),
    }
}
