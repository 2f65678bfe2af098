//! Prints what calls cost.
//!
//! ```text
//! cargo run -p peers -- counts               instructions of one call, every side and row
//! cargo run -p peers -- counts ours          of one side
//! cargo run -p peers -- counts ours pending  of one side and row
//! cargo run -p peers -- sizes                bytes of the futures
//! ```

use std::env;

use peers::{Program, Row, Side, instructions};

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["counts"] => counts(&Side::ALL, &Row::ALL),
        ["counts", side] => counts(&[side.parse().expect("a side")], &Row::ALL),
        ["counts", side, row] => counts(
            &[side.parse().expect("a side")],
            &[row.parse().expect("a row")],
        ),
        ["sizes"] => print!("{}", Program::build().run(&["sizes"])),
        _ => {
            eprintln!("usage: cargo run -p peers -- counts [side [row]] | sizes");
            std::process::exit(2);
        }
    }
}

fn counts(sides: &[Side], rows: &[Row]) {
    let program = Program::build();
    print!("{:<48}", "instructions of one call");
    for side in sides {
        print!("{:>14}", side.key());
    }
    println!();
    for row in rows {
        print!("{:<48}", row.title);
        for side in sides {
            if !row.sides().contains(side) {
                print!("{:>14}", "");
                continue;
            }
            match instructions(&program, *side, *row) {
                Some(count) => print!("{count:>14}"),
                None => print!("{:>14}", "no valgrind"),
            }
        }
        println!();
    }
}
