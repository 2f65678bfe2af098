//! Reads a file of settings.

use std::fs;
use std::io::{self, ErrorKind, Read as _};
use std::path::Path;

use super::error::Problem;
use super::lines::LineBreaks;

/// The size of the largest file that is read, in bytes: 1 MiB.
///
/// Chosen by us, so that a wrong path does not fill the memory.
pub const MAX_FILE_BYTES: u64 = 1024 * 1024;

/// Reads a whole file. Messages call it `name`.
pub(super) fn read(name: &str, path: &Path) -> Result<String, Problem> {
    let wrong = |message: String| Problem::new(name, None, message);
    let unreadable = |error: io::Error| {
        let help = match error.kind() {
            ErrorKind::NotFound => "check the path, or write the file",
            ErrorKind::PermissionDenied => "let the user of this process read it",
            _ => "check the path",
        };
        wrong(format!(
            "cannot be read: {error}, expected a TOML file; {help}"
        ))
    };
    // Checked before the file is opened, because opening a pipe may block for ever.
    let metadata = fs::metadata(path).map_err(unreadable)?;
    if metadata.is_dir() {
        return Err(wrong(
            "is a folder, expected a TOML file; add the name of a file in it, such as `retry.toml`"
                .to_owned(),
        ));
    }
    if !metadata.is_file() {
        return Err(wrong(
            "is not a regular file, expected a TOML file; to read a device or a pipe, pass its text to `with_toml_text`"
                .to_owned(),
        ));
    }
    let file = fs::File::open(path).map_err(unreadable)?;
    let mut bytes = Vec::new();
    // The file may have grown since its size was read, so the read has a limit too.
    let read = file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes);
    read.map_err(unreadable)?;
    let size = metadata.len().max(bytes.len() as u64);
    if size > MAX_FILE_BYTES {
        return Err(wrong(format!(
            "has {size} bytes, expected at most {MAX_FILE_BYTES} (1 MiB); check the path, since settings are much \
             smaller"
        )));
    }
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let line = LineBreaks::of(error.as_bytes()).line(valid);
        let byte = error.as_bytes().get(valid).copied().unwrap_or_default();
        let message = format!(
            "has the byte 0x{byte:02X}, which is not UTF-8, expected text in UTF-8; save the file as UTF-8"
        );
        Problem::new(name, Some(line), message)
    })
}
