//! The reference has every key, and the attribute knows the foreign words of the guide.

use crate::keys::{ForeignWord, KEYS, foreign};

fn rows<'a>(name: &str, page: &'a str, heading: &str) -> Vec<&'a str> {
    let mut lines = page.lines();
    assert!(lines.any(|line| line == heading), "{name} has no table");
    assert!(
        lines.next().is_some_and(|line| line.starts_with("|---|")),
        "{name}"
    );
    lines.take_while(|line| line.starts_with('|')).collect()
}

#[test]
fn the_table_of_the_reference_is_the_table_of_keys() {
    let reference = rows(
        "src/retry.md",
        include_str!("../../../src/retry.md"),
        "| key | value | default | meaning |",
    );
    let names: Vec<_> = reference
        .iter()
        .filter_map(|row| row.split('`').nth(1))
        .collect();
    let keys: Vec<_> = KEYS.iter().map(|key| key.name).collect();
    for key in &keys {
        assert!(names.contains(key), "`src/retry.md` has no row for `{key}`");
    }
    assert_eq!(names, keys, "the order of `src/retry.md`");
}

#[test]
fn the_page_that_an_editor_shows_says_what_the_reference_says() {
    let reference = include_str!("../../../src/retry.md");
    let page = rows("src/lib.rs", include_str!("../lib.rs"), "| key | meaning |");
    assert!(page.len() >= 6, "{page:?}");
    for row in page {
        let (key, meaning) = row.trim_end_matches(" |").rsplit_once(" | ").unwrap();
        let own = reference.lines().find(|line| line.starts_with(key));
        assert!(own.is_some_and(|own| own.contains(meaning)), "{row}");
    }
}

/// The keys between backticks, without their values.
fn keys(cell: &str) -> impl Iterator<Item = &str> {
    let quoted = cell.split('`').skip(1).step_by(2);
    quoted.filter_map(|text| text.split(' ').next())
}

#[test]
fn each_foreign_word_of_the_page_suggests_the_key_beside_it() {
    let table = rows(
        "docs/MIGRATING.md",
        include_str!("../../../docs/MIGRATING.md"),
        "| elsewhere | here |",
    );
    assert!(table.len() >= 10, "{}", table.len());
    for row in table {
        let cells: Vec<_> = row.split('|').collect();
        let [_, theirs, ours, _] = cells[..] else {
            panic!("{row}")
        };
        for word in keys(theirs) {
            let answer = match foreign(word) {
                Some(ForeignWord::Key(id)) => id.key().name,
                Some(ForeignWord::Retries) => "attempts",
                other => panic!("{word}: {other:?}"),
            };
            assert_eq!(Some(answer), keys(ours).next(), "{word}");
        }
    }
}

/// A row of another crate begins with a word of it. The compile error for this word and the row name the same key.
#[test]
fn each_row_on_another_crate_has_the_key_that_the_compile_error_names() {
    // There it bounds the call; elsewhere it is the longest delay.
    const OTHERWISE: &str = "| `max_interval` is checked between attempts |";
    let page = include_str!("../../../docs/MIGRATING.md");
    let mut compared = 0;
    // A head, and a row that begins with a link, are about a crate. It may have the name of a word: `retry`.
    let is_crate = |line: &str| line.starts_with("| [") || line.ends_with(" | here |");
    let rows = page.lines().filter(|line| line.starts_with("| "));
    for row in rows.filter(|row| !is_crate(row)) {
        let (theirs, ours) = row[2..].split_once(" | ").unwrap();
        let word = theirs.split('`').nth(1).unwrap_or_default();
        let is_name = |letter: char| letter.is_ascii_alphabetic() || letter == '_';
        let word = word.trim_start_matches('.');
        let word = &word[..word.find(|letter| !is_name(letter)).unwrap_or(word.len())];
        if word.starts_with(char::is_uppercase) {
            continue;
        }
        let key = match foreign(word) {
            Some(ForeignWord::Key(id)) => id.key().name,
            Some(ForeignWord::Retries) => "attempts",
            _ => continue,
        };
        if row.starts_with(OTHERWISE) {
            assert_eq!(key, "max_delay");
            continue;
        }
        assert!(ours.contains(key), "`{word}` is `{key}`: {row}");
        compared += 1;
    }
    assert!(compared >= 18, "{compared}");
}
