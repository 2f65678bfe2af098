//! `std::io::Error` by its kind.

mod number;

use std::error::Error;
use std::io::{self, ErrorKind};
use std::time::Duration;

use super::known::{self, Alone, Answer, as_type};
use super::tls;
use crate::classify::{Assessment, Retryable, Verdict};

/// The verdict follows the [`kind`](io::Error::kind).
///
/// A name that is not resolved is refused. `InvalidData` with an alert of TLS inside has the verdict of that alert. If std has no kind for the number of a system error, such as `EHOSTDOWN` or
/// `EMFILE`, the number decides.
///
/// If the kind has no verdict, such as `Other`, the innermost error inside that has a verdict decides. If a permanently
/// [stopped](crate::Stopped) call is inside, the error is permanent with any kind. If a commit that may have taken effect is
/// inside, the error is unknown with any kind.
#[diagnostic::do_not_recommend]
impl Retryable for io::Error {
    fn verdict(&self) -> Verdict {
        if self.get_ref().is_none() {
            of(self)
        } else {
            with_causes(self).verdict
        }
    }

    fn hint(&self) -> Option<Duration> {
        self.get_ref().and_then(|_| with_causes(self).hint)
    }

    fn timed_out(&self) -> bool {
        self.get_ref().is_some() && known::assessment(self).timed_out
    }

    fn may_have_run(&self) -> bool {
        match self.get_ref() {
            None => of(self).may_have_run(),
            Some(_) => with_causes(self).may_have_run,
        }
    }
}

impl Alone for io::Error {
    fn alone(&self) -> Answer {
        Answer::open(of(self))
    }
}

#[cold]
fn with_causes(error: &io::Error) -> Assessment {
    let own = Assessment::new(of(error));
    if own.verdict == Verdict::Unknown {
        return known::assessment(error);
    }
    // The kind says less: a `Stopped` set it, or a lost connection that may have been in its `COMMIT`.
    known::last_word(error).unwrap_or(own)
}

/// An unlisted kind is unknown.
pub(super) fn of(error: &io::Error) -> Verdict {
    match of_kind(error.kind()) {
        // An alert of TLS.
        Verdict::Permanent if error.kind() == ErrorKind::InvalidData => {
            tls::of_text(&error.to_string()).unwrap_or(Verdict::Permanent)
        }
        Verdict::Unknown if is_unresolved(error) => Verdict::Refused,
        Verdict::Unknown => error.raw_os_error().map_or(Verdict::Unknown, number::of),
        verdict => verdict,
    }
}

/// Whether a name was not resolved, so that nothing was sent. The name may be there soon, as when a container starts.
///
/// On Unix, std keeps the text and not the number. So a name server that did not answer looks like a name that does not
/// exist. Tests check the text. On Windows, these are the numbers of `WSAHOST_NOT_FOUND` and the three after it.
#[cold]
pub(super) fn is_unresolved(error: &(dyn Error + 'static)) -> bool {
    let number = as_type::<io::Error>(error).and_then(io::Error::raw_os_error);
    let of_windows = cfg!(windows) && matches!(number, Some(11001..=11004));
    of_windows
        || error
            .to_string()
            .starts_with("failed to lookup address information")
}

fn of_kind(kind: ErrorKind) -> Verdict {
    #[allow(
        clippy::enum_glob_use,
        reason = "a table reads better without forty prefixes"
    )]
    use ErrorKind::*;
    match kind {
        // No server listened, so nothing ran.
        ConnectionRefused => Verdict::Refused,

        // The connection or the network failed. Another connection may work.
        ConnectionReset | ConnectionAborted | NotConnected | BrokenPipe | UnexpectedEof => {
            Verdict::Transient
        }
        HostUnreachable | NetworkUnreachable | NetworkDown | TimedOut => Verdict::Transient,
        // The port is still in use, or no port is free.
        AddrInUse | AddrNotAvailable => Verdict::Transient,
        // The resource is busy, or the call was interrupted.
        Interrupted | WouldBlock | ResourceBusy | ExecutableFileBusy | Deadlock => {
            Verdict::Transient
        }
        // Opening the file again gives a new handle.
        StaleNetworkFileHandle => Verdict::Transient,

        // The same call gives the same answer.
        NotFound | PermissionDenied | AlreadyExists => Verdict::Permanent,
        NotADirectory | IsADirectory | DirectoryNotEmpty | ReadOnlyFilesystem => Verdict::Permanent,
        CrossesDevices | TooManyLinks | NotSeekable | Unsupported => Verdict::Permanent,
        InvalidInput | InvalidData | ArgumentListTooLong => Verdict::Permanent,
        // Space has to be freed first, which takes longer than a retry waits.
        StorageFull | QuotaExceeded | FileTooLarge => Verdict::Permanent,

        // `WriteZero`: a full buffer or a closing peer. `OutOfMemory`: more work may make it worse.
        WriteZero | OutOfMemory | Other => Verdict::Unknown,

        // Kinds that the minimum Rust version cannot name, because they are newer or unstable.
        unnamed => match format!("{unnamed:?}").as_str() {
            "InvalidFilename" | "FilesystemLoop" => Verdict::Permanent,
            // `InProgress` (a connection that is being made), and kinds that std may add.
            _ => Verdict::Unknown,
        },
    }
}

#[cfg(test)]
mod tests;
