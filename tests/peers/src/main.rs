//! Prints what calls cost, as tables in Markdown.
//!
//! ```text
//! cargo run -p peers -- --write              everything, into docs/PERFORMANCE.md
//! cargo run -p peers -- counts               instructions of one call, every side and row
//! cargo run -p peers -- counts ours          of one side
//! cargo run -p peers -- counts ours pending  of one side and row
//! cargo run -p peers -- times                times of one call, as ratios to the loop by hand
//! cargo run -p peers -- sizes                bytes of the futures
//! cargo run -p peers -- blocking             instructions and times of functions that are not async
//! cargo run -p peers -- compiler             what the compiler does for one function
//! cargo run -p peers -- small                what one function adds to a small program
//! ```

use std::env;

use peers::report::{self, Counts, Times};
use peers::{Program, Row, Side};

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["--write"] => report::write(),
        ["counts"] => counts(&Side::ALL, &Row::ALL),
        ["counts", side] => counts(&[side.parse().expect("a side")], &Row::ALL),
        ["counts", side, row] => counts(
            &[side.parse().expect("a side")],
            &[row.parse().expect("a row")],
        ),
        ["times"] => print!(
            "{}",
            Times::of(&Program::build(), report::TIME_ROUNDS).table()
        ),
        ["sizes"] => print!("{}", report::sizes(&Program::build())),
        ["blocking"] => print!("{}", report::blocking(&Program::build())),
        ["compiler"] => print!("{}", report::compiler(report::COMPILE_ROUNDS)),
        ["small"] => print!("{}", report::small(report::BUILD_ROUNDS)),
        _ => {
            eprintln!(
                "usage: cargo run -p peers -- --write | counts [SIDE [ROW]] | times | sizes | blocking | compiler | small"
            );
            std::process::exit(2);
        }
    }
}

fn counts(sides: &[Side], rows: &[Row]) {
    print!("{}", Counts::of(&Program::build(), sides, rows).table());
}
