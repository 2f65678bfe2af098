//! A gRPC server in this process that answers by a script: the health service of the gRPC project.

use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::future::ready;
use futures::stream::{iter, once};
use futures::{Stream, StreamExt as _};
use tokio::net::{TcpListener, TcpSocket};
use tonic::transport::{Channel, Endpoint, Server};
use tonic::{Code, Request, Response, Status};
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;
use tonic_health::pb::health_server::{Health, HealthServer};
use tonic_health::pb::{HealthCheckRequest, HealthCheckResponse};

use crate::loopback::listener;
use crate::stall as stalls;

/// The answer of the health service to each call. With `None` it is healthy. A stream has one message before it.
pub type Script = fn(call: usize) -> Option<Status>;

const SKIPS: &str = "stall, and skip";

/// Stands for "do not answer at all". Time is [skipped](crate::skip) as soon as the service has the call.
#[must_use]
pub fn stall() -> Status {
    Status::unknown(SKIPS)
}

struct Scripted {
    script: Script,
    calls: Arc<AtomicUsize>,
}

#[tonic::async_trait]
impl Health for Scripted {
    async fn check(
        &self,
        _: Request<HealthCheckRequest>,
    ) -> Result<Response<HealthCheckResponse>, Status> {
        let call = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
        match (self.script)(call) {
            // These messages stand for "do not answer at all".
            Some(status) if ["stall", SKIPS].contains(&status.message()) => {
                match stalls(status.message() == SKIPS).await {}
            }
            Some(status) => Err(status),
            None => {
                let status = ServingStatus::Serving.into();
                Ok(Response::new(HealthCheckResponse { status }))
            }
        }
    }

    type WatchStream = Pin<Box<dyn Stream<Item = Result<HealthCheckResponse, Status>> + Send>>;

    async fn watch(
        &self,
        _: Request<HealthCheckRequest>,
    ) -> Result<Response<Self::WatchStream>, Status> {
        let call = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
        let end = (self.script)(call);
        if let Some(status) = end
            .clone()
            .filter(|status| status.code() == Code::Unauthenticated)
        {
            return Err(status);
        }
        let status = ServingStatus::Serving.into();
        let stream = once(ready(Ok(HealthCheckResponse { status })));
        Ok(Response::new(Box::pin(stream.chain(iter(end.map(Err))))))
    }
}

/// The server. It ends with its runtime.
#[derive(Debug)]
pub struct Service {
    /// The address at which it listens.
    pub address: SocketAddr,
    calls: Arc<AtomicUsize>,
    connections: Arc<AtomicUsize>,
}

impl Service {
    /// Starts it on a free port.
    ///
    /// # Panics
    ///
    /// If no port is free.
    pub async fn start(script: Script) -> Self {
        Self::start_with(Server::builder(), listener().await, script)
    }

    /// Starts it on this socket.
    ///
    /// # Panics
    ///
    /// If the socket cannot listen.
    #[must_use]
    pub fn start_on(socket: TcpSocket, script: Script) -> Self {
        let listener = socket.listen(1024).unwrap();
        Self::start_with(Server::builder(), listener, script)
    }

    /// Starts it on a free port, with this timeout for each call.
    ///
    /// # Panics
    ///
    /// If no port is free.
    pub async fn start_hurried(timeout: Duration, script: Script) -> Self {
        let server = Server::builder().timeout(timeout);
        Self::start_with(server, listener().await, script)
    }

    /// Starts it on a free port, as this builder says.
    ///
    /// # Panics
    ///
    /// If no port is free.
    pub async fn start_as(server: Server, script: Script) -> Self {
        Self::start_with(server, listener().await, script)
    }

    fn start_with(mut server: Server, listener: TcpListener, script: Script) -> Self {
        let address = listener.local_addr().unwrap();
        let calls = Arc::new(AtomicUsize::new(0));
        let scripted = Scripted {
            script,
            calls: Arc::clone(&calls),
        };
        let connections = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&connections);
        let incoming = tonic::transport::server::TcpIncoming::from(listener).inspect(move |_| {
            counted.fetch_add(1, Ordering::Relaxed);
        });
        tokio::spawn(async move {
            let service = HealthServer::new(scripted);
            server
                .add_service(service)
                .serve_with_incoming(incoming)
                .await
                .unwrap();
        });
        Self {
            address,
            calls,
            connections,
        }
    }

    /// A client for it.
    #[must_use]
    pub fn client(&self) -> HealthClient<Channel> {
        client(self.address)
    }

    /// The number of connections so far.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::Relaxed)
    }

    /// The number of calls so far.
    #[must_use]
    pub fn calls(&self) -> usize {
        self.calls.load(Ordering::Relaxed)
    }
}

/// A client for a server at this address. It connects at its first use.
#[must_use]
pub fn client(address: SocketAddr) -> HealthClient<Channel> {
    HealthClient::new(endpoint(address).connect_lazy())
}

/// The endpoint of such a client, on which you can set a limit.
///
/// # Panics
///
/// Never: the address is well-formed.
#[must_use]
pub fn endpoint(address: SocketAddr) -> Endpoint {
    Endpoint::try_from(format!("http://{address}")).unwrap()
}
