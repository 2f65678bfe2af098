//! The reference has every key, and the attribute knows the foreign words of the guide.

use crate::keys::{Foreign, KEYS, foreign};

/// The rows of a table in a page.
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
                Some(Foreign::Key(id)) => id.key().name,
                Some(Foreign::Retries) => "attempts",
                other => panic!("{word}: {other:?}"),
            };
            assert_eq!(Some(answer), keys(ours).next(), "{word}");
        }
    }
}
