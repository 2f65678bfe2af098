//! Clients and a server in a simulated network with partitions, held packets, crashes and slow links, from many seeds.
//!
//! `NETWORK_SEEDS=0..200 cargo test --release -p simulation --test simulation network` runs more of them. A failure prints its seed, and
//! `NETWORK_SEEDS=17..18` runs that one again.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::rc::Rc;
use std::time::Duration;

use reattempt::{Outcome, Report, retry};
use simulation::books::{Books, Entry};
use simulation::dice::Dice;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::task::{JoinSet, spawn_local};
use tokio::time::{Instant, sleep, timeout};
use turmoil::net::{TcpListener, TcpStream};
use turmoil::{Builder, Sim};

const SEEDS: Range<u64> = 0..20;
const CLIENTS: [&str; 3] = ["one", "two", "three"];
const CALLS: u32 = 200;
const DEADLINE: Duration = Duration::from_secs(1);
/// The longest that a message takes.
const USUAL: Duration = Duration::from_millis(10);
const SLOW: Duration = Duration::from_millis(300);
/// The network moves in steps of a millisecond, and so do tokio's timers.
const STEPS: Duration = Duration::from_millis(2);

/// What happened in a simulation.
#[derive(Default)]
struct World {
    books: Books,
    requests: Cell<u64>,
}

/// One call.
struct Asked {
    world: Rc<World>,
    entry: Entry,
    id: u32,
    delays: Vec<Duration>,
    patience: Duration,
    began: Instant,
}

impl Asked {
    fn attempt_begins(&self) {
        assert!(
            self.began.elapsed() <= self.patience,
            "an attempt after `cancel`"
        );
        self.entry.attempt();
    }

    fn ends(&self, report: &Report) {
        assert!(self.began.elapsed() <= DEADLINE + STEPS, "{report}");
        self.world.books.enter(&self.entry, report);
    }
}

#[retry(
    delays = &asked.delays,
    jitter = "none",
    timeout = "200ms",
    deadline = DEADLINE,
    budget = asked.world.books.budget(),
    cancel = sleep(asked.patience),
    on_retry = |_| asked.entry.asked(),
    on_end = |report| asked.ends(report),
)]
async fn ask(asked: &Asked) -> io::Result<()> {
    asked.attempt_begins();
    let mut stream = TcpStream::connect(("server", 80)).await?;
    stream.write_u32(asked.id).await?;
    match stream.read_u32().await? {
        id if id == asked.id => Ok(()),
        other => panic!("asked {}, and the server answered {other}", asked.id),
    }
}

async fn serve(world: Rc<World>) -> turmoil::Result {
    let listener = TcpListener::bind(("0.0.0.0", 80)).await?;
    loop {
        let (mut stream, _) = listener.accept().await?;
        let world = Rc::clone(&world);
        spawn_local(async move {
            let id = stream.read_u32().await?;
            world.requests.set(world.requests.get() + 1);
            sleep(Duration::from_millis(u64::from(id % 50))).await;
            stream.write_u32(id).await
        });
    }
}

/// Makes calls at random times. Some are cancelled, and some are dropped by their caller.
async fn call(world: Rc<World>, mut dice: Dice) -> turmoil::Result {
    let mut calls = JoinSet::new();
    for id in 0..CALLS {
        sleep(dice.pause(20)).await;
        let mut millis = |most| Duration::from_millis(u64::from(dice.below(most)));
        let delays = (0..3).map(|_| millis(200)).collect();
        let [patience, kept] = [500, 2_000].map(&mut millis);
        let asked = Asked {
            world: Rc::clone(&world),
            entry: Entry::default(),
            id,
            delays,
            patience: if id % 3 == 0 { patience } else { 2 * DEADLINE },
            began: Instant::now(),
        };
        calls.spawn_local(async move {
            if id % 5 == 0 {
                let _ = timeout(kept, ask(&asked)).await;
            } else {
                let _ = ask(&asked).await;
            }
        });
    }
    while let Some(ended) = calls.join_next().await {
        ended?;
    }
    Ok(())
}

/// What can be wrong with the network.
#[derive(Debug, Clone, Copy)]
enum Fault {
    Partition,
    OneWay,
    Hold,
    Crash,
    Slow,
}

const FAULTS: [Fault; 5] = [
    Fault::Partition,
    Fault::OneWay,
    Fault::Hold,
    Fault::Crash,
    Fault::Slow,
];

impl Fault {
    fn begin(self, sim: &mut Sim<'_>) {
        match self {
            Self::Partition => sim.partition(CLIENTS[0], "server"),
            Self::OneWay => sim.partition_oneway("server", CLIENTS[1]),
            Self::Hold => sim.hold(CLIENTS[2], "server"),
            Self::Crash => sim.crash("server"),
            Self::Slow => sim.set_max_message_latency(SLOW),
        }
    }

    fn end(self, sim: &mut Sim<'_>) {
        match self {
            Self::Partition => sim.repair(CLIENTS[0], "server"),
            Self::OneWay => sim.repair_oneway("server", CLIENTS[1]),
            Self::Hold => sim.release(CLIENTS[2], "server"),
            Self::Crash => sim.bounce("server"),
            Self::Slow => sim.set_max_message_latency(USUAL),
        }
    }
}

/// Runs one seed. Returns how calls ended.
fn run(seed: u64) -> BTreeMap<&'static str, u64> {
    let mut dice = Dice::new(seed);
    let mut sim = Builder::new()
        .rng_seed(seed)
        .simulation_duration(Duration::from_secs(60))
        .min_message_latency(Duration::from_millis(1))
        .max_message_latency(USUAL)
        .tcp_capacity(10_000)
        .enable_random_order()
        .build();
    let world = Rc::new(World::default());
    let of_server = Rc::clone(&world);
    sim.host("server", move || serve(Rc::clone(&of_server)));
    for (number, client) in (1..).zip(CLIENTS) {
        sim.client(client, call(Rc::clone(&world), Dice::of(&[seed, number])));
    }
    // One fault after the other: when it begins or ends, and which.
    let (mut next, mut now) = (Duration::ZERO, None::<Fault>);
    loop {
        if sim.elapsed() >= next {
            let long = match now.take() {
                Some(fault) => {
                    fault.end(&mut sim);
                    dice.below(2_000)
                }
                None => {
                    let fault = FAULTS[dice.below(5) as usize];
                    fault.begin(&mut sim);
                    now = Some(fault);
                    dice.below(1_500)
                }
            };
            next += Duration::from_millis(u64::from(100 + long));
        }
        if sim.step().unwrap() {
            break;
        }
    }
    world.books.close();
    let outcomes = world.books.outcomes();
    let calls: u64 = outcomes.values().sum();
    assert_eq!(calls, 3 * u64::from(CALLS));
    assert!(world.requests.get() <= 1 + calls + calls / 10);
    outcomes
}

/// From the environment, as `0..200`.
fn seeds() -> Range<u64> {
    let Ok(text) = std::env::var("NETWORK_SEEDS") else {
        return SEEDS;
    };
    let (from, to) = text.split_once("..").expect("a range");
    from.parse().unwrap()..to.parse().unwrap()
}

#[test]
fn in_a_broken_network_no_call_is_late_no_permit_is_lost_and_the_server_gets_what_the_budget_allows()
 {
    let mut outcomes = BTreeMap::<_, u64>::new();
    for seed in seeds() {
        // What a failing test has printed is shown: the last line has the seed.
        println!("seed {seed}");
        for (outcome, calls) in run(seed) {
            *outcomes.entry(outcome).or_default() += calls;
        }
    }
    println!("{outcomes:?}");
    for outcome in [
        Outcome::Success,
        Outcome::SuccessAfterRetry,
        Outcome::AttemptsExhausted,
        Outcome::Deadline,
        Outcome::Budget,
        Outcome::Cancelled,
        Outcome::Dropped,
    ] {
        let seen = outcomes.contains_key(outcome.as_str());
        assert!(seen || seeds() != SEEDS, "{outcomes:?}");
    }
}
