//! A copy of a checkout, to change it and to build it.

use std::path::Path;
use std::{fs, io};

/// Copies a folder, without builds and what is git's own. What is in the copy only, and is no build, is removed.
///
/// # Errors
///
/// - A file cannot be read, written or removed.
pub fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if from.is_dir() && !from.is_symlink() {
            if !is_left_out(&from) {
                copy(&from, &to)?;
            }
        } else if from.is_file() {
            write(&to, &fs::read(&from)?)?;
        }
    }
    for entry in fs::read_dir(to)? {
        let entry = entry?;
        let copied = entry.path();
        if from.join(entry.file_name()).exists() || is_left_out(&copied) {
            continue;
        }
        if copied.is_dir() {
            fs::remove_dir_all(copied)?;
        } else {
            fs::remove_file(copied)?;
        }
    }
    Ok(())
}

/// Writes a file if its content differs, so that cargo does not build an unchanged file again.
///
/// # Errors
///
/// - The file cannot be written. The error names it.
pub fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    if fs::read(path).is_ok_and(|old| old == content) {
        return Ok(());
    }
    fs::write(path, content)
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
}

/// Whether a folder is not copied: builds and git's own.
#[must_use]
pub fn is_left_out(folder: &Path) -> bool {
    let name = folder.file_name();
    name.is_some_and(|name| name == "target" || name == ".git")
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may panic")]

    use super::*;

    #[test]
    fn what_is_gone_is_removed_from_a_copy_and_builds_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        for file in ["call.rs", "call/moved.rs", "gone/gone.rs"] {
            let file = from.join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            write(&file, b"").unwrap();
        }
        copy(&from, &to).unwrap();
        fs::create_dir(to.join("target")).unwrap();
        fs::rename(from.join("call/moved.rs"), from.join("moved.rs")).unwrap();
        fs::remove_dir_all(from.join("gone")).unwrap();
        copy(&from, &to).unwrap();
        let is_there = |file: &&str| to.join(file).exists();
        let files = ["call.rs", "moved.rs", "target", "call/moved.rs", "gone"];
        let there: Vec<_> = files.into_iter().filter(is_there).collect();
        assert_eq!(there, ["call.rs", "moved.rs", "target"]);
    }
}
