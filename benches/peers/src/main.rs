//! Prints what calls cost.
//!
//! ```text
//! cargo run -p peers -- counts               instructions of one call, every side and row
//! cargo run -p peers -- counts ours          of one side
//! cargo run -p peers -- counts ours pending  of one side and row
//! cargo run -p peers -- sizes                bytes of the futures
//! ```

use std::env;

use peers::{Program, Row, SIDES, instructions};

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["counts"] => counts(&SIDES, &Row::ALL),
        ["counts", side] => counts(&[side], &Row::ALL),
        ["counts", side, row] => counts(&[side], &[Row::named(row).expect("the key of a row")]),
        ["sizes"] => print!("{}", Program::build().run(&["sizes"])),
        _ => {
            eprintln!("usage: cargo run -p peers -- counts [side [row]] | sizes");
            std::process::exit(2);
        }
    }
}

fn counts(sides: &[&str], rows: &[Row]) {
    let program = Program::build();
    print!("{:<48}", "instructions of one call");
    for side in sides {
        print!("{side:>14}");
    }
    println!();
    for row in rows {
        print!("{:<48}", row.title);
        for side in sides {
            match instructions(&program, side, *row) {
                Some(count) => print!("{count:>14}"),
                None => print!("{:>14}", "no valgrind"),
            }
        }
        println!();
    }
}
