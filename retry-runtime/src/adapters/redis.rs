//! `redis`: verdicts of what the server says, and of lost connections.
//!
//! A multiplexed connection does not reconnect after it is lost. Use `redis::aio::ConnectionManager`,
//! which does, or open a connection in each attempt. After a failover, only the latter
//! [reaches the new master](https://docs.rs/reattempt/latest/reattempt/guide/databases/index.html#after-a-failover).

use std::error::Error as _;

use ::redis::{ErrorKind, RedisError, RetryMethod, ServerError};

use super::io::is_unresolved;
use super::known;
use crate::classify::{OfClient, Retryable, Verdict};
use crate::codes;

impl OfClient for RedisError {}

/// An error of the server has the verdict of its [code](codes::redis()). Any other follows [`RedisError::retry_method`], but an
/// I/O error that is permanent, such as a certificate that is not valid.
///
/// If commands of a pipeline fail, those before them may have run, so the error is transient at best. If the commands of a
/// transaction could not be queued, none of them ran.
#[diagnostic::do_not_recommend]
impl Retryable for RedisError {
    fn verdict(&self) -> Verdict {
        // No name led to a server, or there is no socket yet.
        if is_unresolved(self) || known::has_no_socket(self) {
            return Verdict::Refused;
        }
        match self.kind() {
            ErrorKind::Server(_) | ErrorKind::Extension => return of_server(self),
            // A wrong password is wrong on the next connection too.
            ErrorKind::AuthenticationFailed => return Verdict::Permanent,
            // The crate says `Reconnect`, because the connection may be out of step with the protocol. But the error also
            // means that a value does not have the requested type, and then every attempt fails.
            ErrorKind::Parse => return Verdict::Permanent,
            // Also the error of a handshake of TLS. The crate wants to connect again, whatever the certificate is.
            ErrorKind::Io => match known::handshake(self) {
                Verdict::Unknown => {}
                Verdict::Permanent => return Verdict::Permanent,
                // `ConnectionRefused` may come from a connection that was open. A certificate that is not valid yet does not.
                Verdict::Refused if !self.is_connection_refusal() => return Verdict::Refused,
                _ => return Verdict::Transient,
            },
            _ => {}
        }
        match self.retry_method() {
            // The connection is lost. The command may have run.
            RetryMethod::Reconnect | RetryMethod::ReconnectFromInitialConnections => {
                Verdict::Transient
            }
            RetryMethod::RetryImmediately | RetryMethod::WaitAndRetry => Verdict::Transient,
            RetryMethod::AskRedirect | RetryMethod::MovedRedirect => Verdict::Permanent,
            RetryMethod::NoRetry => Verdict::Permanent,
            // A method that the crate may add.
            _ => Verdict::Unknown,
        }
    }

    fn timed_out(&self) -> bool {
        self.is_timeout()
    }
}

fn of_server(error: &RedisError) -> Verdict {
    // One command, or one that the client sent for the caller when it connected.
    let answered = error
        .source()
        .is_some_and(<dyn std::error::Error>::is::<ServerError>);
    let Some(errors) = error.clone().into_server_errors().filter(|_| !answered) else {
        return of_code(error.code(), error.detail());
    };
    let worst = errors
        .iter()
        .map(|(_, error)| of_code(Some(error.code()), error.details()))
        .min_by_key(|verdict| (verdict.is_retryable(), *verdict != Verdict::Permanent));
    let aborted = error.code() == Some("EXECABORT");
    match worst {
        // Other commands of the pipeline may have run.
        Some(verdict) if verdict.is_retryable() && !aborted => Verdict::Transient,
        Some(verdict) => verdict,
        None => Verdict::Unknown,
    }
}

fn of_code(code: Option<&str>, text: Option<&str>) -> Verdict {
    let (code, text) = (code.unwrap_or_default(), text.unwrap_or_default());
    codes::redis(&format!("{code} {text}"))
}

#[cfg(test)]
mod tests;
