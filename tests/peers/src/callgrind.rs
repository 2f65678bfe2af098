//! Counts instructions with valgrind.

use std::io::{self, Write as _};
use std::process::Command;

use crate::{Program, Row, Side};

/// The numbers of calls of the shorter and of the longer run. Their difference, and its product with the waits of
/// a call, are multiples of 64, the slots of a wheel of tokio's timer. So the calls use each slot equally often.
const SHORT: u32 = 64;
const LONG: u32 = SHORT + 1024;

/// Counts the instructions of one call. `None` without valgrind.
///
/// The program runs twice, with fewer and with more calls. The difference omits everything that both runs do
/// besides the calls. The count repeats to about one instruction.
///
/// # Panics
///
/// If the program fails, or if the output of valgrind cannot be read.
#[must_use]
pub fn instructions(program: &Program, side: Side, row: Row) -> Option<u32> {
    counted(program, ["call", side.key(), row.key])
}

/// Says on the output of the test that nothing was counted, because valgrind is missing.
///
/// # Panics
///
/// In CI, where it is installed.
pub fn nothing_counted() {
    assert!(
        std::env::var_os("CI").is_none(),
        "`valgrind` is not installed: apt-get install valgrind"
    );
    // Not `eprintln!`: a test that passes does not show its output.
    let _ = writeln!(
        io::stderr(),
        "valgrind is missing: no instructions were counted"
    );
}

/// The same for the calls that the program makes for these arguments.
pub(crate) fn counted(program: &Program, what: [&str; 3]) -> Option<u32> {
    let short = total(program, what, SHORT)?;
    let long = total(program, what, LONG)?;
    let calls = u64::from(LONG - SHORT);
    u32::try_from((long - short + calls / 2) / calls).ok()
}

fn total(program: &Program, what: [&str; 3], calls: u32) -> Option<u64> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(program.path())
        .args(what)
        .arg(calls.to_string())
        .output()
        .ok()?;
    let log = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{what:?}: {log}");
    let count = log
        .lines()
        .find_map(|line| line.split_once("Collected : "))
        .and_then(|(_, count)| count.trim().parse().ok());
    Some(count.unwrap_or_else(|| panic!("no count: {log}")))
}
