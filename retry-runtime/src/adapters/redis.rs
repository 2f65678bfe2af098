//! `redis`: verdicts after `RedisError::retry_method()`.
//!
//! A multiplexed connection does not reconnect after it is lost. Use `redis::aio::ConnectionManager`,
//! which does, or open a connection in each attempt.

use ::redis::{ErrorKind, RedisError, RetryMethod, ServerErrorKind};

use crate::classify::{Retryable, Verdict};

/// The verdict follows [`RedisError::retry_method`]. An error that the server sends before it runs the
/// command is refused.
#[diagnostic::do_not_recommend]
impl Retryable for RedisError {
    #[expect(clippy::match_same_arms, reason = "one arm for each reason")]
    fn verdict(&self) -> Verdict {
        // No server listened.
        if self.is_connection_refusal() {
            return Verdict::Refused;
        }
        // TRYAGAIN: the keys of the command are on two nodes while a slot moves, and it did not run ("Redis cluster
        // specification", multi-key commands). EXECABORT is no conflict: `EXEC` answers a changed `WATCH` with nil, and
        // with EXECABORT a command that could not be queued.
        if self.kind() == ErrorKind::Server(ServerErrorKind::TryAgain) {
            return Verdict::Conflict;
        }
        // The server did not run the command: it loads its data, or has no master.
        let refused = [
            ServerErrorKind::BusyLoading,
            ServerErrorKind::MasterDown,
            ServerErrorKind::ClusterDown,
        ];
        if refused
            .iter()
            .any(|kind| self.kind() == ErrorKind::Server(*kind))
        {
            return Verdict::Refused;
        }
        // The server runs a script. The crate has no name for this code.
        if self.code() == Some("BUSY") {
            return Verdict::Refused;
        }
        // A wrong password is wrong on the next connection too.
        if self.kind() == ErrorKind::AuthenticationFailed {
            return Verdict::Permanent;
        }
        // The crate says `Reconnect`, because the connection may be out of step with the protocol. But the error also
        // means that a value does not have the requested type, and then every attempt fails.
        if self.kind() == ErrorKind::Parse {
            return Verdict::Permanent;
        }
        match self.retry_method() {
            // The connection is lost. The command may have run.
            RetryMethod::Reconnect | RetryMethod::ReconnectFromInitialConnections => {
                Verdict::Transient
            }
            RetryMethod::RetryImmediately | RetryMethod::WaitAndRetry => Verdict::Transient,
            // A cluster client follows redirects itself. Any other client gets the same answer again.
            RetryMethod::AskRedirect | RetryMethod::MovedRedirect => Verdict::Permanent,
            RetryMethod::NoRetry => Verdict::Permanent,
            // A method that the crate may add.
            _ => Verdict::Unknown,
        }
    }
}

#[cfg(test)]
mod tests;
