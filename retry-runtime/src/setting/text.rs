//! Text for messages: the nearest name, lists and quotes.

/// The known name nearest to the typed text, if a name is near.
pub(crate) fn nearest<'a>(
    typed: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    // As in the attribute: a word with a typing error is near, another word is not.
    const NEAR: f64 = 0.8;
    let typed = snake_case(start(typed));
    known
        .into_iter()
        .map(|name| (name, strsim::jaro_winkler(&typed, name)))
        .filter(|&(_, similarity)| similarity > NEAR)
        .max_by(|(_, a), (_, b)| a.total_cmp(b))
        .map(|(name, _)| name)
}

/// Whether a list of words, separated by blanks, contains this word.
pub(crate) fn among(words: &str, word: &str) -> bool {
    words.split_whitespace().any(|known| known == word)
}

/// `a`, `b`, `c`, each in backticks.
pub(crate) fn list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<_> = names.into_iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

/// How long a name can be, in characters. Chosen by us: a longer text is no name with a typing error, and the time to
/// find the nearest name grows with the product of the lengths.
const LONGEST_NAME: usize = 256;

/// The characters of a text that can be a name: all, if it is not too long.
pub(crate) fn start(text: &str) -> &str {
    let end = text.char_indices().nth(LONGEST_NAME).map(|(end, _)| end);
    end.and_then(|end| text.get(..end)).unwrap_or(text)
}

/// The typed text without quotes, on one line, cut after 60 characters.
pub(crate) fn shown(typed: &str) -> String {
    cut(typed, 60)
}

/// The name of a place, on one line. It is what a person looks for, so only a text that is no name is cut.
#[cfg(feature = "config")]
pub(crate) fn name_shown(typed: &str) -> String {
    cut(typed, LONGEST_NAME)
}

fn cut(typed: &str, longest: usize) -> String {
    let mut shown = String::new();
    for (at, char) in typed.chars().enumerate() {
        match char {
            _ if at == longest => {
                shown.push('…');
                break;
            }
            '"' | '\'' => shown.push(char),
            _ => shown.extend(char.escape_debug()),
        }
    }
    shown
}

/// The typed text in quotes.
pub(crate) fn quoted(typed: &str) -> String {
    format!("\"{}\"", shown(typed))
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
