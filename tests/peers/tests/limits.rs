//! What a call of an annotated function may cost: the bytes of its future, and its instructions.
//!
//! The test always checks the bytes. It counts the instructions if valgrind is installed.

use peers::{Program, Row, Side, instructions, nothing_counted};

struct Limit {
    of: &'static str,
    /// The measured number when this table was written. The test fails above it.
    held: u32,
    /// The number that we want to reach.
    aim: u32,
}

/// The order and the names are those of `Row::ALL`.
const INSTRUCTIONS: [Limit; 9] = [
    limit("ready", 155, 147),
    limit("ready-limits", 173, 163),
    limit("pending", 265, 255),
    limit("pending-limits", 1_137, 1_058),
    limit("one", 4_317, 3_725),
    limit("one-limits", 4_574, 3_967),
    limit("three", 12_454, 10_993),
    limit("three-limits", 13_185, 11_275),
    limit("three-pending", 21_808, 19_120),
];

/// How far a count may be above its limit. A release of a dependency may change it slightly.
const SLACK_PERCENT: u32 = 5;

/// The order is that of `Program::sizes`.
const BYTES: [Limit; 4] = [
    limit("tiny body, no limits", 192, 192),
    limit("tiny body, limits", 224, 232),
    limit("body of 1 KiB, no limits", 1_144, 1_152),
    limit("body of 1 KiB, limits", 1_248, 1_248),
];

const fn limit(of: &'static str, held: u32, aim: u32) -> Limit {
    Limit { of, held, aim }
}

#[test]
fn no_future_is_larger_than_its_limit() {
    let sizes = Program::build().sizes(Side::Ours);
    let measured = BYTES.iter().zip(sizes);
    check(
        "bytes",
        measured.map(|(limit, size)| (limit, size, limit.held)),
    );
}

#[test]
fn no_call_takes_more_instructions_than_its_limit() {
    let program = Program::build();
    let mut measured = Vec::new();
    for (row, limit) in Row::ALL.into_iter().zip(&INSTRUCTIONS) {
        assert_eq!(row.key, limit.of, "the table has the order of the rows");
        let Some(count) = instructions(&program, Side::Ours, row) else {
            nothing_counted();
            return;
        };
        let most = limit.held + limit.held * SLACK_PERCENT / 100;
        measured.push((limit, count, most));
    }
    check("instructions", measured.into_iter());
}

/// Reports all numbers that are above their limits, not only the first.
fn check<'l>(unit: &str, measured: impl Iterator<Item = (&'l Limit, u32, u32)>) {
    let mut above = String::new();
    for (limit, number, most) in measured {
        let Limit { of, aim, .. } = limit;
        let line = format!("{of}: {number} {unit}, at most {most} (aim {aim})\n");
        print!("{line}");
        if number > most {
            above.push_str(&line);
        }
    }
    assert!(above.is_empty(), "above the limit:\n{above}");
}
