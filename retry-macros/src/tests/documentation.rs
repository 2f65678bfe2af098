//! The reference has every key.

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
fn the_table_of_the_reference_is_the_table_of_keys() {
    let reference = rows("src/retry.md", include_str!("../../../src/retry.md"));
    let names: Vec<_> = reference
        .iter()
        .filter_map(|row| row.split('`').nth(1))
        .collect();
    let keys: Vec<_> = KEYS.iter().map(|key| key.name).collect();
    assert_eq!(names, keys);
}
