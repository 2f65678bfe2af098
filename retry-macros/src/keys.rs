//! The table of keys: what the attribute knows, in the order in which it is documented.
//!
//! It feeds the parser (how far a value reaches), the suggestions, the list of valid keys and the
//! wording; a test holds the table of the reference page against it.

mod foreign;

pub(crate) use self::foreign::{Foreign, foreign};

/// One key of the attribute.
pub(crate) struct Key {
    pub(crate) id: Id,
    pub(crate) name: &'static str,
    pub(crate) shape: Shape,
    /// What a value is, in a word or two: `a duration`.
    pub(crate) kind: &'static str,
    /// What may be written, as the documentation says it.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "the reference page is checked against it")
    )]
    pub(crate) value: &'static str,
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "the reference page is checked against it")
    )]
    pub(crate) default: &'static str,
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "the reference page is checked against it")
    )]
    pub(crate) meaning: &'static str,
    /// The key with a value, to paste.
    pub(crate) example: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Id {
    Attempts,
    Timeout,
    Deadline,
    Backoff,
    Base,
    MaxDelay,
    Factor,
    Jitter,
    On,
    Matches,
    When,
    Unless,
    NotOn,
    WhenOk,
    Policy,
    Budget,
    Idempotent,
    Nested,
    Cancel,
    Clone,
    OnRetry,
    BeforeRetry,
    Name,
    Crate,
}

/// Which grammar says where a value ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Expr,
    /// Alternatives of types; also a list in parentheses.
    Types,
    Pattern,
    /// Names; a list in parentheses.
    Names,
}

impl Shape {
    /// Whether `key(a, b)` may be written.
    pub(crate) fn is_list(self) -> bool {
        matches!(self, Self::Types | Self::Names)
    }
}

macro_rules! keys {
    ($($id:ident $name:literal $shape:ident, $kind:literal;
        $value:literal, $default:literal, $meaning:literal, $example:literal;)*) => {
        &[$(Key {
            id: Id::$id,
            name: $name,
            shape: Shape::$shape,
            kind: $kind,
            value: $value,
            default: $default,
            meaning: $meaning,
            example: $example,
        }),*]
    };
}

pub(crate) static KEYS: &[Key; 24] = keys! {
    Attempts "attempts" Expr, "a whole number from 1, or `\"unlimited\"`";
        "a whole number from 1, or `\"unlimited\"`", "3",
        "calls in all, the first included",
        "attempts = 4";
    Timeout "timeout" Expr, "a duration";
        "`\"1.5s\"`, or an expression of type `Duration`", "none",
        "limit of one attempt",
        "timeout = \"1.5s\"";
    Deadline "deadline" Expr, "a duration";
        "`\"5s\"`, or an expression of type `Duration`", "none",
        "limit of the whole call, waits included",
        "deadline = \"5s\"";
    Backoff "backoff" Expr, "the name of a backoff";
        "`\"exponential\"`, `\"constant\"`, `\"linear\"`, `\"fibonacci\"`", "`\"exponential\"`",
        "how the ceiling of the delay grows",
        "backoff = \"exponential\"";
    Base "base" Expr, "a duration";
        "`\"100ms\"`, or an expression of type `Duration`", "`\"100ms\"`",
        "ceiling of the first delay",
        "base = \"100ms\"";
    MaxDelay "max_delay" Expr, "a duration";
        "`\"20s\"`, or an expression of type `Duration`", "`\"20s\"`",
        "no delay is longer",
        "max_delay = \"20s\"";
    Factor "factor" Expr, "a number from 1 to 1000";
        "a number from 1 to 1000", "2.0",
        "what the exponential ceiling is multiplied by each time",
        "factor = 2.0";
    Jitter "jitter" Expr, "the name of a jitter";
        "`\"none\"`, `\"full\"`, `\"equal\"`, `\"decorrelated\"`", "`\"full\"`",
        "where below its ceiling a delay is drawn",
        "jitter = \"full\"";
    On "on" Types, "error types";
        "error types: `\"io::Error\"`, `\"io::Error \\| hyper::Error\"`, `on(A, B)`", "–",
        "retry an error of this type, or with one inside, unless it calls itself permanent",
        "on = \"io::Error\"";
    Matches "matches" Pattern, "a pattern";
        "a pattern: `\"MyError::Http(500..=599) \\| MyError::Closed\"`", "–",
        "retry an error of this form",
        "matches = \"MyError::Closed\"";
    When "when" Expr, "a path or a closure";
        "a path or closure `Fn(&E) -> bool`", "–",
        "retry if it says so; beside `on`, both must agree",
        "when = \"MyError::is_temporary\"";
    Unless "unless" Expr, "a path or a closure";
        "a path or closure `Fn(&E) -> bool`", "–",
        "never retry if it says so, whatever else says yes",
        "unless = \"MyError::is_fatal\"";
    NotOn "not_on" Types, "error types";
        "error types, as `on`", "–",
        "never retry these, whatever else says yes",
        "not_on = \"io::Error\"";
    WhenOk "when_ok" Expr, "a path or a closure";
        "a path or closure `Fn(&T) -> bool`", "–",
        "an `Ok` that means failure, and is retried",
        "when_ok = \"Response::is_busy\"";
    Policy "policy" Expr, "the path of a `Policy`";
        "the path of a `Policy`: a constant of your own, `FAST_IO`, `SLOW_IO`, `NO_RETRY`", "–",
        "settings by name, which the other keys override",
        "policy = FAST_IO";
    Budget "budget" Expr, "the path of a `static Budget`, or `\"none\"`";
        "the path of a `static Budget`, or `\"none\"`", "one per function",
        "bounds how much load retries may add",
        "budget = PAYMENTS";
    Idempotent "idempotent" Expr, "`true` or `false`";
        "`true` or `false`", "`true`",
        "`false`: retry only what provably never ran, and no timeout",
        "idempotent = false";
    Nested "nested" Expr, "the name of a way to count nested retries";
        "`\"add\"`, `\"multiply\"`, `\"outermost\"`", "`\"add\"`",
        "how the retries of a retried function inside another count",
        "nested = \"add\"";
    Cancel "cancel" Expr, "an expression giving a future";
        "an expression giving a future: `self.shutdown.cancelled()`", "–",
        "stops the call when the future completes",
        "cancel = self.shutdown.cancelled()";
    Clone "clone" Names, "names of arguments";
        "`clone(a, b)`; `clone()` for none", "by use",
        "the arguments that are cloned for each attempt",
        "clone(request)";
    OnRetry "on_retry" Expr, "a path or a closure";
        "a path or closure `Fn(&RetryEvent<'_, E>)`", "–",
        "told before each wait",
        "on_retry = |event| println!(\"{event:?}\")";
    BeforeRetry "before_retry" Expr, "an async closure or an expression giving a future";
        "an async closure, or an expression giving a future", "–",
        "run after the wait and before the next attempt: reconnect, refresh a token",
        "before_retry = self.reconnect()";
    Name "name" Expr, "a string";
        "a string", "module path and function name",
        "label in events and metrics",
        "name = \"payments\"";
    Crate "crate" Expr, "a path";
        "a path", "`::reattempt`",
        "where this crate is, when it is renamed",
        "crate = \"::my_crate::reattempt\"";
};

/// The key of this name.
pub(crate) fn find(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.name == name)
}

/// The key of this meaning.
pub(crate) fn of(id: Id) -> &'static Key {
    let [first, rest @ ..] = KEYS;
    rest.iter().find(|key| key.id == id).unwrap_or(first)
}

/// The known name nearest to what was typed, if one is near.
pub(crate) fn nearest<'a>(
    typed: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    // Jaro-Winkler above 0.8 is what darling uses: typing errors pass, other words do not.
    const NEAR: f64 = 0.8;
    let typed = snake_case(typed);
    known
        .into_iter()
        .map(|name| (name, strsim::jaro_winkler(&typed, name)))
        .filter(|&(_, similarity)| similarity > NEAR)
        .max_by(|(_, a), (_, b)| a.total_cmp(b))
        .map(|(name, _)| name)
}

/// `maxDelay`, `MaxDelay`, `MAX_DELAY` and `max-delay` as `max_delay`.
pub(crate) fn snake_case(name: &str) -> String {
    let mut snake = String::new();
    let mut lower_before = false;
    for char in name.chars() {
        if char.is_uppercase() && lower_before {
            snake.push('_');
        }
        lower_before = char.is_lowercase() || char.is_numeric();
        match char {
            '-' => snake.push('_'),
            _ => snake.extend(char.to_lowercase()),
        }
    }
    snake
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_found() {
        for key in KEYS {
            let found = KEYS
                .iter()
                .filter(|other| other.name == key.name || other.id == key.id);
            assert_eq!(found.count(), 1, "{}", key.name);
            assert_eq!(find(key.name).map(|found| found.id), Some(key.id));
            assert_eq!(of(key.id).name, key.name);
            assert!(key.example.starts_with(key.name), "{}", key.example);
            for text in [key.kind, key.value, key.default, key.meaning] {
                assert!(
                    !text.is_empty() && !text.ends_with('.'),
                    "{}: {text}",
                    key.name
                );
            }
        }
        assert!(find("atempts").is_none());
    }

    #[test]
    fn the_nearest_name_is_near() {
        let names = || KEYS.iter().map(|key| key.name);
        for (typed, expected) in [
            ("atempts", Some("attempts")),
            ("attempt", Some("attempts")),
            ("maxDelay", Some("max_delay")),
            ("MAX_DELAY", Some("max_delay")),
            ("max-delay", Some("max_delay")),
            ("timout", Some("timeout")),
            ("dedline", Some("deadline")),
            ("jiter", Some("jitter")),
            ("xyz", None),
            ("", None),
        ] {
            assert_eq!(nearest(typed, names()), expected, "{typed}");
        }
    }
}
