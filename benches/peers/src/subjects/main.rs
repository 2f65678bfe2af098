//! The calls of every side, in one program, so that all of them are compiled alike.
//!
//! `subjects call SIDE ROW N` makes so many calls, and `subjects sizes` prints the bytes of the
//! futures. Each call is checked: for what it returns, and for how often it ran the body.

mod drive;
mod op;
mod policy;
mod sides;

use std::env;

use peers::{Row, SIDES};

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["call", side, row, calls] => sides::call(
            side,
            Row::named(row).expect("the key of a row"),
            calls.parse().expect("a number of calls"),
        ),
        ["sizes"] => sizes(),
        _ => panic!("subjects call SIDE ROW N, or subjects sizes"),
    }
}

fn sizes() {
    let op = drive::op(Row::ALL[0]);
    for side in SIDES {
        let [tiny_free, tiny_limited, big_free, big_limited] = sides::sizes(side, op);
        println!("{side} {tiny_free} {tiny_limited} {big_free} {big_limited}");
    }
}
