//! The figures as tables, and the pages that show them.

mod counts;
mod machine;
mod page;
mod table;
mod times;

pub use counts::Counts;
pub use times::Times;

use self::page::Page;
use self::table::{Table, number, ratio};
use crate::compile::{self, Code, Small, WAYS};
use crate::{BlockingRow, Program, Row, Side};

/// Rounds of a comparison of times.
pub const TIME_ROUNDS: u32 = 301;
/// Rounds of a comparison of the compiler's work.
pub const COMPILE_ROUNDS: usize = 3;
/// Builds of a small program from nothing.
pub const BUILD_ROUNDS: usize = 3;

/// Measures everything and writes it into `docs/PERFORMANCE.md`.
///
/// # Panics
///
/// If a page lacks one of the marks around its figures.
pub fn write() {
    let program = Program::build();
    let counts = Counts::of(&program, &Side::ALL, &Row::ALL);

    let mut page = Page::read("docs/PERFORMANCE.md");
    page.fill("cost", &summary(&counts));
    page.fill("machine", &machine::description());
    page.fill("counts", &counts.table());
    page.fill("sizes", &sizes(&program));
    page.fill("compiler", &compiler(COMPILE_ROUNDS));
    page.fill("small", &small(BUILD_ROUNDS));
    page.write();
}

/// The bytes of the futures, in Markdown.
#[must_use]
pub fn sizes(program: &Program) -> String {
    let headings = [
        "tiny body, no limits",
        "tiny body, limits",
        "1 KiB body, no limits",
        "1 KiB body, limits",
    ];
    let mut table = Table::new("bytes", headings);
    for side in Side::ALL {
        let sizes = program.sizes(side);
        table.row(side.title(), sizes.map(|size| number(Some(size))));
    }
    table.text()
}

/// The cost of functions that are not async, in Markdown.
#[must_use]
pub fn blocking(program: &Program) -> String {
    let headings = ["by hand", "`#[retry(blocking)]`", "time / by hand"];
    let mut table = Table::new("instructions", headings);
    for row in BlockingRow::ALL {
        let [hand, ours] = [Side::Hand, Side::Ours].map(|side| row.instructions(program, side));
        let time = row.time(program);
        table.row(row.title, [number(hand), number(ours), ratio(Some(time))]);
    }
    table.text()
}

/// The compile times and code sizes, in Markdown.
#[must_use]
pub fn compiler(rounds: usize) -> String {
    let efforts = compile::efforts(rounds);
    let headings = [
        "`cargo check` / by hand",
        "release build / by hand",
        "machine code (bytes)",
        "LLVM lines",
        "source (bytes)",
    ];
    let mut table = Table::new("one function with limits", headings);
    for (place, side) in compile::SIDES.into_iter().enumerate() {
        let effort = efforts.as_ref().map(|efforts| efforts[place].1);
        let code = Code::of(side);
        let cells = [
            ratio(effort.map(|effort| effort.check)),
            ratio(effort.map(|effort| effort.release)),
            number(code.machine),
            number(Some(code.llvm)),
            number(Some(code.source)),
        ];
        table.row(side.title(), cells);
    }
    table.text()
}

/// What retries add to a small program, in Markdown.
#[must_use]
pub fn small(rounds: usize) -> String {
    let headings = [
        "crates",
        "debug build from nothing / by hand",
        "kB more than by hand",
    ];
    let mut table = Table::new("one function with three attempts and a timeout", headings);
    let found = Small::of_each(rounds);
    let hand = found[0];
    for (way, small) in WAYS.iter().zip(found) {
        let build = small
            .build
            .zip(hand.build)
            .map(|(build, hand)| build / hand);
        let more = small.bytes.saturating_sub(hand.bytes);
        let cells = [
            number(Some(small.crates)),
            ratio(build),
            number(Some((more + 500) / 1000)),
        ];
        table.row(way.title, cells);
    }
    table.text()
}

/// The head of the page: the attribute beside the loop by hand.
fn summary(counts: &Counts) -> String {
    let rows = [
        ("is ready at once, no limits", "ready"),
        ("is ready at once, with limits", "ready-limits"),
        ("is pending once, no limits", "pending"),
        ("is pending once, with limits", "pending-limits"),
        ("fails three times, then succeeds, no limits", "three"),
        (
            "fails three times, then succeeds, with limits",
            "three-limits",
        ),
    ];
    let mut table = Table::new("a call that …", ["instructions / by hand"]);
    for (title, key) in rows {
        let row: Row = key.parse().expect("a row");
        let count = counts.ratio(row, Side::Ours, Side::Hand);
        table.row(title, [ratio(count)]);
    }
    table.text()
}
