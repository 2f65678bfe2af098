//! A program that a test or an example starts. It is found, or the error says how to install it.

use std::error::Error;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

/// A program, and the Debian package that contains it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Program {
    /// The names of the program. The first that is installed is used.
    pub names: &'static [&'static str],
    /// The package that contains the program.
    pub package: &'static str,
    /// Folders to search after the path. A `*` stands for one level. Of several matches, the last by name is used.
    pub folders: &'static [&'static str],
}

impl Program {
    /// Finds the program on the path, or in its folders.
    ///
    /// # Errors
    ///
    /// - It is not installed.
    pub fn find(self) -> Result<PathBuf, Missing> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        self.find_on(&path).ok_or(Missing(self))
    }

    fn find_on(self, path: &OsString) -> Option<PathBuf> {
        let folders = std::env::split_paths(path).chain(self.folders.iter().flat_map(expand));
        let candidates: Vec<_> = folders
            .flat_map(|folder| self.names.iter().map(move |name| folder.join(name)))
            .collect();
        candidates.into_iter().find(|file| file.is_file())
    }
}

/// The folders that match a pattern, the last by name first.
fn expand(pattern: &&'static str) -> Vec<PathBuf> {
    let Some((before, after)) = pattern.split_once("/*/") else {
        return vec![PathBuf::from(pattern)];
    };
    let entries = std::fs::read_dir(Path::new("/").join(before))
        .into_iter()
        .flatten()
        .flatten();
    let mut folders: Vec<_> = entries.map(|entry| entry.path().join(after)).collect();
    folders.sort();
    folders.reverse();
    folders
}

/// A program that is not installed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Missing(pub Program);

/// The same text as `Display`, because an example's `main` that returns this error shows `Debug`.
impl fmt::Debug for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Program { names, package, .. } = self.0;
        write!(
            f,
            "`{}` is not installed: apt-get install {package}",
            names.join("` or `")
        )
    }
}

impl Error for Missing {}

#[cfg(test)]
mod tests {
    use super::*;

    const SHELL: Program = Program {
        names: &["no-such-program", "sh"],
        package: "dash",
        folders: &["/no/such/folder", "/*/bin"],
    };

    #[test]
    fn the_first_name_that_is_installed_is_found_on_the_path_and_in_the_folders() {
        assert_eq!(SHELL.find().unwrap().file_name().unwrap(), "sh");
        // This is `/usr/bin`, or another `bin` in a folder of the root.
        let found = SHELL.find_on(&OsString::new()).unwrap();
        assert!(found.ends_with("bin/sh"), "{}", found.display());
    }

    #[test]
    fn a_missing_program_says_how_to_install_it() {
        let program = Program {
            names: &["no-such-program"],
            package: "nothing",
            folders: &["/no/such/*/folder"],
        };
        let missing = program.find().unwrap_err();
        let words = "`no-such-program` is not installed: apt-get install nothing";
        assert_eq!(missing.to_string(), words);
        assert_eq!(format!("{missing:?}"), words);
    }
}
