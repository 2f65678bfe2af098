//! Runs each input that the fuzzer kept once more.

use std::path::Path;
use std::{fs, thread};

use fuzz::TARGETS;

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
        let mut inputs = 0;
        for entry in fs::read_dir(corpora.join(target.name)).unwrap() {
            let path = entry.unwrap().path();
            println!("{}", path.display());
            (target.run)(&fs::read(path).unwrap());
            inputs += 1;
        }
        assert!(inputs > 5, "{}: {inputs}", target.name);
    }
}
