//! The keys that `docs/CONFIGURATION.md` lists.

const PAGE: &str = include_str!("../../../../docs/CONFIGURATION.md");

/// The end of a message about an unknown key: all keys in the order of the page.
pub(super) fn keys() -> String {
    let (_, table) = PAGE
        .split_once("| key | value | range | default |\n|---|---|---|---|\n")
        .unwrap();
    let rows = table.lines().take_while(|row| row.starts_with('|'));
    let keys: Vec<_> = rows.map(|row| row.split(' ').nth(1).unwrap()).collect();
    assert!(keys.len() >= 9, "{keys:?}");
    format!("the keys are {}", keys.join(", "))
}
