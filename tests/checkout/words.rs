//! The pages are short. A word is what `wc -w` counts, code and links included. The rows of tables are not counted, so that a
//! new key does not cost a sentence.

use std::fs;

use crate::markdown::{read, root, words};

/// The page that has a limit with its tables.
const README: (&str, usize) = ("README.md", 650);

/// A page, or a folder of pages, and how many words it may have outside of tables.
const LIMITS: [(&str, usize); 3] = [
    ("src/retry.md", 1_750),
    ("src/guide", 10_800),
    ("docs", 4_600),
];

/// The Markdown of a page, or of each page in a folder.
fn pages(path: &str) -> Vec<String> {
    if root().join(path).is_file() {
        return vec![read(path)];
    }
    let files = fs::read_dir(root().join(path)).unwrap();
    let files = files.map(|file| file.unwrap().path());
    let pages = files.filter(|file| file.extension().is_some_and(|end| end == "md"));
    pages
        .map(|page| fs::read_to_string(page).unwrap())
        .collect()
}

/// How many words of a page are in the rows of its tables, and how many are not.
fn in_tables_and_outside(page: &str) -> (usize, usize) {
    let rows = page.lines().filter(|line| line.starts_with('|'));
    let inside = rows.map(words).sum();
    (inside, words(page) - inside)
}

/// Says how far a page is from its limit.
fn held(path: &str, found: usize, most: usize) -> Result<String, String> {
    match most.checked_sub(found) {
        Some(left) => Ok(format!("{path}: {found} words of {most}, {left} left")),
        None => Err(format!(
            "{path}: {found} words of {most}, {} too many",
            found - most
        )),
    }
}

#[test]
fn each_group_of_pages_is_within_its_number_of_words() {
    let (path, most) = README;
    let mut groups = vec![held(path, words(&read(path)), most)];
    for (path, most) in LIMITS {
        let counted = pages(path);
        let counted = counted.iter().map(|page| in_tables_and_outside(page).1);
        groups.push(held(path, counted.sum(), most));
    }
    for line in groups.iter().flatten() {
        println!("{line}");
    }
    let wrong: Vec<_> = groups.into_iter().filter_map(Result::err).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_limit_says_by_how_much_and_rows_of_tables_count_apart() {
    let page = "One two.\n\n| a | b |\n|---|---|\n| c d | e |\n\nThree | four.\n";
    assert_eq!(in_tables_and_outside(page), (5 + 1 + 6, 5));
    let within = "p: 5 words of 7, 2 left".to_owned();
    assert_eq!(held("p", 5, 7), Ok(within));
    let beyond = "p: 9 words of 7, 2 too many".to_owned();
    assert_eq!(held("p", 9, 7), Err(beyond));
}

#[test]
fn the_guide_has_at_most_twenty_two_pages() {
    let pages = pages("src/guide").len();
    assert!(pages <= 22, "{pages}");
}
