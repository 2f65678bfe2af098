//! `redis`: what `RedisError::retry_method()` says.
//!
//! A multiplexed connection that was lost does not come back by itself. Use
//! `redis::aio::ConnectionManager`, which reconnects, or take a connection anew in each attempt.

use ::redis::{ErrorKind, RedisError, RetryMethod, ServerErrorKind};

use crate::classify::{Retryable, Verdict};

/// By the crate's own judgement; what the server says before it runs a command is refused.
#[diagnostic::do_not_recommend]
impl Retryable for RedisError {
    #[expect(clippy::match_same_arms, reason = "one arm for each reason")]
    fn verdict(&self) -> Verdict {
        // Nobody was listening.
        if self.is_connection_refusal() {
            return Verdict::Refused;
        }
        // The server answers so instead of running the command: it is loading its data, has no master,
        // or is moving the slot.
        let refused = [
            ServerErrorKind::BusyLoading,
            ServerErrorKind::MasterDown,
            ServerErrorKind::ClusterDown,
            ServerErrorKind::TryAgain,
        ];
        if refused
            .iter()
            .any(|kind| self.kind() == ErrorKind::Server(*kind))
        {
            return Verdict::Refused;
        }
        // Running somebody's script, which the crate has no name for.
        if self.code() == Some("BUSY") {
            return Verdict::Refused;
        }
        // A password that was wrong is wrong on the next connection too.
        if self.kind() == ErrorKind::AuthenticationFailed {
            return Verdict::Permanent;
        }
        // The crate says `Reconnect`, for a protocol that got out of step; far more often it is a value
        // that is not of the type that was asked for.
        if self.kind() == ErrorKind::Parse {
            return Verdict::Permanent;
        }
        match self.retry_method() {
            // The connection is gone, with or without the command having run.
            RetryMethod::Reconnect | RetryMethod::ReconnectFromInitialConnections => {
                Verdict::Transient
            }
            RetryMethod::RetryImmediately | RetryMethod::WaitAndRetry => Verdict::Transient,
            // A client that knows of clusters follows these itself; to any other the same node gives
            // the same answer.
            RetryMethod::AskRedirect | RetryMethod::MovedRedirect => Verdict::Permanent,
            RetryMethod::NoRetry => Verdict::Permanent,
            // One that the crate may yet grow.
            _ => Verdict::Unknown,
        }
    }
}

#[cfg(test)]
mod tests;
