//! What a refusal by the budget does to two kinds of callers, while a server is down: workers that begin the next item at once,
//! and requests that come at their own pace.

use std::cell::{Cell, RefCell};
use std::time::Duration;

use futures::future::join_all;
use reattempt::{BATCH, Budget, Outcome, Policy, with_report};
use tokio::time::{Instant, sleep, sleep_until, timeout};

use crate::dice::Dice;
use crate::failure::Failure;

/// How the callers retry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// `#[retry]`
    Default,
    /// `attempts = 6`
    Six,
    /// `attempts = 6`, where the caller of a refused call waits for the delay that the retry would have had.
    SixAndWait,
    /// `attempts = 6, budget = "none"`
    SixWithoutBudget,
    /// `policy = BATCH`
    Batch,
}

/// What happened while the server was down.
#[derive(Debug, Clone, Copy, Default)]
pub struct Seen {
    /// The requests.
    pub requests: u32,
    /// The calls that failed.
    pub lost: u32,
    /// How long those took, in all.
    pub time: Duration,
}

/// The seconds for which the server refuses every request, in the table.
pub const DOWN: u32 = 6;

/// The workers of the closed loop.
pub const WORKERS: u32 = 8;

/// The requests a second of the open loop.
pub const RATE: u32 = 200;

const FROM: Duration = Duration::from_secs(1);

impl Way {
    /// The rows of the table.
    pub const ALL: [Self; 5] = [
        Self::Default,
        Self::Six,
        Self::SixAndWait,
        Self::SixWithoutBudget,
        Self::Batch,
    ];

    /// The name in the table.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Default => "`#[retry]`",
            Self::Six => "`attempts = 6`",
            Self::SixAndWait => "`attempts = 6`, and a refused call takes its delay before it ends",
            Self::SixWithoutBudget => "`attempts = 6, budget = \"none\"`",
            Self::Batch => "`policy = BATCH`",
        }
    }

    const fn policy(self) -> Policy {
        match self {
            Self::Default => Policy::new(),
            Self::Six | Self::SixAndWait => Policy::new().with_attempts(6),
            Self::SixWithoutBudget => Policy::new().with_attempts(6).without_budget(),
            Self::Batch => BATCH,
        }
    }

    /// Eight workers, which take the next item when the last one ended. The server is down for this many seconds.
    #[must_use]
    pub fn closed(self, down: u32, seed: u64) -> Seen {
        paused(async {
            let world = World::new(self, down, seed);
            let worker = || async {
                loop {
                    world.call().await;
                }
            };
            let workers = join_all((0..WORKERS).map(|_| worker()));
            let _ = timeout(world.until, workers).await;
            world.seen.get()
        })
    }

    /// Requests that come whatever became of the ones before.
    #[must_use]
    pub fn open(self, down: u32, seed: u64) -> Seen {
        paused(async {
            let world = &World::new(self, down, seed);
            let calls = (0..RATE * (1 + down)).map(|call| async move {
                sleep_until(world.begun + Duration::from_secs(1) * call / RATE).await;
                world.call().await;
            });
            let _ = timeout(world.until, join_all(calls)).await;
            world.seen.get()
        })
    }
}

/// Runs it in virtual time.
fn paused<T>(run: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime");
    runtime.block_on(run)
}

/// The server and its callers.
struct World {
    begun: Instant,
    until: Duration,
    way: Way,
    budget: Budget,
    dice: RefCell<Dice>,
    seen: Cell<Seen>,
}

impl World {
    fn new(way: Way, down: u32, seed: u64) -> Self {
        Self {
            begun: Instant::now(),
            until: FROM + Duration::from_secs(down.into()),
            way,
            budget: Budget::new(),
            dice: RefCell::new(Dice::new(seed)),
            seen: Cell::default(),
        }
    }

    fn is_down(&self) -> bool {
        self.begun.elapsed() >= FROM
    }

    fn see(&self, change: impl FnOnce(&mut Seen)) {
        let mut seen = self.seen.get();
        change(&mut seen);
        self.seen.set(seen);
    }

    /// A request takes 20 ms. A refusal takes 5 ms.
    async fn request(&self) -> Result<(), Failure> {
        if self.is_down() {
            self.see(|seen| seen.requests += 1);
            sleep(Duration::from_millis(5)).await;
            return Err(Failure::Refused);
        }
        sleep(Duration::from_millis(20)).await;
        Ok(())
    }

    async fn call(&self) {
        let began = Instant::now();
        let run = self.way.policy().run(|| self.request());
        let (result, report) = match self.way {
            Way::SixWithoutBudget | Way::Batch => with_report(run.unboxed()).await,
            _ => with_report(run.with_budget(&self.budget).unboxed()).await,
        };
        let report = report.expect("a call");
        if self.way == Way::SixAndWait && report.outcome() == Outcome::Budget {
            let most = Duration::from_millis(100) * 2_u32.pow(report.attempts() - 1);
            let delay = self.dice.borrow_mut().within(&(Duration::ZERO..=most));
            sleep(delay).await;
        }
        if result.is_err() {
            self.see(|seen| {
                seen.lost += 1;
                seen.time += began.elapsed();
            });
        }
    }
}
