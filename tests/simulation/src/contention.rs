//! The AWS experiment: clients contend for one row, each until its write succeeds.
//!
//! A client reads the version of the row and writes with it. The write succeeds if no other write came between.
//! After a failed write, the client waits and begins again with the read. Only one client can succeed at a time,
//! so good waits mean few calls. Source: *Exponential Backoff And Jitter*, AWS Architecture Blog, 2015, and its
//! simulator.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use reattempt::{Jitter, Policy};

use crate::dice::Dice;
use crate::moments::Moments;

/// How clients wait between two attempts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strategy {
    /// No wait.
    None,
    /// Exponential backoff without jitter.
    Exponential,
    /// Full jitter: anywhere below the exponential ceiling.
    Full,
    /// Equal jitter: in the upper half below the ceiling.
    Equal,
    /// The decorrelated jitter of the article: drawn from `[base, 3 * previous]`, then cut at 2 s.
    Article,
    /// The decorrelated jitter of the library: the range is cut at 2 s, then the delay is drawn.
    Decorrelated,
}

/// The result of one run.
#[derive(Debug, Clone, Copy)]
pub struct Run {
    /// When the last client succeeded.
    pub time: Duration,
    /// The number of writes, failed writes included.
    pub calls: u32,
}

/// The result of many runs.
#[derive(Debug, Clone, Copy)]
pub struct Cell {
    /// When the last client was through, in milliseconds.
    pub millis: Moments,
    /// The number of writes, failed writes included.
    pub calls: Moments,
}

const BASE: Duration = Duration::from_millis(5);
const CAP: Duration = Duration::from_secs(2);

impl Strategy {
    /// All of them, the reference's five first.
    pub const ALL: [Self; 6] = [
        Self::None,
        Self::Exponential,
        Self::Full,
        Self::Equal,
        Self::Article,
        Self::Decorrelated,
    ];

    /// The library's policy for it.
    #[must_use]
    pub const fn policy(self) -> Policy {
        let policy = Policy::new()
            .with_unlimited_attempts()
            .with_base(BASE)
            .with_max_delay(CAP);
        match self {
            Self::None => policy.with_base(Duration::ZERO).with_jitter(Jitter::None),
            Self::Exponential => policy.with_jitter(Jitter::None),
            Self::Full => policy.with_jitter(Jitter::Full),
            Self::Equal => policy.with_jitter(Jitter::Equal),
            // A cap that no draw reaches, because the article cuts after drawing.
            Self::Article => policy
                .with_max_delay(Duration::from_secs(3600))
                .with_jitter(Jitter::Decorrelated),
            Self::Decorrelated => policy.with_jitter(Jitter::Decorrelated),
        }
    }
}

/// Repeats the experiment. Each run has its own seed, made from `seed`.
#[must_use]
pub fn cell(strategy: Strategy, clients: u32, runs: u32, seed: u64) -> Cell {
    let all: Vec<Run> = (0..runs)
        .map(|n| {
            let mut dice = Dice::of(&[seed, strategy as u64, u64::from(clients), u64::from(n)]);
            run(strategy, clients, &mut dice)
        })
        .collect();
    let moments = |value: fn(&Run) -> f64| Moments::of(&all.iter().map(value).collect::<Vec<_>>());
    Cell {
        millis: moments(|run| run.time.as_secs_f64() * 1000.0),
        calls: moments(|run| f64::from(run.calls)),
    }
}

/// Runs the experiment once.
#[must_use]
pub fn run(strategy: Strategy, clients: u32, dice: &mut Dice) -> Run {
    let policy = strategy.policy();
    let mut crowd: Vec<Client> = (0..clients).map(|_| Client::default()).collect();
    let mut row = 0;
    let mut calls = 0;
    let mut time = Duration::ZERO;
    // The requests by their times at the row. The number of the client orders requests of equal times.
    let mut queue = BinaryHeap::new();
    for client in 0..clients {
        queue.push(Reverse((hop(dice), client, Arrival::Read)));
    }
    while let Some(Reverse((now, number, arrival))) = queue.pop() {
        let answered = now + hop(dice);
        let (sent, next) = match arrival {
            Arrival::Read => (answered, Arrival::Write(row)),
            Arrival::Write(version) => {
                calls += 1;
                if version == row {
                    row += 1;
                    time = time.max(answered);
                    continue;
                }
                let wait = crowd[number as usize].wait(strategy, &policy, dice);
                (answered + wait, Arrival::Read)
            }
        };
        queue.push(Reverse((sent + hop(dice), number, next)));
    }
    Run { time, calls }
}

/// A request at the server: a read, or a write over the version that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Arrival {
    Read,
    Write(u32),
}

#[derive(Debug, Default)]
struct Client {
    failed: u32,
    previous: Option<Duration>,
}

impl Client {
    fn wait(&mut self, strategy: Strategy, policy: &Policy, dice: &mut Dice) -> Duration {
        // The reference counts first and asks then: its first ceiling is twice the base.
        self.failed += 1;
        let delay = dice.within(&policy.delay_range(self.failed, self.previous));
        let delay = match strategy {
            Strategy::Article => delay.min(CAP),
            _ => delay,
        };
        self.previous = Some(delay);
        delay
    }
}

/// One way through the network.
fn hop(dice: &mut Dice) -> Duration {
    dice.normal_millis(10.0, 2.0)
}
