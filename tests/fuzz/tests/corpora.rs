//! Runs each input that the fuzzer kept once more.

use std::fs;
use std::path::Path;

use fuzz::TARGETS;

#[test]
fn every_kept_input_runs_without_a_panic() {
    for target in &TARGETS {
        let corpus = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("corpora")
            .join(target.name);
        let mut inputs = 0;
        for entry in fs::read_dir(&corpus).unwrap() {
            let path = entry.unwrap().path();
            println!("{}", path.display());
            (target.run)(&fs::read(path).unwrap());
            inputs += 1;
        }
        assert!(inputs > 5, "{}: {inputs}", target.name);
    }
}
