//! The errors of Redis and Valkey.

use crate::classify::Verdict;

/// Returns the verdict of an error of Redis or Valkey: its code, or the whole line that the server sends.
///
/// The code is the first word. For `ERR`, the text decides, so pass it if you have it.
///
/// The verdict is about one command. If it was one of several in a pipeline, those before it may have run, so `refused` and
/// `conflict` do not hold for the whole.
///
/// # Examples
///
/// ```
/// # use reattempt_runtime as reattempt;
/// use reattempt::{Verdict, codes};
///
/// assert_eq!(codes::redis("LOADING"), Verdict::Refused);
/// assert_eq!(codes::redis("WRONGTYPE"), Verdict::Permanent);
/// assert_eq!(codes::redis("ERR max number of clients reached"), Verdict::Refused);
/// ```
#[must_use]
pub fn redis(error: &str) -> Verdict {
    let error = error.strip_prefix('-').unwrap_or(error);
    let (code, text) = error.split_once(' ').unwrap_or((error, ""));
    // After every code that Redis 7.0.15 and its Sentinel send, looked through in November 2026, and `REDIRECT` of Valkey 8.
    // The manuals have no list: a code is the upper-case first word of an error in the sources.
    match code {
        // The server loads its data, is a replica without its master, or belongs to a cluster that is down.
        "LOADING" | "MASTERDOWN" | "NOMASTERLINK" | "CLUSTERDOWN" => Verdict::Refused,
        // It runs a script, or lacks the replicas that a write needs.
        "BUSY" | "NOREPLICAS" => Verdict::Refused,
        // It has become a replica. A new connection may reach the new master.
        "READONLY" => Verdict::Refused,
        // A failover is under way, or no replica is ready for one yet.
        "INPROG" | "NOGOODSLAVE" => Verdict::Refused,
        // The keys of the command are on two nodes while a slot moves: "Redis cluster specification", multi-key commands.
        "TRYAGAIN" => Verdict::Conflict,
        // `MIGRATE` lost the other server, and the key may be on both.
        "IOERR" => Verdict::Transient,

        // A blocking command that took nothing: the server has become a replica.
        "UNBLOCKED" if text.starts_with("force unblock") => Verdict::Refused,

        // What kept `EXEC` from running. Nothing of the transaction ran. It is no conflict: `EXEC` answers a changed `WATCH`
        // with nil.
        "EXECABORT" => match text.split_once("discarded because of: ") {
            Some((_, cause)) => redis(cause),
            None => Verdict::Permanent,
        },
        // No connection was free.
        "ERR" if text.starts_with("max number of clients") => Verdict::Refused,
        // Before 7.0, an error in a script is in the text of another. A replica refuses all writes of a script.
        "ERR" if text.contains("-READONLY ") => Verdict::Refused,

        // Envoy before Redis (`command_splitter_impl.h`, 5a6c7aa8): it has no server for the key, or lost it.
        "no" if text == "upstream host" => Verdict::Refused,
        "upstream" if text == "failure" => Verdict::Transient,

        // A cluster client follows redirects itself, unless it has `retries(0)`. Any other client gets the same answer again.
        "MOVED" | "ASK" | "REDIRECT" | "CROSSSLOT" => Verdict::Permanent,
        // Someone has to change the password, the permissions or the configuration.
        "NOAUTH" | "WRONGPASS" | "NOPERM" | "DENIED" | "NOPROTO" => Verdict::Permanent,
        // The command, its values or its script are wrong, or not what the key holds.
        "ERR" | "WRONGTYPE" | "NOSCRIPT" | "NOTBUSY" | "UNKILLABLE" | "NOSUB" => Verdict::Permanent,
        "BUSYKEY" | "BUSYGROUP" | "NOGROUP" | "INVALIDOBJ" => Verdict::Permanent,

        // "UNBLOCKED": another client ended the wait, or the stream is gone. "OOM" and "MISCONF": memory may become free, and a
        // disk writable; no one knows.
        // Codes of modules and of scripts, `NOQUORUM` of Sentinel, and codes that are not an error's.
        _ => Verdict::Unknown,
    }
}
