//! A fleet of processes that call one server, in virtual time.
//!
//! The library makes each decision: the policy gives the range of a delay, and the budget allows a retry, at the same
//! moment and in the same order as in a call. `real` runs the same fleet through annotated functions.

use std::time::Duration;

use reattempt::__private::drive::{self, Spent};
use reattempt::{Budget, PreviousFailure, Verdict};

use crate::dice::Dice;
use crate::manner::Manner;
use crate::server::{Server, Trouble};
use crate::timeline::{Second, Timeline};
use crate::wheel::Wheel;

/// Processes that call a server.
#[derive(Debug, Clone, Copy)]
pub struct Fleet {
    /// The number of processes.
    pub processes: u32,
    /// The calls of each process in a second, at random times.
    pub rate: u32,
}

/// The time of a round trip, in milliseconds.
pub(crate) const NETWORK: u64 = 1;

pub(crate) const MILLI: u64 = 1_000_000;

impl Fleet {
    /// The calls of all processes in a second, on average.
    #[must_use]
    pub const fn normal(&self) -> u32 {
        self.processes * self.rate
    }

    /// Runs the fleet for this many seconds.
    #[must_use]
    pub fn run(&self, manner: &Manner, trouble: Trouble, seconds: usize, seed: u64) -> Timeline {
        let normal = f64::from(self.normal());
        let mut run = Run {
            manner,
            timeout: manner
                .policy
                .timeout()
                .map_or(u64::MAX, |timeout| MILLI * whole_millis(timeout)),
            budgets: manner.budget.map(|budget| {
                let budgets = if manner.shared { 1 } else { self.processes };
                (0..budgets).map(|_| budget()).collect()
            }),
            server: Server::new(u64::from(self.normal()), trouble),
            dice: Dice::of(&[seed, u64::from(self.processes), u64::from(self.rate)]),
            timeline: Timeline::new(normal, trouble, seconds),
            // The wheel is longer than a timeout and than the delays of three attempts.
            wheel: Wheel::new(4096),
            now: 0,
        };
        let mut due = Vec::new();
        for _ in 0..seconds {
            for _ in 0..1000 {
                run.now += MILLI;
                run.wheel.turn(&mut due);
                for _ in 0..run.dice.count(normal / 1000.0) {
                    let process = run.dice.below(self.processes);
                    run.second(|second| second.calls += 1);
                    due.push(Event::Begins(Attempt::first(
                        process,
                        run.budgets.as_deref(),
                    )));
                }
                // The order within a step is random, because the server would otherwise favour retries.
                run.dice.shuffle(&mut due);
                for event in due.drain(..) {
                    run.happens(event);
                }
            }
        }
        run.timeline
    }
}

struct Run<'a> {
    manner: &'a Manner,
    timeout: u64,
    budgets: Option<Vec<Budget>>,
    server: Server,
    dice: Dice,
    timeline: Timeline,
    wheel: Wheel<Event>,
    /// The time in nanoseconds. It is a whole number of milliseconds, as these are the steps of tokio's timers.
    now: u64,
}

#[derive(Debug, Clone, Copy)]
struct Attempt {
    process: u32,
    number: u32,
    /// Whether there was no fault when the call began.
    had_begun: bool,
    /// The permit of this attempt, if it is a retry.
    permit: Option<Spent>,
}

#[derive(Debug, Clone, Copy)]
enum Event {
    Begins(Attempt),
    Succeeds(Attempt),
    Fails(Attempt, PreviousFailure),
}

impl Attempt {
    fn first(process: u32, budgets: Option<&[Budget]>) -> Self {
        let mut attempt = Self {
            process,
            number: 1,
            had_begun: true,
            permit: None,
        };
        if let Some(budgets) = budgets {
            attempt.had_begun = !drive::has_fault(attempt.pays_from(budgets));
        }
        attempt
    }

    /// The budget of the process, or that of the whole fleet.
    fn pays_from(self, budgets: &[Budget]) -> &Budget {
        &budgets[self.process as usize % budgets.len()]
    }
}

impl Run<'_> {
    fn happens(&mut self, event: Event) {
        match event {
            Event::Begins(attempt) => self.attempt(attempt),
            Event::Succeeds(attempt) => {
                self.second(|second| second.successes += 1);
                if let Some(budgets) = &self.budgets {
                    let now = Duration::from_nanos(self.now);
                    drive::succeed(attempt.pays_from(budgets), attempt.permit, now);
                }
            }
            Event::Fails(attempt, how) => self.failed(attempt, how, 0),
        }
    }

    fn attempt(&mut self, attempt: Attempt) {
        self.second(|second| second.attempts += 1);
        let result = match self.server.accept(self.now) {
            None => Err((NETWORK, PreviousFailure::Failed(Verdict::Transient))),
            Some(done) if done - self.now + NETWORK * MILLI > self.timeout => {
                Err((self.timeout / MILLI, PreviousFailure::TimedOut))
            }
            Some(done) => Ok((done - self.now).div_ceil(MILLI) + NETWORK),
        };
        match result {
            // Without a budget, no event before then changes the following attempts.
            Ok(ahead) if self.budgets.is_none() => {
                let then = self.now + ahead * MILLI;
                self.second_of(then, |second| second.successes += 1);
            }
            Err((ahead, how)) if self.budgets.is_none() => self.failed(attempt, how, ahead),
            Ok(ahead) => self.wheel.put(ahead, Event::Succeeds(attempt)),
            Err((ahead, how)) => self.wheel.put(ahead, Event::Fails(attempt, how)),
        }
    }

    /// Decides as a call does when an attempt fails, `ahead` milliseconds from now. A call checks the attempts, then
    /// the budget, and then draws the delay.
    fn failed(&mut self, attempt: Attempt, how: PreviousFailure, ahead: u64) {
        let policy = &self.manner.policy;
        if policy
            .attempts()
            .is_some_and(|attempts| attempt.number >= attempts)
        {
            return;
        }
        let mut permit = None;
        if let Some(budgets) = &self.budgets {
            let budget = attempt.pays_from(budgets);
            let now = Duration::from_nanos(self.now + ahead * MILLI);
            permit = drive::take(budget, how, attempt.number, attempt.had_begun, now);
            if permit.is_none() {
                return;
            }
        }
        let delay = self
            .dice
            .within(&policy.delay_range(attempt.number - 1, None));
        let retry = Attempt {
            number: attempt.number + 1,
            permit,
            ..attempt
        };
        match ahead + whole_millis(delay) {
            // A delay of zero does not sleep.
            0 => self.attempt(retry),
            ahead => self.wheel.put(ahead, Event::Begins(retry)),
        }
    }

    fn second(&mut self, change: impl FnOnce(&mut Second)) {
        self.second_of(self.now, change);
    }

    fn second_of(&mut self, time: u64, change: impl FnOnce(&mut Second)) {
        if let Some(second) = self.timeline.at(time - MILLI) {
            change(second);
        }
    }
}

/// Milliseconds, rounded up as a timer does.
fn whole_millis(length: Duration) -> u64 {
    u64::try_from(length.as_nanos().div_ceil(u128::from(MILLI))).unwrap_or(u64::MAX)
}
