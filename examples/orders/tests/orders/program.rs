//! Runs the program, as users start it.

use std::process::Command;

/// The numbers of a row of the table: orders, charges, charged twice, lost.
fn row(printed: &str, name: &str) -> Vec<usize> {
    let row = printed.lines().find(|line| line.starts_with(name));
    let row = row.unwrap_or_else(|| panic!("no row {name}: {printed}"));
    let numbers = row.split_whitespace().rev().take(4);
    let mut numbers: Vec<usize> = numbers.map(|number| number.parse().unwrap()).collect();
    numbers.reverse();
    numbers
}

/// The number before these words.
fn number(printed: &str, words: &str) -> usize {
    let (before, _) = printed
        .split_once(words)
        .unwrap_or_else(|| panic!("{printed}"));
    before.split_whitespace().last().unwrap().parse().unwrap()
}

pub(crate) async fn each_order_is_charged_once_or_refused() {
    let output = Command::new(env!("CARGO_BIN_EXE_orders")).output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{printed}{errors}");
    assert_eq!(row(&printed, "all "), [200, 180, 0, 0]);
    // Some of each kind, or the program shows nothing.
    for kind in ["201     charged", "202     charged", "202     refused"] {
        assert!(row(&printed, kind)[0] > 0, "{kind}: {printed}");
    }
    assert_eq!(printed.matches("was killed").count(), 2, "{printed}");
    assert!(number(&printed, " jobs under way") >= 2, "{printed}");
    assert!(number(&printed, " commits of the shop") >= 10, "{printed}");
    // The order whose worker was killed after its charge, and those that the shop did not hear of.
    assert!(
        number(&printed, " charges were asked for again") >= 2,
        "{printed}"
    );
}
