//! A TCP proxy that makes a healthy server slow, flaky or dead. Its clients see real late bytes, real
//! resets and real refusals.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{ReadHalf, WriteHalf};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::watch;
use tokio::time::sleep;

use super::health::{Health, MESSAGES_PER_RESET, SLOWEST};

/// Starts a proxy on a free port of 127.0.0.1, and returns its address. It ends when the sender of its health is dropped.
pub(crate) fn start(server: SocketAddr, health: watch::Receiver<Health>) -> io::Result<SocketAddr> {
    // This socket never listens. It keeps the port while the proxy does not listen either.
    let reserved = socket((Ipv4Addr::LOCALHOST, 0).into())?;
    let address = reserved.local_addr()?;
    tokio::spawn(async move {
        if let Err(error) = run(address, server, health).await {
            eprintln!("the proxy at {address} ended: {error}");
        }
        drop(reserved);
    });
    Ok(address)
}

fn socket(address: SocketAddr) -> io::Result<TcpSocket> {
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    Ok(socket)
}

/// Listens, except while the server plays dead.
async fn run(
    address: SocketAddr,
    server: SocketAddr,
    mut health: watch::Receiver<Health>,
) -> io::Result<()> {
    while until(&mut health, |health| health != Health::Dead).await {
        let listener = socket(address)?.listen(128)?;
        let relays = health.clone();
        tokio::select! {
            _ = until(&mut health, |health| health == Health::Dead) => {}
            failed = accept(&listener, server, &relays) => return failed,
        }
    }
    Ok(())
}

/// Waits for a change of health. Returns `false` if there are no more changes.
async fn until(health: &mut watch::Receiver<Health>, is: impl Fn(Health) -> bool) -> bool {
    health.wait_for(|health| is(*health)).await.is_ok()
}

async fn accept(
    listener: &TcpListener,
    server: SocketAddr,
    health: &watch::Receiver<Health>,
) -> io::Result<()> {
    loop {
        let (client, _) = listener.accept().await?;
        tokio::spawn(relay(client, server, health.clone()));
    }
}

/// Why a connection ended.
#[derive(Debug, PartialEq, Eq)]
enum End {
    /// One side closed it.
    Closed,
    /// The proxy must reset it.
    Reset,
}

/// Forwards one connection until it ends.
async fn relay(
    mut client: TcpStream,
    server: SocketAddr,
    mut health: watch::Receiver<Health>,
) -> io::Result<()> {
    let mut server = TcpStream::connect(server).await?;
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;

    let state = health.clone();
    let (from_client, mut to_client) = client.split();
    let (mut from_server, to_server) = server.split();
    let end = tokio::select! {
        end = requests(from_client, to_server, &state) => end?,
        copied = tokio::io::copy(&mut from_server, &mut to_client) => copied.map(|_| End::Closed)?,
        _ = until(&mut health, |health| health == Health::Dead) => End::Reset,
    };
    if end == End::Reset {
        // Both sides see "connection reset by peer".
        client.set_zero_linger()?;
        server.set_zero_linger()?;
    }
    Ok(())
}

/// Forwards what the client sends, late or not at all.
async fn requests(
    mut client: ReadHalf<'_>,
    mut server: WriteHalf<'_>,
    health: &watch::Receiver<Health>,
) -> io::Result<End> {
    let mut bytes = vec![0; 16 * 1024];
    loop {
        let length = client.read(&mut bytes).await?;
        if length == 0 {
            return Ok(End::Closed);
        }
        let health = *health.borrow();
        match health {
            Health::Slow => sleep(rand::random_range(Duration::ZERO..SLOWEST)).await,
            Health::Flaky if rand::random_ratio(1, MESSAGES_PER_RESET) => return Ok(End::Reset),
            Health::Healthy | Health::Flaky | Health::Dead => {}
        }
        server.write_all(&bytes[..length]).await?;
    }
}
