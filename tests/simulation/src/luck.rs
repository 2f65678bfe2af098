//! Attempts that fail at random, independently of each other: the cost of a budget without a storm.

use std::time::Duration;

use reattempt::__private::drive;
use reattempt::{Policy, PreviousFailure, Verdict};

use crate::dice::Dice;
use crate::manner::Manner;

/// The results of the calls.
#[derive(Debug, Clone, Copy)]
pub struct Luck {
    /// Attempts for each call.
    pub amplification: f64,
    /// The share of calls that succeeded in the end.
    pub success: f64,
}

/// Processes that make calls at even intervals. Attempts of a call take no time, except that a deadline bounds their
/// number.
#[derive(Debug, Clone, Copy)]
pub struct Calls {
    /// The number of processes.
    pub processes: u32,
    /// The calls of each process.
    pub each: u32,
    /// The calls of each process in a second.
    pub rate: u32,
    /// How an attempt fails, which sets the price of the retry after it.
    pub failure: PreviousFailure,
}

/// A tenth of the processes of the table in `docs/LOAD.md`, with 200 calls a second each.
pub const CALLS: Calls = Calls {
    processes: 10,
    each: 10_000,
    rate: 200,
    failure: PreviousFailure::Failed(Verdict::Transient),
};

impl Calls {
    /// The same with another number of calls a second.
    #[must_use]
    pub const fn at(self, rate: u32) -> Self {
        Self { rate, ..self }
    }
}

/// The delays of a call whose attempts take no time, up to its deadline.
pub fn delays(policy: &Policy, mut dice: Dice) -> impl Iterator<Item = Duration> {
    let (mut waited, mut previous) = (Duration::ZERO, None);
    let retries = policy.attempts().map_or(u32::MAX, |attempts| attempts - 1);
    (0..retries).map_while(move |retry| {
        let delay = dice.within(&policy.delay_range(retry, previous));
        previous = Some(delay);
        waited += delay;
        let fits = policy.deadline().is_none_or(|deadline| waited < deadline);
        fits.then_some(delay)
    })
}

/// Makes the calls. An attempt fails with the probability `failing`.
#[must_use]
pub fn run(manner: &Manner, calls: Calls, failing: f64, seed: u64) -> Luck {
    let failure = calls.failure;
    let (mut attempts, mut successes) = (0_u32, 0_u32);
    for process in 0..calls.processes {
        let mut dice = Dice::of(&[seed, u64::from(process)]);
        let budget = manner.budget.map(|budget| budget());
        for call in 0..calls.each {
            let now = Duration::from_secs(1) * call / calls.rate;
            let mut schedule = delays(&manner.policy, Dice::of(&[seed, call.into()]));
            let had_begun = !budget.as_ref().is_some_and(drive::has_fault);
            let (mut number, mut permit) = (1, None);
            loop {
                attempts += 1;
                if !dice.chance(failing) {
                    successes += 1;
                    if let Some(budget) = &budget {
                        drive::succeed(budget, permit, now);
                    }
                    break;
                }
                let left = match manner.policy.deadline() {
                    None => manner.policy.attempts().is_none_or(|most| number < most),
                    Some(_) => schedule.next().is_some(),
                };
                if !left {
                    break;
                }
                if let Some(budget) = &budget {
                    permit = drive::take(budget, failure, number, had_begun, now);
                    if permit.is_none() {
                        break;
                    }
                }
                number += 1;
            }
        }
    }
    let all = f64::from(calls.processes) * f64::from(calls.each);
    Luck {
        amplification: f64::from(attempts) / all,
        success: f64::from(successes) / all,
    }
}
