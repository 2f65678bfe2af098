//! A package outside of the workspace, like that of a user, in which programs are compiled.

use std::path::PathBuf;
use std::process::Command;
use std::{env, fs};

use super::source::Program;

const MANIFEST: &str = r#"
[package]
name = "compile-cost"
version = "0.0.0"
edition = "2024"

[workspace]

[dependencies]
backon = { version = "1.6", default-features = false, features = ["std", "tokio-sleep"] }
backon-macros = "1.0"
fastrand = { version = "2.5", default-features = false, features = ["std"] }
reattempt = { path = "ROOT" }
tokio = { version = "1", default-features = false, features = ["io-util", "net", "rt", "time"] }
"#;

pub(crate) struct Package {
    folder: PathBuf,
}

impl Package {
    pub(crate) fn new() -> Self {
        let folder = crate::program::target().join("compile-cost");
        let root = crate::program::root();
        fs::create_dir_all(folder.join("src/bin")).expect("a folder");
        let manifest = MANIFEST.replace("ROOT", &root.display().to_string().replace('\\', "/"));
        fs::write(folder.join("Cargo.toml"), manifest).expect("a manifest");
        fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock")).expect("a lock file");
        Self { folder }
    }

    /// Writes a program to its file, so that cargo sees a change.
    pub(crate) fn write(&self, program: Program) -> &'static str {
        let name = program.side.key();
        fs::write(
            self.folder.join(format!("src/bin/{name}.rs")),
            program.text(),
        )
        .expect("a program");
        name
    }

    /// Runs a command of cargo, and gives its output.
    pub(crate) fn cargo(&self, arguments: &[&str]) -> String {
        run(&mut self.command(arguments, "target"))
    }

    /// The program with all attributes expanded.
    pub(crate) fn expanded(&self, name: &str) -> String {
        let arguments = ["rustc", "--quiet", "--profile", "check", "--bin", name];
        // This needs its own folder, because cargo compiles other crates again with that variable.
        let mut command = self.command(&arguments, "expanded");
        command.env("RUSTC_BOOTSTRAP", "1");
        run(command.args(["--", "-Zunpretty=expanded"]))
    }

    fn command(&self, arguments: &[&str], target: &str) -> Command {
        let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = Command::new(cargo);
        command
            .args(arguments)
            .current_dir(&self.folder)
            .env("CARGO_TARGET_DIR", self.folder.join(target))
            .env("CARGO_INCREMENTAL", "0");
        command
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }
}

/// Runs a command that has to succeed, and gives its output.
pub(crate) fn run(command: &mut Command) -> String {
    let output = command.output().expect("cargo");
    let log = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {log}");
    String::from_utf8(output.stdout).expect("text")
}
