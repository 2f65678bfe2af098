//! Chains of errors: links that hold, box and share others, and some that are their own source.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;
use std::{fmt, io};

use reattempt::{Jitter, Policy};

type Shared = Arc<dyn Error + Send + Sync>;

#[derive(Debug)]
struct Link(Shared);

impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a link")
    }
}

impl Error for Link {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.0)
    }
}

/// A link that is its own source.
#[derive(Debug)]
struct Circle;

impl fmt::Display for Circle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a circle")
    }
}

impl Error for Circle {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(self)
    }
}

const KINDS: [io::ErrorKind; 8] = [
    io::ErrorKind::ConnectionReset,
    io::ErrorKind::TimedOut,
    io::ErrorKind::NotFound,
    io::ErrorKind::InvalidData,
    io::ErrorKind::Interrupted,
    io::ErrorKind::WouldBlock,
    io::ErrorKind::Other,
    io::ErrorKind::UnexpectedEof,
];

/// Each byte puts a link around the others; the first is the innermost.
fn chain(bytes: &[u8]) -> Shared {
    let mut bytes = bytes.iter();
    let kind = |byte: u8| KINDS[usize::from(byte) % KINDS.len()];
    let mut chain: Shared = match bytes.next() {
        Some(byte) if byte % 4 == 0 => Arc::new(Circle),
        Some(byte) => Arc::new(io::Error::from(kind(byte / 4))),
        None => Arc::new(io::Error::last_os_error()),
    };
    for byte in bytes.take(1_000) {
        chain = match byte % 8 {
            0..=2 => Arc::new(Link(chain)),
            3 => Arc::new(Box::new(Link(chain))),
            4 => Arc::new(Arc::new(Link(chain))),
            5 => Arc::new(io::Error::new(kind(byte / 8), Link(chain))),
            6 => Arc::new(io::Error::new(kind(byte / 8), chain)),
            _ => Arc::new(Box::new(io::Error::new(kind(byte / 8), chain))),
        };
    }
    chain
}

/// Whatever the chain, a call ends, and makes a second attempt only for an error that the rule names.
pub(crate) fn walk(bytes: &[u8]) {
    const POLICY: Policy = Policy::new()
        .with_attempts(2)
        .with_base(Duration::ZERO)
        .with_jitter(Jitter::None);
    let error = Arc::new(Link(chain(bytes)));
    let mut attempts = 0;
    let fails = || {
        attempts += 1;
        let error = Arc::clone(&error);
        async move { Err::<(), _>(error) }
    };
    let result = pollster::block_on(
        POLICY
            .without_limits()
            .run(fails)
            .on::<io::Error>()
            .without_budget(),
    );
    assert!(Arc::ptr_eq(&result.unwrap_err(), &error));
    let has_io = bytes.iter().skip(1).take(1_000).any(|byte| byte % 8 >= 5);
    let has_io = has_io || !matches!(bytes.first(), Some(byte) if byte % 4 == 0);
    assert!(attempts == 1 || (attempts == 2 && has_io), "{attempts}");
}
