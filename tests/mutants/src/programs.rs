//! Builds the tests of the copy, finds out which mutants each of them reaches, and runs them against one.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader};
use std::ops::Range;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};
use std::{fmt, fs, thread};

use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;

use crate::workers;

/// The tests that run by themselves before all others.
const FAST: usize = 6;

#[derive(Clone, Debug)]
pub(crate) struct Program {
    executable: PathBuf,
    folder: PathBuf,
    libraries: PathBuf,
}

#[derive(Debug)]
pub(crate) struct Test {
    program: Program,
    name: String,
    took: Duration,
    reached: BTreeSet<usize>,
    /// Without a mutant, too: then it says nothing of one.
    pub(crate) fails: bool,
}

/// What a build comes to.
#[derive(Debug)]
pub(crate) enum Built {
    Programs(Vec<Program>),
    /// Where the compiler refused something: the file, and the bytes in it. Then what it said.
    Refused(Vec<(String, Range<usize>)>, String),
}

/// What became of a mutant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It does not compile.
    Refused,
    /// A test failed: this one, or the whole program with this status.
    Caught(String),
    /// The tests took far longer than usual.
    Hung(String),
    Missed,
}

impl Fate {
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Self::Refused => "refused",
            Self::Caught(_) => "caught",
            Self::Hung(_) => "hung",
            Self::Missed => "missed",
        }
    }
}

impl fmt::Display for Fate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())?;
        match self {
            Self::Refused | Self::Missed => Ok(()),
            Self::Caught(by) | Self::Hung(by) => write!(f, " by {by}"),
        }
    }
}

/// Builds the tests that `cargo test ARGUMENTS` runs.
pub(crate) fn build(copy: &Path, arguments: &[&str]) -> Result<Built> {
    let output = Command::new("cargo")
        .current_dir(copy)
        .args(["test", "--no-run", "--message-format=json", "--quiet"])
        .args(arguments)
        // For the question that constants may ask.
        .env("RUSTC_BOOTSTRAP", "1")
        .env("CARGO_PROFILE_DEV_DEBUG", "0")
        .stderr(Stdio::inherit())
        .output()?;
    let libraries = Command::new("rustc")
        .args(["--print", "target-libdir"])
        .output()?;
    let libraries = PathBuf::from(String::from_utf8(libraries.stdout)?.trim());
    let mut programs = Vec::new();
    let (mut refused, mut text) = (Vec::new(), String::new());
    for line in output.stdout.split(|byte| *byte == b'\n') {
        let Ok(message) = serde_json::from_slice::<Message>(line) else {
            continue;
        };
        if let Some(executable) = message.executable
            && message.profile.is_some_and(|profile| profile.test)
        {
            let manifest = message.manifest_path.context("cargo names it")?;
            let folder = manifest.parent().context("it is in a folder")?.to_owned();
            programs.push(Program {
                executable,
                folder,
                libraries: libraries.clone(),
            });
        }
        if let Some(error) = message.diagnostic
            && error.level == "error"
        {
            let spans = error.spans.into_iter().filter(|span| span.is_primary);
            refused.extend(spans.map(|span| (span.file_name, span.byte_start..span.byte_end)));
            text += &error.rendered.unwrap_or_default();
        }
    }
    if output.status.success() {
        return Ok(Built::Programs(programs));
    }
    // Else cargo itself has failed, which says nothing of the code.
    ensure!(
        !text.is_empty(),
        "cargo test {arguments:?}: {}",
        output.status
    );
    Ok(Built::Refused(refused, text))
}

/// Runs each test by itself, without a mutant, and notes how long it takes and which mutants it asks for.
pub(crate) fn reach(programs: &[Program], notes: &Path) -> Result<Vec<Test>> {
    let mut names = Vec::new();
    for program in programs {
        let output = program.command(&["--list", "--format", "terse"]).output()?;
        ensure!(output.status.success(), "{program:?}: {}", output.status);
        let output = String::from_utf8(output.stdout)?;
        let listed = output
            .lines()
            .filter_map(|line| line.strip_suffix(": test"));
        names.extend(listed.map(|name| (program.clone(), name.to_owned())));
    }
    fs::create_dir_all(notes)?;
    workers(
        names.into_iter().enumerate(),
        |(number, (program, name))| {
            let note = notes.join(number.to_string());
            fs::write(&note, "")?;
            let begin = Instant::now();
            let mut command = program.command(&["--exact", &name]);
            let fate = watch(
                command.env("MUTANTS_REACHED", &note),
                Duration::from_secs(300),
            )?;
            let fails = fate != Fate::Missed;
            if fails {
                println!("fails without a mutant, and is left out: {name}");
            }
            let reached = fs::read_to_string(&note)?;
            let reached = reached.lines().map(str::parse).collect::<Result<_, _>>()?;
            Ok(Test {
                program,
                name,
                took: begin.elapsed(),
                reached,
                fails,
            })
        },
    )
}

/// Runs the tests that reach a mutant until one fails: a few fast ones, and then program by program.
pub(crate) fn run(tests: &[Test], mutant: usize) -> Result<Fate> {
    let reaching = tests.iter().filter(|test| test.reached.contains(&mutant));
    let mut reaching: Vec<&Test> = reaching.collect();
    reaching.sort_by_key(|test| test.took);
    let others = reaching.split_off(reaching.len().min(FAST));
    let mut groups: Vec<Vec<&Test>> = reaching.into_iter().map(|test| vec![test]).collect();
    let mut programs = BTreeMap::<_, Vec<_>>::new();
    for test in others {
        programs
            .entry(&test.program.executable)
            .or_default()
            .push(test);
    }
    groups.extend(programs.into_values());
    let took = |group: &Vec<&Test>| -> Duration { group.iter().map(|test| test.took).sum() };
    groups.sort_by_key(took);
    for group in groups {
        let names: Vec<&str> = group.iter().map(|test| &*test.name).collect();
        let mut command = group[0].program.command(&["--exact"]);
        command.args(&names).env("MUTANT", mutant.to_string());
        let limit = 5 * took(&group) + Duration::from_secs(10);
        let fate = watch(&mut command, limit)?;
        if fate != Fate::Missed {
            return Ok(fate);
        }
    }
    Ok(Fate::Missed)
}

/// Runs all tests of each program until one fails.
pub(crate) fn run_all(programs: &[Program]) -> Result<Fate> {
    for program in programs {
        let fate = watch(&mut program.command(&[]), Duration::from_secs(120))?;
        if fate != Fate::Missed {
            return Ok(fate);
        }
    }
    Ok(Fate::Missed)
}

impl Program {
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.executable);
        command
            .current_dir(&self.folder)
            .args(arguments)
            .env("CARGO_MANIFEST_DIR", &self.folder)
            // The tests of a macro link the compiler's own libraries.
            .env("LD_LIBRARY_PATH", &self.libraries)
            .env("RUST_BACKTRACE", "0")
            // As `.cargo/config.toml` has it for `cargo test`.
            .env("PROPTEST_CASES", "32")
            .stdin(Stdio::null())
            .stderr(Stdio::null());
        command
    }
}

/// Runs tests until the first of them fails, or all of them take more than `limit`.
fn watch(command: &mut Command, limit: Duration) -> Result<Fate> {
    // What the tests start ends with them.
    let mut child = command.stdout(Stdio::piped()).process_group(0).spawn()?;
    let stdout = child.stdout.take().context("it is piped")?;
    let (sender, failed) = channel();
    thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            let test = line.strip_suffix(" ... FAILED");
            if let Some(test) = test.and_then(|line| line.strip_prefix("test ")) {
                // Nobody listens any more after the first.
                let _ = sender.send(test.to_owned());
            }
        }
    });
    match failed.recv_timeout(limit) {
        Ok(test) => {
            end(&mut child)?;
            Ok(Fate::Caught(test))
        }
        Err(RecvTimeoutError::Timeout) => {
            end(&mut child)?;
            let arguments = command.get_args().map(OsStr::to_string_lossy);
            let tests = arguments.filter(|argument| argument != "--exact");
            Ok(Fate::Hung(tests.collect::<Vec<_>>().join(", ")))
        }
        Err(RecvTimeoutError::Disconnected) => match child.wait()? {
            status if status.success() => Ok(Fate::Missed),
            status => Ok(Fate::Caught(status.to_string())),
        },
    }
}

fn end(child: &mut Child) -> Result<()> {
    let group = format!("-{}", child.id());
    // It may have ended by itself just now.
    let _ = Command::new("kill")
        .args(["-KILL", "--", &group])
        .stderr(Stdio::null())
        .status()?;
    child.wait()?;
    Ok(())
}

#[derive(Debug, Deserialize)]
struct Message {
    executable: Option<PathBuf>,
    manifest_path: Option<PathBuf>,
    profile: Option<Profile>,
    #[serde(rename = "message")]
    diagnostic: Option<Diagnostic>,
}

#[derive(Debug, Deserialize)]
struct Profile {
    test: bool,
}

#[derive(Debug, Deserialize)]
struct Diagnostic {
    level: String,
    rendered: Option<String>,
    spans: Vec<DiagnosticSpan>,
}

#[derive(Debug, Deserialize)]
struct DiagnosticSpan {
    file_name: String,
    byte_start: usize,
    byte_end: usize,
    is_primary: bool,
}
