//! Helpers that read Markdown, for the tests of the pages.

use std::collections::BTreeSet;

/// The fragments of the headings of a page, except within code. The page may be the docs of a module.
pub(crate) fn headings(page: &str) -> BTreeSet<String> {
    let mut code = false;
    let lines = page.lines().map(|line| line.trim_start_matches("//! "));
    lines
        .filter(|line| {
            code ^= line.starts_with("```");
            !code
        })
        .filter_map(|line| {
            Some(fragment(
                line.strip_prefix('#')?.trim_start_matches('#').trim(),
            ))
        })
        .collect()
}

/// The fragment by which rustdoc and GitHub link to a heading.
fn fragment(heading: &str) -> String {
    let letters = heading.to_lowercase();
    letters
        .chars()
        .filter_map(|letter| match letter {
            ' ' => Some('-'),
            '-' | '_' => Some(letter),
            _ => letter.is_alphanumeric().then_some(letter),
        })
        .collect()
}
