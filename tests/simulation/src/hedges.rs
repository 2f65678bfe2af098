//! Calls to a service that is slow at times, or as a whole, with and without a hedge.
//!
//! Each call is that of an annotated function with the defaults, on tokio's paused clock. Only `hedge` differs. Each run is in a
//! test scope of its own, so that its budget and its share of hedges start full.

use std::cell::{Cell, RefCell};
use std::time::Duration;

use futures::future::join_all;
use reattempt::testing::Scope;
use reattempt::{Attempt, Budget, retry};
use tokio::time::{Instant, sleep};

use crate::dice::Dice;
use crate::failure::Failure;

/// A service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Service {
    /// It answers within 10 ms, and one time in a hundred after 500 ms.
    SlowAtTimes,
    /// Each answer takes 50 ms.
    Slow,
    /// Each request fails after 50 ms.
    Fails,
}

impl Service {
    /// The services of the table.
    pub const ALL: [Self; 3] = [Self::SlowAtTimes, Self::Slow, Self::Fails];

    /// Its name in the table.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::SlowAtTimes => "answers within 10 ms, one in a hundred after 500 ms",
            Self::Slow => "answers after 50 ms",
            Self::Fails => "fails after 50 ms",
        }
    }

    async fn answer(self, dice: &RefCell<Dice>) -> Result<(), Failure> {
        const SLOW: Duration = Duration::from_millis(50);
        match self {
            Self::SlowAtTimes => {
                let takes = {
                    let mut dice = dice.borrow_mut();
                    let fast = dice.within(&(Duration::from_millis(1)..=Duration::from_millis(10)));
                    if dice.chance(0.01) { 10 * SLOW } else { fast }
                };
                sleep(takes).await;
            }
            Self::Slow | Self::Fails => sleep(SLOW).await,
        }
        if self == Self::Fails {
            return Err(Failure::Refused);
        }
        Ok(())
    }
}

/// The calls of a run.
pub const CALLS: u32 = 16_000;

/// The calls a second, in the table.
pub const RATES: [u32; 4] = [1, 5, 50, 500];

/// What a run was like.
#[derive(Debug, Clone)]
pub struct Run {
    /// How long each call took, the shortest first.
    times: Vec<Duration>,
    /// All requests, hedges and retries included.
    pub requests: u32,
    /// Whether it was a hedge, for each hedge and each first attempt, in the order in which they began.
    began: Vec<bool>,
}

impl Run {
    /// Makes calls at random times, so many a second.
    ///
    /// # Panics
    ///
    /// - If no runtime can be built.
    #[must_use]
    pub fn of(service: Service, rate: u32, hedged: bool, seed: u64) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .expect("a runtime");
        let scope = Scope::new().with_waits(true);
        let (run, _) = runtime.block_on(scope.run(calls(service, rate, hedged, seed)));
        run
    }

    /// The time within which this share of the calls ended.
    #[must_use]
    pub fn percentile(&self, share: f64) -> Duration {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "an index of the list"
        )]
        let index = (self.times.len() as f64 * share) as usize;
        self.times[index.min(self.times.len() - 1)]
    }

    /// The number of hedges.
    #[must_use]
    pub fn hedges(&self) -> usize {
        self.began.iter().filter(|hedge| **hedge).count()
    }

    /// The most hedges among attempts that began one after another, beyond one for 16 calls.
    #[must_use]
    pub fn most_saved_up(&self) -> f64 {
        let (mut beyond, mut most) = (0.0_f64, 0.0_f64);
        for hedge in &self.began {
            beyond += if *hedge { 1.0 } else { -1.0 / 16.0 };
            beyond = beyond.max(0.0);
            most = most.max(beyond);
        }
        most
    }
}

async fn calls(service: Service, rate: u32, hedged: bool, seed: u64) -> Run {
    let world = World {
        service,
        dice: RefCell::new(Dice::new(seed)),
        budget: Budget::new(),
        requests: Cell::default(),
        began: RefCell::default(),
    };
    let mut pauses = Dice::of(&[seed, 1]);
    let mut begins = Duration::ZERO;
    let calls = (0..CALLS).map(|_| {
        begins += pauses.pause(rate);
        let (world, begins) = (&world, begins);
        async move {
            sleep(begins).await;
            let began = Instant::now();
            // A failure takes its time too.
            let _ = if hedged {
                with_hedge(world).await
            } else {
                without(world).await
            };
            began.elapsed()
        }
    });
    let mut times = join_all(calls).await;
    times.sort_unstable();
    Run {
        times,
        requests: world.requests.take(),
        began: world.began.take(),
    }
}

#[retry(budget = world.budget)]
async fn without(world: &World) -> Result<(), Failure> {
    world.request().await
}

#[retry(hedge = "20ms", budget = world.budget)]
async fn with_hedge(world: &World) -> Result<(), Failure> {
    world.request().await
}

struct World {
    service: Service,
    dice: RefCell<Dice>,
    budget: Budget,
    requests: Cell<u32>,
    began: RefCell<Vec<bool>>,
}

impl World {
    async fn request(&self) -> Result<(), Failure> {
        let attempt = Attempt::current().expect("in an attempt");
        self.requests.set(self.requests.get() + 1);
        if attempt.number() == 1 || attempt.is_hedge() {
            self.began.borrow_mut().push(attempt.is_hedge());
        }
        self.service.answer(&self.dice).await
    }
}
