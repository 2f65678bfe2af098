//! Words for people: the nearest name, and lists.

/// The known name nearest to what was typed, if one is near.
pub(crate) fn nearest<'a>(
    typed: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    // As in the attribute: typing errors pass, other words do not.
    const NEAR: f64 = 0.8;
    let typed = snake_case(typed);
    known
        .into_iter()
        .map(|name| (name, strsim::jaro_winkler(&typed, name)))
        .filter(|&(_, similarity)| similarity > NEAR)
        .max_by(|(_, a), (_, b)| a.total_cmp(b))
        .map(|(name, _)| name)
}

/// Whether a list of words, separated by blanks, has this one.
pub(crate) fn among(words: &str, word: &str) -> bool {
    words.split_whitespace().any(|known| known == word)
}

/// `a`, `b`, `c`, each in backticks.
pub(crate) fn list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<_> = names.into_iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

/// What was typed, on one line and not too long, without quotes.
pub(crate) fn shown(typed: &str) -> String {
    const LONGEST: usize = 60;
    let mut shown = String::new();
    for (at, char) in typed.chars().enumerate() {
        match char {
            _ if at == LONGEST => {
                shown.push('…');
                break;
            }
            '"' | '\'' => shown.push(char),
            _ => shown.extend(char.escape_debug()),
        }
    }
    shown
}

/// What was typed, in quotes.
pub(crate) fn quoted(typed: &str) -> String {
    format!("\"{}\"", shown(typed))
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
