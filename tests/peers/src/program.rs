//! Builds and runs the measured program.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Side;

/// The built program `subjects`.
#[derive(Debug)]
pub struct Program {
    path: PathBuf,
}

impl Program {
    /// Builds the program with the profile `counts`, unless it is up to date.
    ///
    /// # Panics
    ///
    /// If it does not compile.
    #[must_use]
    pub fn build() -> Self {
        Self::build_in(&target(), &[])
    }

    /// Builds the program with more features, in a folder of their own: the program of [`build`](Self::build) stays as
    /// it is.
    ///
    /// # Panics
    ///
    /// If it does not compile.
    #[must_use]
    pub fn build_with(features: &str) -> Self {
        let folder = target().join(features.replace('/', "-"));
        Self::build_in(&folder, &["--features", features])
    }

    fn build_in(folder: &Path, features: &[&str]) -> Self {
        let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let status = Command::new(cargo)
            .args(["build", "--quiet", "--locked", "--profile", "counts"])
            .args(["--package", "peers", "--bin", "subjects"])
            .args(features)
            .arg("--target-dir")
            .arg(folder)
            .current_dir(root())
            // Other flags would change the counts, and another target would change the folder.
            .env_remove("RUSTFLAGS")
            .env_remove("CARGO_ENCODED_RUSTFLAGS")
            .env_remove("CARGO_BUILD_TARGET")
            .status()
            .expect("cargo");
        assert!(status.success(), "`subjects` does not compile");
        let name = format!("counts/subjects{}", env::consts::EXE_SUFFIX);
        Self {
            path: folder.join(name),
        }
    }

    /// The path of the program.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Runs the program, and gives its output.
    ///
    /// # Panics
    ///
    /// If the program fails, because a side returned another result than the others, or made another number of calls.
    #[must_use]
    pub fn run(&self, arguments: &[&str]) -> String {
        let output = Command::new(&self.path)
            .args(arguments)
            .output()
            .expect("`subjects`");
        assert!(
            output.status.success(),
            "subjects {arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).expect("text")
    }

    /// The bytes of the futures of one side: of a tiny body without limits and with limits, and then of a body of
    /// 1 KiB.
    ///
    /// # Panics
    ///
    /// If the program fails.
    #[must_use]
    pub fn sizes(&self, side: Side) -> [u32; 4] {
        let sizes = self.run(&["sizes", side.key()]);
        let mut sizes = sizes.split_whitespace().map(|size| size.parse().ok());
        [(); 4].map(|()| sizes.next().flatten().expect("four numbers"))
    }
}

/// The folder of the workspace.
pub(crate) fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2);
    root.expect("the workspace").to_owned()
}

/// The folder that cargo builds in.
pub(crate) fn target() -> PathBuf {
    match env::var_os("CARGO_TARGET_DIR") {
        Some(target) => root().join(target),
        None => root().join("target"),
    }
}
