//! The documentation has every key, and says the same of it everywhere.

use crate::keys::KEYS;

/// The rows of the table of keys in a page.
fn rows<'a>(name: &str, page: &'a str) -> Vec<&'a str> {
    let mut lines = page.lines();
    assert!(
        lines.any(|line| line == "| key | value | default | meaning |"),
        "{name} has no table"
    );
    assert_eq!(lines.next(), Some("|---|---|---|---|"), "{name}");
    lines.take_while(|line| line.starts_with('|')).collect()
}

#[test]
fn the_tables_of_both_pages_are_the_table_of_keys() {
    let readme = rows("README.md", include_str!("../../../README.md"));
    let reference = rows("src/retry.md", include_str!("../../../src/retry.md"));
    assert_eq!(readme, reference);
    let names: Vec<_> = reference
        .iter()
        .filter_map(|row| row.split('`').nth(1))
        .collect();
    let keys: Vec<_> = KEYS.iter().map(|key| key.name).collect();
    assert_eq!(names, keys);
}
