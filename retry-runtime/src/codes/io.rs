//! What the system says of a file that another process holds.

use std::io;

use crate::classify::{Retryable, Verdict};

/// Returns the verdict of an error of an operation on files: a rename, a removal, a copy.
///
/// It is that of the error, but for two errors of Windows, which are then transient and not permanent: a scanner, an indexer or an
/// editor may hold a file or folder for some seconds. `ERROR_ACCESS_DENIED` (5) may also be about permissions, and
/// `ERROR_DIR_NOT_EMPTY` (145) about files that are there to stay, so their retries may be in vain. `ERROR_SHARING_VIOLATION` (32),
/// `EBUSY` and `ETXTBSY` are transient by themselves.
///
/// # Examples
///
/// ```
/// # use reattempt_runtime as reattempt;
/// use reattempt::{FILES, Verdict, codes};
/// use std::{fs, io};
///
/// # fn main() -> io::Result<()> {
/// # let folder = std::env::temp_dir();
/// # let (new, old) = (folder.join(format!("new{}", std::process::id())), folder.join(format!("old{}", std::process::id())));
/// # fs::write(&new, "")?;
/// FILES.run_blocking(|| fs::rename(&new, &old)).verdict(codes::io).call()?;
/// # fs::remove_file(&old)?;
/// assert_eq!(codes::io(&io::ErrorKind::ResourceBusy.into()), Verdict::Transient);
/// # Ok(()) }
/// ```
#[must_use]
pub fn io(error: &io::Error) -> Verdict {
    of(error, cfg!(windows))
}

fn of(error: &io::Error, on_windows: bool) -> Verdict {
    match error.raw_os_error() {
        // The same as `rustup` (`utils/mod.rs`) and `fs.rm` of Node.js, looked through on 2026-11-27.
        Some(5 | 145) if on_windows => Verdict::Transient,
        _ => error.verdict(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn on_windows_another_process_may_hold_a_file_for_a_while() {
        let verdict = |number, on_windows| of(&io::Error::from_raw_os_error(number), on_windows);
        for number in [5, 145] {
            assert_eq!(verdict(number, true), Verdict::Transient, "{number}");
        }
        for kind in [io::ErrorKind::NotFound, io::ErrorKind::PermissionDenied] {
            assert_eq!(of(&kind.into(), true), Verdict::Permanent, "{kind}");
        }
        // EIO.
        #[cfg(unix)]
        assert_eq!(verdict(5, false), Verdict::Unknown);
    }
}
