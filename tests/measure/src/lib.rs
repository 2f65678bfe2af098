//! A copy of a checkout, to change it and to build it.

use std::path::Path;
use std::{fs, io};

/// Copies a folder, without builds and what is git's own.
///
/// # Errors
///
/// - A file cannot be read or written.
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
