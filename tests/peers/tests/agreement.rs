//! Every side does the same, as a fair comparison needs.

use peers::{Program, Row};

/// The program checks each call itself: its result, the runs of the body, and the time it waited.
#[test]
fn every_side_returns_the_same_and_calls_and_waits_as_often() {
    let program = Program::build();
    for row in Row::ALL {
        for side in row.sides() {
            let _ = program.run(&["call", side.key(), row.key, "50"]);
        }
    }
}
