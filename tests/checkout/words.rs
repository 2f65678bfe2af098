//! The pages are short. A word is what `wc -w` counts, code and links included. The rows of tables are not counted, so that a
//! new key does not cost a sentence.

use std::fs;

use crate::markdown::{read, root, words};

/// The page that has a limit with its tables.
const README: (&str, usize) = ("README.md", 720);

/// A page, or a folder of pages, and how many words it is to have outside of tables.
const LIMITS: [(&str, usize); 3] = [
    ("src/retry.md", 1_850),
    ("src/guide", 12_600),
    ("docs", 5_400),
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

/// How many words of a page are in the rows of its tables, and how many are not. Lines that only make an example run, which rustdoc
/// hides, are not counted.
fn in_tables_and_outside(page: &str) -> (usize, usize) {
    let mut in_code = false;
    let shown = page.lines().filter(|line| {
        in_code ^= line.starts_with("```");
        !(in_code && (*line == "#" || line.starts_with("# ")))
    });
    let (rows, other): (Vec<_>, Vec<_>) = shown.partition(|line| line.starts_with('|'));
    let [inside, outside] = [rows, other].map(|lines| lines.into_iter().map(words).sum());
    (inside, outside)
}

/// Says how far a page is from its limit. It may have 5 % more words, so that a new row or client costs no sentence of another page.
fn held(path: &str, found: usize, limit: usize) -> Result<String, String> {
    let most = limit + limit / 20;
    let said = format!("{path}: {found} words, limit {limit}, at most {most}");
    match most.checked_sub(found) {
        Some(_) => Ok(said),
        None => Err(format!(
            "{said}: shorten what was added here by {}, or raise the limit in tests/checkout/words.rs",
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
    let page = "One two.\n\n| a | b |\n|---|---|\n| c d | e |\n\nThree | four.\n```\n# six\nseven\n```\n# Eight\n";
    assert_eq!(in_tables_and_outside(page), (5 + 1 + 6, 5 + 3 + 2));
    let within = "p: 42 words, limit 40, at most 42".to_owned();
    assert_eq!(held("p", 42, 40), Ok(within));
    let beyond = held("p", 43, 40).unwrap_err();
    assert!(
        beyond.starts_with("p: 43 words, limit 40, at most 42: shorten what was added here by 1, ")
    );
}

#[test]
fn the_guide_has_at_most_twenty_four_pages_and_an_index() {
    let pages = pages("src/guide").len();
    assert!(pages <= 24 + 1, "{pages}");
}
