//! A client of a weather service, as a library for others.
//!
//! It retries, and its API does not say with which crate: its users need not know `reattempt`, and another version of it
//! is no breaking change.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use reattempt::{Budget, Policy, retry};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

pub use crate::error::Error;
use crate::error::Failure;

mod error;

/// A client of the weather service.
#[derive(Debug, Clone)]
pub struct Client {
    address: SocketAddr,
    policy: Policy,
    // One for each client and its clones: without it, a service that is down would take the retries of all others.
    budget: Arc<Budget>,
}

impl Client {
    /// Makes a client of the service at this address.
    #[must_use]
    pub fn new(address: SocketAddr) -> Self {
        Self {
            address,
            policy: Policy::new()
                .with_timeout(Duration::from_secs(1))
                .with_deadline(Duration::from_secs(3)),
            budget: Arc::new(Budget::new()),
        }
    }

    /// Sets how often a request is sent at most, the first time included. With 1, nothing is retried. Default: 3.
    #[must_use]
    pub fn attempts(mut self, attempts: u32) -> Self {
        self.policy = self.policy.with_attempts(attempts);
        self
    }

    /// Sets how long a call may take, with its retries. Default: 3 s.
    #[must_use]
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.policy = self.policy.with_deadline(deadline);
        self
    }

    /// Returns the forecast for a city.
    ///
    /// # Errors
    ///
    /// - The service does not know the city.
    /// - The service did not answer, also after retries, or not in time.
    pub async fn forecast(&self, city: &str) -> Result<String, Error> {
        self.ask(city).await.map_err(Error::from_failure)
    }

    /// What is retried: private, so that the settings and the error type are too.
    #[retry(policy = self.policy, budget = &self.budget, name = "weather::Client::forecast")]
    async fn ask(&self, city: &str) -> Result<String, Failure> {
        let mut stream = TcpStream::connect(self.address).await?;
        stream.write_all(city.as_bytes()).await?;
        stream.shutdown().await?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await?;
        match &*answer {
            "" => Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
            "?" => Err(Failure::UnknownCity),
            _ => Ok(answer),
        }
    }
}
