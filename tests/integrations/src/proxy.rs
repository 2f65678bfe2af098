//! A proxy that decides for each connection where it goes, as a name, a load balancer or a starting server does.

use std::future::pending;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::time::sleep;

/// How late answers are.
pub const LATE: Duration = Duration::from_millis(50);

/// What becomes of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum To {
    /// It goes to the server at this port of 127.0.0.1.
    Server(u16),
    /// It goes to the server at this port of 127.0.0.1, and is closed after the first answer.
    FirstAnswer(u16),
    /// It goes to the server at this port of 127.0.0.1, each of whose answers is [`LATE`].
    Late(u16),
    /// It is accepted, and closed.
    Close,
    /// It is accepted, and reset.
    Reset,
}

/// The proxy. It ends with its runtime.
#[derive(Debug)]
pub struct Proxy {
    /// Its port on 127.0.0.1.
    pub port: u16,
    freeze: Arc<Notify>,
    cut: Arc<Notify>,
}

impl Proxy {
    /// Starts it. It asks at each connection, which it counts from 0, where that goes.
    ///
    /// # Panics
    ///
    /// If no port is free.
    pub async fn start(to: impl Fn(usize) -> To + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (freeze, cut) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let ends = (Arc::clone(&freeze), Arc::clone(&cut));
        tokio::spawn(async move {
            for number in 0.. {
                let (client, _) = listener.accept().await.unwrap();
                match to(number) {
                    To::Server(port) => {
                        tokio::spawn(pass_on(client, port, ends.clone()));
                    }
                    To::FirstAnswer(port) => {
                        tokio::spawn(pass_first_answer(client, port));
                    }
                    To::Late(port) => {
                        tokio::spawn(pass_late(client, port));
                    }
                    To::Close => {}
                    To::Reset => client.set_zero_linger().unwrap(),
                }
            }
        });
        Self { port, freeze, cut }
    }

    /// Closes the connections that are open.
    pub fn cut(&self) {
        self.cut.notify_waiters();
    }

    /// Passes on nothing more on the connections that are open, and leaves them open.
    pub fn freeze(&self) {
        self.freeze.notify_waiters();
    }
}

async fn pass_on(mut client: TcpStream, port: u16, (freeze, cut): (Arc<Notify>, Arc<Notify>)) {
    let (frozen, cut) = (freeze.notified(), cut.notified());
    let Ok(mut server) = TcpStream::connect(("127.0.0.1", port)).await else {
        return;
    };
    tokio::select! {
        // One side has ended.
        _ = copy_bidirectional(&mut client, &mut server) => {}
        () = cut => {}
        () = frozen => pending().await,
    }
}

async fn pass_first_answer(mut client: TcpStream, port: u16) -> io::Result<()> {
    let mut server = TcpStream::connect(("127.0.0.1", port)).await?;
    let mut bytes = [0; 1024];
    let sent = client.read(&mut bytes).await?;
    server.write_all(&bytes[..sent]).await?;
    let answered = server.read(&mut bytes).await?;
    client.write_all(&bytes[..answered]).await
}

async fn pass_late(mut client: TcpStream, port: u16) -> io::Result<()> {
    let mut server = TcpStream::connect(("127.0.0.1", port)).await?;
    let ((mut asks, mut client), (mut answers, mut server)) = (client.split(), server.split());
    let late = async {
        let mut bytes = [0; 1024];
        while let length @ 1.. = answers.read(&mut bytes).await? {
            sleep(LATE).await;
            client.write_all(&bytes[..length]).await?;
        }
        Ok(())
    };
    tokio::select! {
        ended = copy(&mut asks, &mut server) => ended.map(drop),
        ended = late => ended,
    }
}
