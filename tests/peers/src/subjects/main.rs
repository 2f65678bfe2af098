//! The calls of every side, in one program, so that the compiler treats all of them alike.
//!
//! `subjects call SIDE ROW N` makes N calls, `subjects sizes SIDE` prints the bytes of its futures,
//! and `subjects times ROW BATCHES` compares all sides with the loop by hand.

mod blocking;
mod drive;
mod op;
mod policy;
mod sides;
mod times;

use std::env;
use std::future::Future;

use peers::{Row, Side};

use self::drive::drive;
use self::op::{Op, R};
use self::sides::{Body, Visit, with_body, with_row};

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["call", side, row, calls] => {
            let row = row.parse().expect("a row");
            let calls = calls.parse().expect("a number of calls");
            with_row(side.parse().expect("a side"), row, Calls { row, calls });
        }
        ["sizes", side] => sizes(side.parse().expect("a side")),
        ["times", row, batches] => times::print(
            row.parse().expect("a row"),
            batches.parse().expect("a number of batches"),
        ),
        ["blocking", side, row, calls] => {
            blocking::call(side, row, calls.parse().expect("a number of calls"));
        }
        ["blocking-times", row, batches] => {
            blocking::print_times(row, batches.parse().expect("a number of batches"));
        }
        _ => panic!("subjects call SIDE ROW N | sizes SIDE | times ROW BATCHES"),
    }
}

struct Calls {
    row: Row,
    calls: u32,
}

impl Visit for Calls {
    type Output = ();

    fn visit<F>(self, call: impl Fn(&'static Op) -> F + 'static)
    where
        F: Future<Output = R> + 'static,
    {
        drive(self.row, self.calls, call);
    }
}

/// The bytes of a future.
struct Size;

impl Visit for Size {
    type Output = usize;

    fn visit<F>(self, call: impl Fn(&'static Op) -> F + 'static) -> usize
    where
        F: Future<Output = R> + 'static,
    {
        size_of_val(&call(drive::op(Row::ALL[0])))
    }
}

/// Prints the bytes for a tiny body, without limits and with limits, and then for a body of 1 KiB.
fn sizes(side: Side) {
    for body in [Body::Tiny, Body::Big] {
        for limits in [false, true] {
            println!("{}", with_body(side, body, limits, Size));
        }
    }
}
