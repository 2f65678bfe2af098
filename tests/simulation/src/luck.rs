//! Attempts that fail at random, each on its own: what a budget costs where there is no storm.

use reattempt::__private::drive;
use reattempt::{Previous, Verdict};

use crate::dice::Dice;
use crate::manner::Manner;

/// What became of the calls.
#[derive(Debug, Clone, Copy)]
pub struct Luck {
    /// Attempts for each call.
    pub amplification: f64,
    /// The share of calls that succeeded in the end.
    pub success: f64,
}

/// Lets `processes` make `calls` each, one after the other; an attempt fails with the probability
/// `failing`.
#[must_use]
pub fn run(manner: &Manner, processes: u32, calls: u32, failing: f64, seed: u64) -> Luck {
    let failure = Previous::Failed(Verdict::Transient);
    let (mut attempts, mut successes) = (0_u32, 0_u32);
    for process in 0..processes {
        let mut dice = Dice::of(&[seed, u64::from(process)]);
        let budget = manner.budget.map(|budget| budget());
        for _ in 0..calls {
            let mut number = 1;
            loop {
                attempts += 1;
                if !dice.chance(failing) {
                    successes += 1;
                    if let Some(budget) = &budget {
                        drive::succeed(budget, (number > 1).then_some(failure));
                    }
                    break;
                }
                let left = manner.policy.attempts().is_none_or(|most| number < most);
                let granted = |budget| drive::take(budget, failure, number == 1);
                if !left || !budget.as_ref().is_none_or(granted) {
                    break;
                }
                number += 1;
            }
        }
    }
    let all = f64::from(processes) * f64::from(calls);
    Luck {
        amplification: f64::from(attempts) / all,
        success: f64::from(successes) / all,
    }
}
