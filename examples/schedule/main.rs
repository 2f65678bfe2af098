//! Shows what a policy does: its delays, drawn 10,000 times, its worst case, and how much load it adds.
//!
//! ```text
//! cargo run -p simulation --example schedule -- FAST_IO
//! cargo run -p simulation --example schedule -- 'attempts = 6, base = "50ms", jitter = "equal", deadline = "5s"'
//! cargo run -p simulation --example schedule -- FAST_IO 'attempts = 4, base = "10ms"'      # side by side
//! cargo run -p simulation --example schedule -- FAST_IO --svg picture.svg
//! ```
//!
//! Settings are those of a configuration file (`Settings`), with commas or on lines of their own. The picture goes to
//! `target/schedule.svg`, or to the file behind `--svg`. Bad input ends with code 2.

mod argument;
mod page;
mod picture;

use std::ffi::OsString;
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use self::argument::Named;

const USAGE: &str = "usage: cargo run -p simulation --example schedule -- POLICY [POLICY] [--svg FILE]\n\
                     POLICY is the name of a preset, FAST_IO, or settings, 'attempts = 6, base = \"50ms\"'";

/// The arguments of the command line.
#[derive(Debug)]
struct Asked {
    policies: Vec<Named>,
    picture: PathBuf,
}

fn main() -> ExitCode {
    let asked = match asked(std::env::args_os().skip(1)) {
        Ok(asked) => asked,
        Err(message) => {
            eprintln!("{message}");
            return ExitCode::from(2);
        }
    };
    match show(&asked) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

/// Reads the arguments. Each mistake in them is a line of the error.
fn asked(arguments: impl Iterator<Item = OsString>) -> Result<Asked, String> {
    let mut texts = Vec::new();
    let mut picture = None;
    let mut arguments = arguments.peekable();
    while let Some(argument) = arguments.next() {
        if argument == "--svg" {
            let file = arguments.next().filter(|file| !file.is_empty());
            let file = file.ok_or_else(|| format!("`--svg` has no file behind it\n{USAGE}"))?;
            picture = Some(PathBuf::from(file));
            continue;
        }
        let text = argument.into_string();
        texts
            .push(text.map_err(|text| format!("found {text:?}, expected text in UTF-8\n{USAGE}"))?);
    }
    if texts.is_empty() || texts.len() > 2 {
        return Err(format!(
            "found {} policies, expected one or two\n{USAGE}",
            texts.len()
        ));
    }
    let (mut policies, mut problems) = (Vec::new(), Vec::new());
    for text in &texts {
        match argument::read(text) {
            Ok(policy) => policies.push(policy),
            Err(problem) => problems.push(problem),
        }
    }
    if !problems.is_empty() {
        return Err(problems.join("\n"));
    }
    let picture = picture.unwrap_or_else(|| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        root.canonicalize()
            .unwrap_or(root)
            .join("target/schedule.svg")
    });
    Ok(Asked { policies, picture })
}

fn show(asked: &Asked) -> Result<(), String> {
    let (text, drawn) = page::write(&asked.policies);
    let picture = asked.picture.display();
    picture::draw(&asked.policies, &drawn, &asked.picture)
        .map_err(|error| format!("{picture}: {error:#}"))?;
    match writeln!(io::stdout(), "{text}\nThe picture is {picture}.") {
        // The reader closed the pipe, so there is nothing more to write.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written.map_err(|error| error.to_string()),
    }
}

#[cfg(test)]
mod tests;
