//! Runs the program, as users start it, with a shorter outage.

use std::process::Command;

/// The number before these words.
fn number(printed: &str, words: &str) -> usize {
    let (before, _) = printed
        .split_once(words)
        .unwrap_or_else(|| panic!("{printed}"));
    before.split_whitespace().last().unwrap().parse().unwrap()
}

pub(crate) async fn each_message_is_booked_once() {
    // Longer than the broker waits for an answer.
    let mut program = Command::new(env!("CARGO_BIN_EXE_consumer"));
    let output = program.arg("9").output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{printed}{errors}");
    assert_eq!(errors, "");
    assert_eq!(
        number(&printed, " messages are booked"),
        40 * (2 + 9 + 2 + 7)
    );
    assert!(printed.contains("None is lost, and none is booked twice."));
    // Some of each kind, or the program shows nothing.
    for words in [
        " were booked at a later delivery",
        " came again after they were booked",
        " were not answered",
    ] {
        assert!(number(&printed, words) > 0, "{printed}");
    }
}
