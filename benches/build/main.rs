//! What annotated functions cost the compiler: `cargo check` and `cargo build` of 200 of them, as a
//! ratio to the same 200 with a loop written by hand, and to the same 200 with no retry at all.
//!
//! `cargo bench --bench build`. The three versions are compiled in turn, round by round, each time
//! after a change to its file with all dependencies compiled; the median of the rounds' ratios is
//! printed. What is timed is the whole of cargo, as its user waits for it.

mod source;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use std::{env, fs};

use self::source::{VERSIONS, source};

/// Annotated functions, and rounds.
const FUNCTIONS: usize = 200;
const ROUNDS: usize = 9;

const MANIFEST: &str = r#"
[package]
name = "build-cost"
version = "0.0.0"
edition = "2024"

[workspace]

[dependencies]
rand = { version = "0.10", default-features = false, features = ["thread_rng"] }
reattempt = { path = "ROOT" }
tokio = { version = "1", default-features = false, features = ["io-util", "net", "rt", "time"] }
"#;

fn main() {
    // `cargo test --benches` only wants to know that it runs.
    let (functions, rounds) = if env::args().any(|argument| argument == "--bench") {
        (FUNCTIONS, ROUNDS)
    } else {
        (2, 1)
    };
    let package = Package::new(functions);
    println!("median of {rounds} rounds, {functions} functions");
    for command in ["check", "build"] {
        for version in VERSIONS {
            package.time(command, version);
        }
        let mut to_loop = Vec::new();
        let mut to_plain = Vec::new();
        let mut longest = Duration::ZERO;
        for _ in 0..rounds {
            let [plain, by_hand, annotated] =
                VERSIONS.map(|version| package.time(command, version));
            to_loop.push(annotated.as_secs_f64() / by_hand.as_secs_f64());
            to_plain.push(annotated.as_secs_f64() / plain.as_secs_f64());
            longest = longest.max(annotated);
        }
        println!(
            "cargo {command:<5}  annotated / by hand {:.2}   annotated / plain {:.2}   (at most {:.2} s)",
            median(to_loop),
            median(to_plain),
            longest.as_secs_f64()
        );
    }
}

fn median(mut ratios: Vec<f64>) -> f64 {
    ratios.sort_by(f64::total_cmp);
    ratios[ratios.len() / 2]
}

/// A package with one program for each version.
struct Package {
    folder: PathBuf,
}

impl Package {
    fn new(functions: usize) -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("build-cost");
        fs::create_dir_all(folder.join("src/bin")).expect("a folder");
        let manifest = MANIFEST.replace("ROOT", &root.display().to_string().replace('\\', "/"));
        fs::write(folder.join("Cargo.toml"), manifest).expect("a manifest");
        fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock")).expect("a lock file");
        let package = Self { folder };
        for version in VERSIONS {
            fs::write(package.file(version), source(version, functions)).expect("a program");
        }
        package
    }

    fn file(&self, version: &str) -> PathBuf {
        self.folder.join(format!("src/bin/{version}.rs"))
    }

    /// Changes the program and compiles it.
    fn time(&self, command: &str, version: &str) -> Duration {
        let file = self.file(version);
        let mut program = fs::read_to_string(&file).expect("a program");
        program.push_str("// changed\n");
        fs::write(&file, program).expect("a program");
        let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut compile = Command::new(cargo);
        compile
            .args([command, "--quiet", "--offline", "--bin", version])
            .current_dir(&self.folder)
            .env("CARGO_TARGET_DIR", self.folder.join("target"))
            .env("CARGO_INCREMENTAL", "0");
        let start = Instant::now();
        let status = compile.status().expect("cargo");
        let time = start.elapsed();
        assert!(status.success(), "cargo {command} --bin {version}");
        time
    }
}
