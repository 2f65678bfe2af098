//! `std::io::Error` by its kind.

use std::error::Error;
use std::io::{self, ErrorKind};
use std::time::Duration;

use super::links::{Links, as_type};
use super::{Retryable, Said, Verdict};

/// By [`kind`](io::Error::kind), looking into what the error holds where the kind says nothing.
///
/// The kind decides where it is known. `Other`, the kind of an error that wraps another, leaves it to
/// the first error inside that has a verdict of ours.
impl Retryable for io::Error {
    fn verdict(&self) -> Verdict {
        said(self).verdict
    }

    fn hint(&self) -> Option<Duration> {
        said(self).hint
    }
}

fn said(error: &io::Error) -> Said {
    let own = Said::new(of_kind(error.kind()));
    let Some(inner) = error.get_ref() else {
        return own;
    };
    if own.verdict == Verdict::Unknown {
        // An `io::Error` inside is itself a link, and so is what it holds: no recursion.
        Links::of(inner).find_map(of_known_type).unwrap_or(own)
    } else {
        own
    }
}

/// What a link says whose type is known here to have a verdict.
fn of_known_type(link: &(dyn Error + 'static)) -> Option<Said> {
    if let Some(error) = as_type::<io::Error>(link) {
        let verdict = of_kind(error.kind());
        return (verdict != Verdict::Unknown).then_some(Said::new(verdict));
    }
    as_type::<tokio::time::error::Elapsed>(link).map(Said::of)
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
fn of_unnamed_kind(kind: ErrorKind) -> Verdict {
    match format!("{kind:?}").as_str() {
        "InvalidFilename" | "FilesystemLoop" => Verdict::Permanent,
        // `InProgress`: a connection that is being made already. And what std may yet grow.
        _ => Verdict::Unknown,
    }
}
