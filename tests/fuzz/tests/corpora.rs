//! Runs each input that the fuzzer kept once more.

use std::path::Path;
use std::{fs, thread};

use fuzz::{TARGETS, corpus};

/// The stack on which rustc runs a macro. The threads of tests have a quarter of it, and syn, which reads types, needs as much
/// as they are deep.
const STACK: usize = 8 * 1024 * 1024;

#[test]
fn every_kept_input_runs_without_a_panic() {
    let all = thread::Builder::new().stack_size(STACK).spawn(run_all);
    all.unwrap().join().expect("the last input that is printed");
}

fn run_all() {
    let corpora = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpora");
    for target in &TARGETS {
        let lines = fs::read_to_string(corpora.join(target.name).with_extension("txt")).unwrap();
        for line in lines.lines() {
            println!("{}: {line}", target.name);
            (target.run)(&corpus::input(line));
        }
        assert!(lines.lines().count() > 5, "{}", target.name);
    }
}

#[test]
fn a_line_is_read_back_as_the_input_that_it_was() {
    let all: Vec<u8> = (0..=u8::MAX).chain(*br"\x41\n\").collect();
    let line = corpus::line(&all);
    assert!(
        line.bytes().all(|byte| matches!(byte, b' '..=b'~')),
        "{line}"
    );
    assert_eq!(corpus::input(&line), all);
    assert_eq!(corpus::line(b"a \"b\"\n\\\xff"), r#"a "b"\n\\\xff"#);
}
