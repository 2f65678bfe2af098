//! A small program with one function that retries, in a package of its own: what it costs to build and to ship.

use std::process::Command;
use std::{env, fs};

use super::cpu;

/// How the program retries.
#[derive(Clone, Copy, Debug)]
pub struct Way {
    /// What a page calls it.
    pub title: &'static str,
    folder: &'static str,
    dependency: &'static str,
    function: &'static str,
}

/// The ways to compare; the first is what the others are measured by.
pub const WAYS: [Way; 4] = [
    Way {
        title: "by hand",
        folder: "hand",
        dependency: "",
        function: "\
async fn fetch(address: SocketAddr) -> io::Result<String> {
    let mut attempt = 0;
    loop {
        attempt += 1;
        let error = match timeout(LIMIT, ask(address)).await {
            Ok(Ok(answer)) => return Ok(answer),
            Ok(Err(error)) => error,
            Err(_) => io::ErrorKind::TimedOut.into(),
        };
        if attempt == 3 {
            return Err(error);
        }
        tokio::time::sleep(Duration::from_millis(100 << attempt)).await;
    }
}",
    },
    Way {
        title: "backon",
        folder: "backon",
        dependency: r#"backon = { version = "1.6", default-features = false, features = ["std", "tokio-sleep"] }"#,
        function: "\
async fn fetch(address: SocketAddr) -> io::Result<String> {
    use backon::Retryable as _;

    let limited = || async move { timeout(LIMIT, ask(address)).await.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into())) };
    let backoff = backon::ExponentialBuilder::new().with_max_times(2).with_jitter();
    limited.retry(backoff).await
}",
    },
    Way {
        title: "`#[retry]`",
        folder: "retry",
        dependency: r#"reattempt = { path = "ROOT" }"#,
        function: "\
#[reattempt::retry(attempts = 3, timeout = LIMIT)]
async fn fetch(address: SocketAddr) -> io::Result<String> {
    ask(address).await
}",
    },
    Way {
        title: "`Policy::run`, without the feature `macros`",
        folder: "run",
        dependency: r#"reattempt = { path = "ROOT", default-features = false }"#,
        function: "\
async fn fetch(address: SocketAddr) -> io::Result<String> {
    const POLICY: reattempt::Policy = reattempt::Policy::new().with_timeout(LIMIT);
    POLICY.run(|| ask(address)).await
}",
    },
];

const MANIFEST: &str = r#"
[package]
name = "small"
version = "0.0.0"
edition = "2024"

[workspace]

[dependencies]
tokio = { version = "1", default-features = false, features = ["io-util", "net", "rt", "time"] }
DEPENDENCY

[profile.release]
opt-level = "z"
lto = true
codegen-units = 1
panic = "abort"
strip = true
"#;

const PROGRAM: &str = "\
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::AsyncReadExt as _;
use tokio::net::TcpStream;
use tokio::time::timeout;

const LIMIT: Duration = Duration::from_secs(1);

async fn ask(address: SocketAddr) -> io::Result<String> {
    let mut answer = String::new();
    TcpStream::connect(address).await?.read_to_string(&mut answer).await?;
    Ok(answer)
}

FUNCTION

fn main() -> io::Result<()> {
    let address = std::env::args().nth(1).expect(\"an address\").parse().expect(\"an address\");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let limited = async { timeout(Duration::from_secs(60), fetch(address)).await };
    println!(\"{}\", runtime.block_on(limited)??);
    Ok(())
}
";

/// What a program costs.
#[derive(Clone, Copy, Debug)]
pub struct Small {
    /// The crates that cargo builds for it, itself included.
    pub crates: u32,
    /// Bytes of the program, built for size.
    pub bytes: u64,
    /// CPU time of a debug build from nothing, in ticks: the least of some builds. `None` if it is not known.
    pub build: Option<f64>,
}

impl Small {
    /// Builds the program of each way, `rounds` times from nothing.
    ///
    /// # Panics
    ///
    /// If a program does not compile.
    #[must_use]
    pub fn of_each(rounds: usize) -> [Self; 4] {
        let mut times = [const { Vec::new() }; 4];
        for _ in 0..rounds {
            for (way, times) in WAYS.iter().zip(&mut times) {
                times.extend(way.build());
            }
        }
        let mut times = times.into_iter();
        WAYS.map(|way| Self {
            crates: way.crates(),
            bytes: way.bytes(),
            build: times.next().into_iter().flatten().reduce(f64::min),
        })
    }
}

impl Way {
    fn crates(&self) -> u32 {
        self.write();
        let tree = self.cargo(&[
            "tree",
            "--edges=normal,build",
            "--prefix=none",
            "--no-dedupe",
        ]);
        let mut crates: Vec<_> = tree.lines().map(|line| line.replace(" (*)", "")).collect();
        crates.sort();
        crates.dedup();
        u32::try_from(crates.len()).expect("some crates")
    }

    fn bytes(&self) -> u64 {
        self.write();
        let _ = self.cargo(&["build", "--quiet", "--release"]);
        let built = fs::metadata(self.folder().join("target/release/small"));
        built.expect("a program").len()
    }

    fn build(&self) -> Option<f64> {
        self.write();
        let _ = fs::remove_dir_all(self.folder().join("target"));
        let _ = self.cargo(&["fetch", "--quiet"]);
        cpu::of_children(|| drop(self.cargo(&["build", "--quiet", "--offline"])))
    }

    fn folder(&self) -> std::path::PathBuf {
        crate::program::target().join("small").join(self.folder)
    }

    fn write(&self) {
        let (folder, root) = (self.folder(), crate::program::root());
        let dependency = self.dependency;
        let dependency = dependency.replace("ROOT", &root.display().to_string().replace('\\', "/"));
        fs::create_dir_all(folder.join("src")).expect("a folder");
        let manifest = MANIFEST.replace("DEPENDENCY", &dependency);
        fs::write(folder.join("Cargo.toml"), manifest).expect("a manifest");
        fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock")).expect("a lock file");
        let program = PROGRAM.replace("FUNCTION", self.function);
        fs::write(folder.join("src/main.rs"), program).expect("a program");
    }

    fn cargo(&self, arguments: &[&str]) -> String {
        let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = Command::new(cargo);
        let folder = self.folder();
        command
            .args(arguments)
            .env("CARGO_TARGET_DIR", folder.join("target"))
            .env("CARGO_INCREMENTAL", "0")
            // That of a user: CI leaves out what debuggers need.
            .env_remove("CARGO_PROFILE_DEV_DEBUG")
            .env_remove("CARGO_PROFILE_DEV_BUILD_OVERRIDE_DEBUG")
            .current_dir(folder);
        super::package::run(&mut command)
    }
}
