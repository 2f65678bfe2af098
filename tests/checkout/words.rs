//! The pages are short. A word is what `wc -w` counts, code and links included.

use crate::markdown::{read, words};

/// A group of pages, and how many words it may have.
const LIMITS: [(&str, usize); 1] = [("README.md", 650)];

#[test]
fn each_group_of_pages_is_within_its_number_of_words() {
    for (path, most) in LIMITS {
        let words = words(&read(path));
        println!("{path}: {words} words of {most}");
        assert!(words <= most, "{path}: {words} words, at most {most}");
    }
}
