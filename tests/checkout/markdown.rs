//! Helpers that read the files of the checkout and Markdown, for the tests of the pages.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

pub(crate) fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The files below a folder that have this end, each with its text. Folders of tools are left out.
pub(crate) fn files(folder: &Path, end: &str) -> Vec<(PathBuf, String)> {
    let mut folders = vec![folder.to_owned()];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            if path.is_dir() && name != "target" && !name.starts_with('.') {
                folders.push(path);
            } else if name.ends_with(end) {
                let text = fs::read_to_string(&path).unwrap();
                files.push((path, text));
            }
        }
    }
    files
}

/// The cells of the rows below a table's heading.
pub(crate) fn table(page: &str, heading: &str) -> Vec<Vec<String>> {
    let (_, rows) = page
        .split_once(heading)
        .unwrap_or_else(|| panic!("no {heading}"));
    let rows = rows
        .lines()
        .skip(2)
        .map(|row| row.trim_start_matches("//! "));
    rows.take_while(|row| row.starts_with('|'))
        .map(|row| {
            row.trim_matches('|')
                .split(" | ")
                .map(|cell| cell.trim().to_owned())
                .collect()
        })
        .collect()
}

/// What stands between `<!-- name -->` and `<!-- end name -->`, so that a page may change its sentences.
pub(crate) fn part(path: &str, name: &str) -> String {
    let page = read(path);
    let [begin, end] = ["", "end "].map(|end| format!("<!-- {end}{name} -->"));
    let part = page
        .split_once(&begin)
        .and_then(|(_, rest)| rest.split_once(&end));
    let (part, _) =
        part.unwrap_or_else(|| panic!("{path}: write `{begin}` before, and `{end}` after it"));
    part.to_owned()
}

/// The number of words that `wc -w` counts.
pub(crate) fn words(page: &str) -> usize {
    page.split_whitespace().count()
}

/// The texts between backticks.
pub(crate) fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

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
