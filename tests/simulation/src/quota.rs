//! Calls to a server with a quota, which answers "too many requests" without a hint above it.
//!
//! Each call is that of an annotated function with the defaults, on tokio's paused clock. Only `throttled_base` differs.

use std::cell::Cell;
use std::time::Duration;

use futures::future::join_all;
use reattempt::{Budget, retry};
use tokio::time::{Instant, sleep};

use crate::dice::Dice;
use crate::failure::Failure;

/// Calls to a server with a quota.
#[derive(Debug, Clone, Copy)]
pub struct Rush {
    /// The name in tables.
    pub name: &'static str,
    /// The requests that the quota allows in a second, and at once.
    pub quota: f64,
    /// The number of calls.
    pub calls: u32,
    /// When they begin.
    pub begin: Begin,
}

/// When the calls begin.
#[derive(Debug, Clone, Copy)]
pub enum Begin {
    /// At random times within these seconds.
    Within(u64),
    /// All at once.
    AtOnce,
    /// Each when one of so many workers ended its last call.
    Workers(u32),
}

/// What became of the calls.
#[derive(Debug, Clone, Copy, Default)]
pub struct Answered {
    /// The calls that succeeded.
    pub calls: u32,
    /// All requests.
    pub requests: u32,
    /// How long the calls that succeeded took, in all.
    pub time: Duration,
}

impl Rush {
    /// The rows of the table.
    #[rustfmt::skip]
    pub const ALL: [Self; 5] = [
        Self::of("150 calls a second, quota 100", 100.0, 9_000, Begin::Within(60)),
        Self::of("150 calls at once, quota 100", 100.0, 150, Begin::AtOnce),
        Self::of("300 calls at once, quota 100", 100.0, 300, Begin::AtOnce),
        Self::of("20 calls at once, quota 10", 10.0, 20, Begin::AtOnce),
        Self::of("200 calls of 10 workers, quota 10", 10.0, 200, Begin::Workers(10)),
    ];

    const fn of(name: &'static str, quota: f64, calls: u32, begin: Begin) -> Self {
        Self {
            name,
            quota,
            calls,
            begin,
        }
    }

    /// Makes the calls. `None` is the default of the library.
    ///
    /// # Panics
    ///
    /// - If no runtime can be built.
    #[must_use]
    pub fn run(&self, throttled_base: Option<Duration>, seed: u64) -> Answered {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .expect("a runtime");
        runtime.block_on(self.calls(throttled_base, &mut Dice::new(seed)))
    }

    async fn calls(&self, throttled_base: Option<Duration>, dice: &mut Dice) -> Answered {
        let (server, budget) = (Server::new(self.quota), Budget::new());
        let answered = Cell::new(Answered::default());
        let call = || async {
            let began = Instant::now();
            let result = match throttled_base {
                None => by_default(&server, &budget).await,
                Some(base) => with_base(&server, &budget, base).await,
            };
            let mut sum = answered.get();
            if result.is_ok() {
                sum.calls += 1;
                sum.time += began.elapsed();
            }
            answered.set(sum);
        };
        match self.begin {
            Begin::Within(seconds) => {
                let mut after = |_| dice.within(&(Duration::ZERO..=Duration::from_secs(seconds)));
                let begins: Vec<_> = (0..self.calls).map(&mut after).collect();
                let call = &call;
                let calls = begins.into_iter().map(|begin| async move {
                    sleep(begin).await;
                    call().await;
                });
                join_all(calls).await;
            }
            Begin::AtOnce => drop(join_all((0..self.calls).map(|_| call())).await),
            Begin::Workers(workers) => {
                let each = self.calls / workers;
                let worker = || async {
                    for _ in 0..each {
                        call().await;
                    }
                };
                join_all((0..workers).map(|_| worker())).await;
            }
        }
        Answered {
            requests: server.requests.get(),
            ..answered.get()
        }
    }
}

#[retry(budget = budget)]
async fn by_default(server: &Server, budget: &Budget) -> Result<(), Failure> {
    server.answer().await
}

#[retry(throttled_base = base, budget = budget)]
async fn with_base(server: &Server, budget: &Budget, base: Duration) -> Result<(), Failure> {
    server.answer().await
}

/// A server that answers after 5 ms. Its quota is a bucket that holds the requests of one second.
struct Server {
    quota: f64,
    left: Cell<f64>,
    at: Cell<Instant>,
    requests: Cell<u32>,
}

impl Server {
    fn new(quota: f64) -> Self {
        Self {
            quota,
            left: Cell::new(quota),
            at: Cell::new(Instant::now()),
            requests: Cell::new(0),
        }
    }

    async fn answer(&self) -> Result<(), Failure> {
        sleep(Duration::from_millis(5)).await;
        self.requests.set(self.requests.get() + 1);
        let now = Instant::now();
        let passed = now.duration_since(self.at.replace(now)).as_secs_f64();
        let left = (self.left.get() + self.quota * passed).min(self.quota);
        let allowed = left >= 1.0;
        self.left.set(if allowed { left - 1.0 } else { left });
        if allowed {
            Ok(())
        } else {
            Err(Failure::Throttled)
        }
    }
}
