//! The tables of keys in the documentation are the table of keys.

use crate::keys::KEYS;

/// The row of a key, as Markdown.
fn rows() -> Vec<String> {
    let row = |key: &crate::keys::Key| {
        format!(
            "| `{}` | {} | {} | {} |",
            key.name, key.value, key.default, key.meaning
        )
    };
    KEYS.iter().map(row).collect()
}

fn check(name: &str, page: &str) {
    let expected = rows();
    let mut lines = page.lines();
    assert!(
        lines.any(|line| line == "| key | value | default | meaning |"),
        "{name} has no table"
    );
    assert_eq!(lines.next(), Some("|---|---|---|---|"), "{name}");
    let found: Vec<_> = lines.take_while(|line| line.starts_with('|')).collect();
    assert_eq!(found, expected, "{name}");
}

#[test]
fn the_table_of_the_readme_is_the_table_of_keys() {
    check("README.md", include_str!("../../../README.md"));
}

#[test]
fn the_table_of_the_reference_page_is_the_table_of_keys() {
    check("src/retry.md", include_str!("../../../src/retry.md"));
}
