//! A small HTTP server that fails on demand, on a free port of this machine.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpSocket, TcpStream};

/// What the server does with one connection.
#[derive(Clone, Copy)]
pub(crate) enum Behaviour {
    /// Accepts it, and never answers.
    Stall,
    /// Answers 503.
    Unavailable,
    /// Answers 200 with this body.
    Answer(&'static str),
}

/// A reserved port on which no server listens yet, so connections are refused.
pub(crate) struct Server {
    socket: TcpSocket,
    addr: SocketAddr,
}

impl Server {
    pub(crate) fn reserve() -> io::Result<Self> {
        let socket = TcpSocket::new_v4()?;
        socket.bind(SocketAddr::from(([127, 0, 0, 1], 0)))?;
        let addr = socket.local_addr()?;
        Ok(Self { socket, addr })
    }

    pub(crate) fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Listens. Each connection gets the next behaviour, and later connections get the last.
    pub(crate) async fn listen(self, behaviours: Vec<Behaviour>) -> io::Result<()> {
        let listener: TcpListener = self.socket.listen(16)?;
        let last = behaviours.last().copied();
        let mut behaviours = behaviours.into_iter();
        loop {
            let (stream, _) = listener.accept().await?;
            if let Some(behaviour) = behaviours.next().or(last) {
                tokio::spawn(serve(stream, behaviour));
            }
        }
    }
}

async fn serve(mut stream: TcpStream, behaviour: Behaviour) -> io::Result<()> {
    let (status, body) = match behaviour {
        Behaviour::Stall => {
            tokio::time::sleep(Duration::from_secs(60)).await;
            return Ok(());
        }
        Behaviour::Unavailable => ("503 Service Unavailable", ""),
        Behaviour::Answer(body) => ("200 OK", body),
    };
    let mut request = [0; 1024];
    let _ = stream.read(&mut request).await?;
    let length = body.len();
    let reply =
        format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}");
    stream.write_all(reply.as_bytes()).await?;
    stream.shutdown().await
}
