//! Text for messages: the nearest name, lists and quotes.

use std::fmt::Display;

/// Returns the known name nearest to the typed text, if one is near.
pub(crate) fn nearest<'a>(
    typed: &str,
    known: &mut dyn Iterator<Item = &'a str>,
) -> Option<&'a str> {
    // The limit of `darling`, which also uses Jaro-Winkler. Typing errors are above it, other words below.
    const NEAR: f64 = 0.8;
    // Our choice: a longer text is no name with a typing error, and the time to compare grows with the product of the lengths.
    const LONGEST: usize = 256;
    let typed: String = typed.chars().take(LONGEST).collect();
    let typed = snake_case(&typed);
    known
        .map(|name| (name, strsim::jaro_winkler(&typed, name)))
        .filter(|&(_, similarity)| similarity > NEAR)
        .max_by(|(_, a), (_, b)| a.total_cmp(b))
        .map(|(name, _)| name)
}

/// Returns whether `words`, which are separated by blanks, contain `word`.
pub(crate) fn among(words: &str, word: &str) -> bool {
    words.split(' ').any(|known| known == word)
}

/// Turns `maxDelay`, `MaxDelay`, `MAX_DELAY` and `max-delay` into `max_delay`.
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

/// Returns `a`, `b` and `c`, each in backticks; `last` stands before the last one.
pub(crate) fn list(names: impl IntoIterator<Item = impl Display>, last: &str) -> String {
    let names: Vec<_> = names.into_iter().map(|name| format!("`{name}`")).collect();
    match names.as_slice() {
        [first @ .., end] if !first.is_empty() => format!("{}{last}{end}", first.join(", ")),
        names => names.concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_near() {
        let names = ["attempts", "timeout", "deadline", "max_delay", "jitter"];
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
            // As near as the limit.
            ("at", None),
            ("", None),
        ] {
            assert_eq!(nearest(typed, &mut names.into_iter()), expected, "{typed}");
        }
    }

    #[test]
    fn each_way_to_join_words_is_turned_into_ours() {
        for name in ["maxDelay", "MaxDelay", "MAX_DELAY", "max-delay"] {
            assert_eq!(snake_case(name), "max_delay", "{name}");
        }
    }

    #[test]
    fn a_list_reads_as_in_a_sentence() {
        assert_eq!(list([""; 0], " or "), "");
        assert_eq!(list(["a"], " or "), "`a`");
        assert_eq!(list(["a", "b"], " or "), "`a` or `b`");
        assert_eq!(list(["a", "b", "c"], " and "), "`a`, `b` and `c`");
    }
}
