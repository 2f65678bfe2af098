//! What one more function with a timeout and a deadline adds to a program.

use std::fs;
use std::process::Command;

use super::package::Package;
use super::source::Program;
use crate::Side;

/// The numbers of functions of the shorter and of the longer program.
const FEW: usize = 20;
const MANY: usize = 120;

/// What one more function adds.
#[derive(Clone, Copy, Debug)]
pub struct Code {
    /// Bytes of machine code, in a release build with one codegen unit. `None` without the program `size`, which
    /// reads them.
    pub machine: Option<u32>,
    /// Lines of LLVM IR before optimisation.
    pub llvm: u32,
    /// Bytes of source after the expansion of the attribute.
    pub source: u32,
}

impl Code {
    /// Measures one side.
    ///
    /// # Panics
    ///
    /// If a program does not compile.
    #[must_use]
    pub fn of(side: Side) -> Self {
        Self {
            machine: more(side, machine),
            llvm: llvm_lines(side),
            source: more(side, |package, name| Some(package.expanded(name).len())).unwrap(),
        }
    }
}

/// The lines of LLVM IR that one more function adds, before optimisation.
///
/// # Panics
///
/// If a program does not compile.
#[must_use]
pub fn llvm_lines(side: Side) -> u32 {
    more(side, |package, name| Some(llvm(package, name))).unwrap()
}

/// What one more function adds to what `measure` finds. `None` if it cannot measure.
fn more(side: Side, measure: impl Fn(&Package, &str) -> Option<usize>) -> Option<u32> {
    let package = Package::new();
    let of = |functions| measure(&package, package.write(Program { side, functions }));
    let more = (of(MANY)? - of(FEW)?) / (MANY - FEW);
    Some(u32::try_from(more).expect("a function of a few thousand lines"))
}

/// The bytes of machine code of a whole program.
fn machine(package: &Package, name: &str) -> Option<usize> {
    let build = ["rustc", "--quiet", "--release", "--bin", name, "--"];
    let _ = package.cargo(&[&build[..], &["-Ccodegen-units=1"]].concat());
    let sections = Command::new("size")
        .arg("-A")
        .arg(package.file(&format!("target/release/{name}")))
        .output()
        .ok()?;
    let sections = String::from_utf8(sections.stdout).ok()?;
    let text = sections.lines().find(|line| line.starts_with(".text "))?;
    text.split_whitespace().nth(1)?.parse().ok()
}

/// The lines of LLVM IR in the bodies of a whole program's functions.
fn llvm(package: &Package, name: &str) -> usize {
    let file = package.file(&format!("{name}.ll"));
    let emit = format!("--emit=llvm-ir={}", file.display());
    let build = ["rustc", "--quiet", "--release", "--bin", name, "--"];
    let flags = ["-Ccodegen-units=1", "-Cno-prepopulate-passes", &emit];
    let _ = package.cargo(&[&build[..], &flags].concat());
    let text = fs::read_to_string(file).expect("LLVM IR");
    let inside = |line: &&str| line.starts_with(' ') || line.ends_with(':');
    text.lines().filter(inside).count()
}
