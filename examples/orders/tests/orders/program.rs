//! Runs the program, as users start it.

use std::process::Command;

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
    let ways: Vec<_> = printed
        .lines()
        .filter(|line| line.contains(" orders: answered "))
        .collect();
    let sum = |words| ways.iter().map(|way| number(way, words)).sum::<usize>();
    assert_eq!([sum(" orders:"), sum(" charges")], [200, 180], "{printed}");
    assert!(printed.contains("0 orders are lost, 0 are charged twice."));
    // Some of each kind, or the program shows nothing.
    for kind in [
        "201, then Charged",
        "202, then Charged",
        "202, then Refused",
    ] {
        assert!(printed.contains(kind), "{kind}: {printed}");
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
