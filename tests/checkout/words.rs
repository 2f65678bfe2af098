//! The pages are short. A word is what `wc -w` counts, code and links included.

use std::fs;

use crate::markdown::{read, root, words};

/// A page, or a folder of pages, and how many words it may have.
const LIMITS: [(&str, usize); 4] = [
    ("README.md", 650),
    ("src/retry.md", 3_200),
    ("src/guide", 13_000),
    ("docs", 15_000),
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

#[test]
fn each_group_of_pages_is_within_its_number_of_words() {
    for (path, most) in LIMITS {
        let words: usize = pages(path).iter().map(|page| words(page)).sum();
        println!("{path}: {words} words of {most}");
        assert!(words <= most, "{path}: {words} words, at most {most}");
    }
}

#[test]
fn the_guide_has_at_most_twenty_pages() {
    let pages = pages("src/guide").len();
    assert!(pages <= 20, "{pages}");
}
