//! Workers with a fixed number of calls at once, against a server with a fault: in memory, and over sockets.
//!
//! Each call is that of an annotated function. A worker begins its next call when the last one ended, so the load does not
//! grow while the server hangs.

use std::cell::{Cell, RefCell};
use std::future::pending;
use std::io;
use std::rc::Rc;
use std::time::Duration;

use reattempt::{Budget, retry};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinSet, LocalSet};
use tokio::time::{Instant, sleep};

use crate::dice::Dice;
use crate::failure::Failure;

/// A batch of calls, and the fault of its server.
#[derive(Debug, Clone, Copy)]
pub struct Batch {
    /// The name in tables.
    pub name: &'static str,
    /// The number of workers, which is the number of calls at once.
    pub workers: usize,
    /// The number of calls of all workers.
    pub calls: u32,
    /// The timeout of an attempt.
    pub timeout: Option<Duration>,
    /// What happens to the server.
    pub fault: Fault,
}

/// What happens to the server, 300 ms after the beginning.
#[derive(Debug, Clone, Copy)]
pub enum Fault {
    /// It stops for this long. Requests that are in the server, or that come meanwhile, never get an answer.
    Freezes(Duration),
    /// It resets connections for this long. Before and after that, it refuses a share of all requests.
    Resets(Duration, f64),
}

/// The number of attempts of a call.
pub const ATTEMPTS: u32 = 6;

const FROM: Duration = Duration::from_millis(300);

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

impl Batch {
    /// The batches in the tables.
    #[rustfmt::skip]
    pub const ALL: [Self; 8] = [
        Self::of("50 of 300 calls at once; the server freezes for 0.8 s; `timeout` 1 s", (50, 300), Some(ms(1_000)), Fault::Freezes(ms(800))),
        Self::of("the same, `timeout` 250 ms", (50, 300), Some(ms(250)), Fault::Freezes(ms(800))),
        Self::of("50 of 300; freezes for 1.5 s; 1 s", (50, 300), Some(ms(1_000)), Fault::Freezes(ms(1_500))),
        Self::of("200 of 1,000; freezes for 0.8 s; 1 s", (200, 1_000), Some(ms(1_000)), Fault::Freezes(ms(800))),
        Self::of("50 of 300; resets connections for 0.4 s, and refuses 30 %; no limits", (50, 300), None, Fault::Resets(ms(400), 0.3)),
        Self::of("50 of 300; resets connections for 1 s; no limits", (50, 300), None, Fault::Resets(ms(1_000), 0.0)),
        Self::of("50 of 300; freezes for 2.5 s; 1 s", (50, 300), Some(ms(1_000)), Fault::Freezes(ms(2_500))),
        Self::of("1 of 6; the server hangs; 250 ms", (1, 6), Some(ms(250)), Fault::Freezes(ms(3_600_000))),
    ];

    const fn of(
        name: &'static str,
        (workers, calls): (usize, u32),
        timeout: Option<Duration>,
        fault: Fault,
    ) -> Self {
        Self {
            name,
            workers,
            calls,
            timeout,
            fault,
        }
    }

    /// Makes the calls in virtual time. Returns how many failed although they had attempts left: those that the budget
    /// refused.
    ///
    /// # Panics
    ///
    /// - If no runtime can be built.
    #[must_use]
    pub fn lost(&self, budget: Option<fn() -> Budget>, seed: u64) -> u32 {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .expect("a runtime");
        runtime.block_on(async {
            let server = Server::new(self.fault, seed);
            self.work(budget, || server.answer()).await
        })
    }

    /// Makes the calls over sockets on loopback.
    ///
    /// # Errors
    ///
    /// - The server cannot listen.
    pub async fn lost_over_sockets(
        &self,
        budget: Option<fn() -> Budget>,
        seed: u64,
    ) -> io::Result<u32> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let local = LocalSet::new();
        let server = Rc::new(Server::new(self.fault, seed));
        local.spawn_local(async move {
            let mut open = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let server = Rc::clone(&server);
                // A client that closes its connection ends this connection only.
                open.spawn_local(async move { server.serve(stream).await });
            }
        });
        let request = || async move {
            let mut stream = TcpStream::connect(address).await?;
            stream.write_all(b"?").await?;
            match stream.read_u8().await? {
                b'+' => Ok(()),
                _ => Err(Failure::Refused),
            }
        };
        Ok(local.run_until(self.work(budget, request)).await)
    }

    async fn work(
        &self,
        budget: Option<fn() -> Budget>,
        request: impl AsyncFn() -> Result<(), Failure>,
    ) -> u32 {
        let budget = budget.map(|budget| budget());
        let (left, lost) = (Cell::new(self.calls), Cell::new(0));
        let worker = || async {
            while let Some(others) = left.get().checked_sub(1) {
                left.set(others);
                let attempts = Cell::new(0);
                let attempt = async || {
                    attempts.set(attempts.get() + 1);
                    request().await
                };
                let result = match self.timeout {
                    Some(timeout) => limited(timeout, budget.as_ref(), &attempt).await,
                    None => unlimited(budget.as_ref(), &attempt).await,
                };
                if result.is_err() && attempts.get() < ATTEMPTS {
                    lost.set(lost.get() + 1);
                }
            }
        };
        futures::future::join_all((0..self.workers).map(|_| worker())).await;
        lost.get()
    }
}

#[retry(attempts = ATTEMPTS, timeout = timeout, budget = budget)]
async fn limited(
    timeout: Duration,
    budget: Option<&Budget>,
    attempt: &impl AsyncFn() -> Result<(), Failure>,
) -> Result<(), Failure> {
    attempt().await
}

#[retry(attempts = ATTEMPTS, budget = budget)]
async fn unlimited(
    budget: Option<&Budget>,
    attempt: &impl AsyncFn() -> Result<(), Failure>,
) -> Result<(), Failure> {
    attempt().await
}

/// A server that answers each request after 50 to 150 ms.
struct Server {
    begun: Instant,
    fault: Fault,
    dice: RefCell<Dice>,
}

impl Server {
    fn new(fault: Fault, seed: u64) -> Self {
        Self {
            begun: Instant::now(),
            fault,
            dice: RefCell::new(Dice::new(seed)),
        }
    }

    async fn answer(&self) -> Result<(), Failure> {
        let length = self.dice.borrow_mut().within(&(ms(50)..=ms(150)));
        let now = self.begun.elapsed();
        let meets = |fault: Duration| now < FROM + fault && now + length > FROM;
        match self.fault {
            Fault::Freezes(freeze) if meets(freeze) => pending().await,
            Fault::Resets(resets, _) if meets(resets) => {
                sleep(FROM.saturating_sub(now)).await;
                Err(Failure::Refused)
            }
            Fault::Freezes(_) => {
                sleep(length).await;
                Ok(())
            }
            Fault::Resets(_, refused) => {
                sleep(length).await;
                if self.dice.borrow_mut().chance(refused) {
                    return Err(Failure::Refused);
                }
                Ok(())
            }
        }
    }

    /// Serves one connection. A failure closes it.
    async fn serve(&self, mut stream: TcpStream) -> io::Result<()> {
        stream.read_u8().await?;
        if self.answer().await.is_ok() {
            stream.write_all(b"+").await?;
        }
        Ok(())
    }
}
