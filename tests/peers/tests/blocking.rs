//! What a call of a function with `blocking` may cost beside the loop that people write by hand.
//!
//! The program checks the result of each call, and how often the body ran. The test counts instructions if
//! valgrind is installed.

use peers::{BlockingRow, Program, Side, nothing_counted};

/// The instructions that the attribute adds to the loop by hand, with a body that only counts. The order and the
/// names are those of `BlockingRow::ALL`.
const ADDED: [(&str, u32); 4] = [
    ("ready", 220),
    ("ready-deadline", 343),
    ("three", 8_012),
    ("three-deadline", 8_910),
];

/// How far a count may be above its limit. A release of a dependency may change it slightly.
const SLACK_PERCENT: u32 = 5;

/// The largest allowed ratio to the time of the loop by hand.
const MOST: f64 = 1.05;

#[test]
#[ignore = "it compares times, which a busy machine spoils: `cargo test -p peers blocking -- --ignored`"]
fn no_blocking_call_takes_much_longer_than_the_loop_by_hand() {
    let program = Program::build();
    for row in BlockingRow::ALL {
        // Other work on the machine may spoil a single comparison.
        let mut ratios = vec![row.time(&program)];
        while ratios.len() < 3 && ratios.iter().all(|&ratio| ratio > MOST) {
            ratios.push(row.time(&program));
        }
        println!("{}: {ratios:?} of the time by hand", row.key);
        assert!(
            ratios.iter().any(|&ratio| ratio <= MOST),
            "{}: {ratios:?}",
            row.key
        );
    }
}

#[test]
fn no_blocking_call_adds_more_instructions_than_were_measured() {
    let program = Program::build();
    let mut above = Vec::new();
    for (row, (key, held)) in BlockingRow::ALL.into_iter().zip(ADDED) {
        assert_eq!(row.key, key, "the table has the order of the rows");
        let counts = [Side::Ours, Side::Hand].map(|side| row.instructions(&program, side));
        let [Some(ours), Some(hand)] = counts else {
            return nothing_counted();
        };
        let (added, most) = (ours.saturating_sub(hand), held + held * SLACK_PERCENT / 100);
        println!("{key}: {ours} instructions, {added} more than by hand, at most {most}");
        if added > most {
            above.push(format!(
                "{key}: {added} more instructions than by hand, at most {most}"
            ));
        }
    }
    assert!(above.is_empty(), "{above:#?}");
}
