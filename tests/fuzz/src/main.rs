//! Runs a target. `.ci/fuzz` builds it as a fuzzer. Built as usual, it runs single inputs, `cargo run -p fuzz -- toml FILE`, and
//! writes them as lines of a corpus, `cargo run -p fuzz -- lines FILES`.

#![cfg_attr(fuzzing, no_main)]

#[cfg(fuzzing)]
mod fuzzer {
    use std::sync::OnceLock;

    use fuzz::Target;

    /// The target that the environment names. libFuzzer reads the arguments.
    static TARGET: OnceLock<&Target> = OnceLock::new();

    libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
        let target = TARGET.get_or_init(|| {
            let name = std::env::var("FUZZ_TARGET").expect("FUZZ_TARGET names a target");
            fuzz::find(&name).expect("a target")
        });
        (target.run)(bytes);
    });
}

#[cfg(not(fuzzing))]
fn main() -> std::io::Result<()> {
    let mut args = std::env::args().skip(1);
    let command = args.next().unwrap_or_default();
    let names = fuzz::TARGETS.map(|target| target.name);
    let target = fuzz::find(&command);
    assert!(
        target.is_some() || command == "lines",
        "expected `lines` or one of {names:?}, and files"
    );
    for file in args {
        let input = std::fs::read(file)?;
        match target {
            Some(target) => (target.run)(&input),
            None => println!("{}", fuzz::corpus::line(&input)),
        }
    }
    Ok(())
}
