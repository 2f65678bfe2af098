//! What a call of an annotated function may cost: the bytes of its future, and its instructions.
//!
//! The test always checks the bytes. It counts the instructions if valgrind is installed.

use peers::compile::{Small, llvm_lines};
use peers::{BlockingRow, Program, Row, Side, instructions, nothing_counted};

struct Limit {
    of: &'static str,
    /// The measured number when this table was written. The test fails above it.
    held: u32,
    /// The number that we want to reach.
    aim: u32,
}

/// The order and the names are those of `Row::ALL`.
const INSTRUCTIONS: [Limit; 9] = [
    limit("ready", 270, 189),
    limit("ready-limits", 472, 389),
    limit("pending", 382, 276),
    limit("pending-limits", 1_461, 1_219),
    limit("one", 4_766, 3_725),
    limit("one-limits", 5_350, 3_967),
    limit("three", 13_535, 10_993),
    limit("three-limits", 14_825, 11_275),
    limit("three-pending", 23_522, 19_120),
];

/// How far a count may be above its limit. A release of a dependency may change it slightly. The calls without a timer
/// are nearly all our own code.
fn slack(held: u32) -> u32 {
    let percent = if held < 300 { 2 } else { 5 };
    held * percent / 100
}

/// The order is that of `Program::sizes`.
const BYTES: [Limit; 4] = [
    limit("tiny body, no limits", 248, 240),
    limit("tiny body, limits", 272, 264),
    limit("body of 1 KiB, no limits", 1_192, 1_184),
    limit("body of 1 KiB, limits", 1_296, 1_288),
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
fn a_small_program_grows_by_at_most_88_kb_and_needs_16_crates_without_macros() {
    let [hand, _, ours, run] = Small::of_each(0);
    for small in [ours, run] {
        let more = small.bytes - hand.bytes;
        println!("{more} bytes more, {} crates", small.crates);
        assert!(more <= 88_000, "{small:?}");
    }
    assert!(run.crates <= 16, "{run:?}");
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
        let most = limit.held + slack(limit.held);
        measured.push((limit, count, most));
    }
    check("instructions", measured.into_iter());
}

/// Functions with the same types share the code that follows an attempt.
#[test]
fn a_function_adds_no_more_llvm_lines_than_its_limit() {
    let limits = [
        (limit("function with limits", 1_060, 1_100), Side::Ours),
        (limit("closure with limits", 1_221, 1_100), Side::Run),
    ];
    let rows = limits.iter().map(|(limit, side)| {
        let most = limit.held + slack(limit.held);
        (limit, llvm_lines(*side), most)
    });
    check("lines", rows);
}

#[test]
#[ignore = "it builds the program once more: `cargo test -p peers limits -- --ignored`"]
fn metrics_without_a_recorder_take_less_than_eleven_percent() {
    let [without, with] = [Program::build(), Program::build_with("reattempt/metrics")];
    let rows = Row::ALL.map(|row| {
        let count = |program| instructions(program, Side::Ours, row);
        (row.key.to_owned(), count(&without), count(&with))
    });
    let blocking = BlockingRow::ALL.map(|row| {
        let count = |program| row.instructions(program, Side::Ours);
        let name = format!("blocking {}", row.key);
        (name, count(&without), count(&with))
    });
    let mut above = String::new();
    for (row, without, with) in rows.into_iter().chain(blocking) {
        let (Some(without), Some(with)) = (without, with) else {
            return nothing_counted();
        };
        let line = format!("{row}: {without} instructions, {with} with metrics\n");
        print!("{line}");
        if f64::from(with) >= f64::from(without) * 1.11 {
            above.push_str(&line);
        }
    }
    assert!(above.is_empty(), "11 % more or above:\n{above}");
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
