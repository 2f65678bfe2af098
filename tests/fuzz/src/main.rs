//! Runs a target. `.ci/fuzz` builds it as a fuzzer; built as usual, it runs single inputs: `cargo run -p fuzz -- toml FILE`.

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
    let target = args.next().and_then(|name| fuzz::find(&name));
    let names = fuzz::TARGETS.map(|target| target.name);
    let target = target.unwrap_or_else(|| panic!("expected one of {names:?}, and files"));
    for file in args {
        (target.run)(&std::fs::read(file)?);
    }
    Ok(())
}
