//! The same fleet through annotated functions, on tokio's paused clock.
//!
//! An annotated function stands for a process, because each has its own budget. There are a hundred functions, and a
//! thousand clients call them, ten tasks for each process.

use std::cell::RefCell;
use std::pin::Pin;
use std::sync::LazyLock;
use std::time::Duration;

use reattempt::retry;
use tokio::time::{Instant, sleep, sleep_until};

use crate::dice::Dice;
use crate::failure::Failure;
use crate::fleet::{MILLI, NETWORK};
use crate::server::{Server, Trouble};
use crate::timeline::Timeline;

/// How the annotated functions retry, as counterparts of the manners.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Annotated {
    /// `budget = "none"`
    Backoff,
    /// A `static` with `Budget::aws()` for each.
    Aws,
    /// Only the timeout.
    Defaults,
}

/// The number of processes.
pub const PROCESSES: u32 = 100;

/// The number of tasks that make the calls of a process.
pub const CLIENTS_EACH: u32 = 10;

/// Runs a hundred processes of ten clients, each of which makes `rate` calls a second.
///
/// # Panics
///
/// - If no runtime can be built.
#[must_use]
pub fn run(
    annotated: Annotated,
    rate: u32,
    trouble: Trouble,
    seconds: usize,
    seed: u64,
) -> Timeline {
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime")
        .block_on(fleet(annotated, rate, trouble, seconds, seed))
}

async fn fleet(
    annotated: Annotated,
    rate: u32,
    trouble: Trouble,
    seconds: usize,
    seed: u64,
) -> Timeline {
    let normal = PROCESSES * CLIENTS_EACH * rate;
    let start = Instant::now();
    let world = World {
        start,
        server: Server::new(u64::from(normal), trouble),
        timeline: Timeline::new(f64::from(normal), trouble, seconds),
    };
    WORLD.set(Some(world));
    let end = start + Duration::from_secs(seconds as u64);
    let clients: Vec<_> = (0..PROCESSES * CLIENTS_EACH)
        .map(|number| tokio::spawn(client(annotated, number, rate, end, seed)))
        .collect();
    for client in clients {
        client.await.expect("a client does not panic");
    }
    // Calls that still run count in no second.
    WORLD.take().expect("it was set above").timeline
}

/// A task that begins calls at random times, even while earlier calls run.
async fn client(annotated: Annotated, number: u32, rate: u32, end: Instant, seed: u64) {
    let mut dice = Dice::of(&[seed, u64::from(number)]);
    let mut next = Instant::now();
    loop {
        next += dice.pause(rate);
        if next >= end {
            break;
        }
        sleep_until(next).await;
        in_world(|world, now| world.timeline.at(now).map(|second| second.calls += 1));
        tokio::spawn(async move {
            let result = match annotated {
                Annotated::Backoff => backoff().await,
                Annotated::Aws => AWS[(number % PROCESSES) as usize]().await,
                Annotated::Defaults => DEFAULTS[(number % PROCESSES) as usize]().await,
            };
            if result.is_ok() {
                in_world(|world, now| world.timeline.at(now).map(|second| second.successes += 1));
            }
        });
    }
}

struct World {
    start: Instant,
    server: Server,
    timeline: Timeline,
}

thread_local! {
    static WORLD: RefCell<Option<World>> = const { RefCell::new(None) };
}

/// Calls `look` with the world and its time. `None` after the last second.
fn in_world<T>(look: impl FnOnce(&mut World, u64) -> Option<T>) -> Option<T> {
    WORLD.with_borrow_mut(|world| {
        let world = world.as_mut()?;
        let now = world.start.elapsed().as_nanos();
        look(world, u64::try_from(now).unwrap_or(u64::MAX))
    })
}

/// The body of every function: one request.
async fn request() -> Result<(), Failure> {
    let done = in_world(|world, now| {
        if let Some(second) = world.timeline.at(now) {
            second.attempts += 1;
        }
        let done = world.server.accept(now)?;
        Some(world.start + Duration::from_nanos(done + NETWORK * MILLI))
    });
    match done {
        Some(done) => {
            sleep_until(done).await;
            Ok(())
        }
        None => {
            sleep(Duration::from_millis(NETWORK)).await;
            Err(Failure::Refused)
        }
    }
}

#[retry(timeout = "500ms", budget = "none")]
async fn backoff() -> Result<(), Failure> {
    request().await
}

type Process = fn() -> Pin<Box<dyn Future<Output = Result<(), Failure>> + Send>>;

/// Writes a process for each name: an annotated function with its own budget.
macro_rules! processes {
    ($($tens:ident)*) => {
        $(mod $tens {
            use super::{Failure, Process, request};
            processes!(@each p0 p1 p2 p3 p4 p5 p6 p7 p8 p9);
        })*
        static AWS: LazyLock<Vec<Process>> =
            LazyLock::new(|| [$($tens::AWS),*].into_iter().flatten().collect());
        static DEFAULTS: LazyLock<Vec<Process>> =
            LazyLock::new(|| [$($tens::DEFAULTS),*].into_iter().flatten().collect());
    };
    (@each $($name:ident)*) => {
        $(mod $name {
            use super::{Failure, request};

            #[reattempt::retry(timeout = "500ms")]
            pub(super) async fn defaults() -> Result<(), Failure> {
                request().await
            }

            static BUDGET: reattempt::Budget = reattempt::Budget::aws();

            #[reattempt::retry(timeout = "500ms", budget = BUDGET)]
            pub(super) async fn aws() -> Result<(), Failure> {
                request().await
            }
        })*
        pub(super) const AWS: [Process; 10] = [$(|| Box::pin($name::aws())),*];
        pub(super) const DEFAULTS: [Process; 10] = [$(|| Box::pin($name::defaults())),*];
    };
}

processes!(tens0 tens1 tens2 tens3 tens4 tens5 tens6 tens7 tens8 tens9);
