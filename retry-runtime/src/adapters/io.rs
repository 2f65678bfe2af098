//! `std::io::Error` by its kind.

use std::io::{self, ErrorKind};
use std::time::Duration;

use super::known::{self, Alone};
use crate::classify::{Retryable, Said, Verdict, ends_all};

/// By [`kind`](io::Error::kind), looking into what the error holds where the kind says nothing.
///
/// The kind decides where it is known. `Other`, the kind of an error that wraps another, leaves it to
/// the innermost error inside that has a verdict of its own. A call that was
/// [stopped](crate::Stopped) for good is permanent in any kind.
#[diagnostic::do_not_recommend]
impl Retryable for io::Error {
    fn verdict(&self) -> Verdict {
        if self.get_ref().is_none() {
            of_kind(self.kind())
        } else {
            with_causes(self).verdict
        }
    }

    fn hint(&self) -> Option<Duration> {
        self.get_ref().and_then(|_| with_causes(self).hint)
    }
}

impl Alone for io::Error {
    fn alone(&self) -> Said {
        Said::new(of_kind(self.kind()))
    }
}

#[cold]
fn with_causes(error: &io::Error) -> Said {
    let own = error.alone();
    // A `Stopped` inside has lent its kind, and says more than the kind does.
    if ends_all(error) {
        return Said::new(Verdict::Permanent);
    }
    if own.verdict == Verdict::Unknown {
        known::inside(error).unwrap_or(own)
    } else {
        own
    }
}

/// The table. A kind that is not in it is unknown.
#[expect(clippy::match_same_arms, reason = "one arm for each reason")]
fn of_kind(kind: ErrorKind) -> Verdict {
    #[allow(
        clippy::enum_glob_use,
        reason = "a table reads better without forty prefixes"
    )]
    use ErrorKind::*;
    match kind {
        // Nobody was listening: nothing ran.
        ConnectionRefused => Verdict::Refused,

        // The connection, or the way to it, was lost: another one may hold.
        ConnectionReset | ConnectionAborted | NotConnected | BrokenPipe | UnexpectedEof => {
            Verdict::Transient
        }
        HostUnreachable | NetworkUnreachable | NetworkDown | TimedOut => Verdict::Transient,
        // A port that is still being given up, or no free one at the moment.
        AddrInUse | AddrNotAvailable => Verdict::Transient,
        // Not now.
        Interrupted | WouldBlock | ResourceBusy | ExecutableFileBusy | Deadlock => {
            Verdict::Transient
        }
        // Opening the file again gives a fresh handle.
        StaleNetworkFileHandle => Verdict::Transient,

        // The same call finds the same answer.
        NotFound | PermissionDenied | AlreadyExists => Verdict::Permanent,
        NotADirectory | IsADirectory | DirectoryNotEmpty | ReadOnlyFilesystem => Verdict::Permanent,
        CrossesDevices | TooManyLinks | NotSeekable | Unsupported => Verdict::Permanent,
        InvalidInput | InvalidData | ArgumentListTooLong => Verdict::Permanent,
        // Somebody has to make room first, which is no matter of seconds.
        StorageFull | QuotaExceeded | FileTooLarge => Verdict::Permanent,

        // A sink that takes nothing: a full buffer, or a peer that is going. Memory: more work is no help.
        WriteZero | OutOfMemory | Other => Verdict::Unknown,

        unnamed => of_unnamed_kind(unnamed),
    }
}

/// Kinds that the minimum Rust cannot name: younger than it, or not stable yet.
#[cold]
fn of_unnamed_kind(kind: ErrorKind) -> Verdict {
    match format!("{kind:?}").as_str() {
        "InvalidFilename" | "FilesystemLoop" => Verdict::Permanent,
        // `InProgress`: a connection that is being made already. And what std may yet grow.
        _ => Verdict::Unknown,
    }
}

#[cfg(test)]
mod tests;
