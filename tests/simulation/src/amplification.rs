//! How many attempts a policy makes for each call, if attempts fail at random.

use reattempt::{Policy, Previous, Verdict};

use crate::SEED;
use crate::luck::{self, Calls};
use crate::manner::Manner;
use crate::schedules::{MOST_RETRIES, Schedules};

/// The calls of the column with the budget: a tenth of the processes of the table in `docs/LOAD.md`.
pub const CALLS: Calls = Calls {
    processes: 10,
    each: 10_000,
    rate: 200,
    failure: Previous::Failed(Verdict::Transient),
};

/// Attempts for each call.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Amplification {
    /// This number.
    Times(f64),
    /// At least this number, because the drawing of schedules ended there.
    AtLeast(f64),
    /// No limit.
    Unbounded,
}

/// Attempts without a budget: the mean of `1 + p + p² + … + pⁿ`, where `n` is the number of retries of a schedule.
///
/// An attempt fails with the probability `p`, and takes no time.
#[must_use]
pub fn without_budget(policy: &Policy, schedules: &Schedules, failing: f64) -> Amplification {
    let certain = failing >= 1.0;
    if policy.deadline().is_none() {
        let retries = policy.attempts().map(|attempts| f64::from(attempts - 1));
        return match retries {
            Some(retries) => Amplification::Times(sum_of_powers(failing, retries)),
            None if certain => Amplification::Unbounded,
            None => Amplification::Times(1.0 / (1.0 - failing)),
        };
    }
    #[expect(
        clippy::cast_precision_loss,
        reason = "at most a hundred, and ten thousand of them"
    )]
    let (sum, count) = schedules
        .retries
        .iter()
        .fold((0.0, 0.0), |(sum, count), retries| {
            (sum + sum_of_powers(failing, *retries as f64), count + 1.0)
        });
    let mean = sum / count;
    // Retries beyond the hundredth do not change the first digits, unless all attempts fail.
    if certain && schedules.retries.contains(&MOST_RETRIES) {
        Amplification::AtLeast(mean)
    } else {
        Amplification::Times(mean)
    }
}

/// Attempts with the default budget, for [`CALLS`] whose attempts fail with an error and without timeouts. `None` if a
/// function has no budget by default.
#[must_use]
pub fn with_budget(policy: &Policy, failing: f64) -> Option<f64> {
    policy.attempts()?;
    let manner = Manner {
        policy: *policy,
        ..Manner::BUDGET
    };
    Some(luck::run(&manner, CALLS, failing, SEED).amplification)
}

fn sum_of_powers(failing: f64, retries: f64) -> f64 {
    if failing >= 1.0 {
        retries + 1.0
    } else {
        (1.0 - failing.powf(retries + 1.0)) / (1.0 - failing)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use reattempt::Jitter;

    use super::*;

    const THREE: Policy = Policy::new();

    fn times(policy: &Policy, failing: f64) -> f64 {
        match without_budget(policy, &Schedules::draw(policy, SEED), failing) {
            Amplification::Times(times) => times,
            other => panic!("{other:?}"),
        }
    }

    /// Compares the simulation without a budget with the formula.
    #[test]
    fn the_formula_gives_what_the_simulation_gives() {
        for policy in [
            THREE,
            // Delays of 100, 200 and 400 ms fit, and a fourth delay does not.
            THREE
                .with_attempts(9)
                .with_jitter(Jitter::None)
                .with_deadline(Duration::from_secs(1)),
            THREE
                .with_attempts(9)
                .with_deadline(Duration::from_millis(300)),
        ] {
            for failing in [0.1, 0.5, 1.0] {
                let manner = Manner {
                    policy,
                    ..Manner::BACKOFF
                };
                let simulated = luck::run(&manner, CALLS, failing, SEED).amplification;
                let formula = times(&policy, failing);
                assert!(
                    (formula / simulated - 1.0).abs() < 0.01,
                    "{formula} and {simulated} at {failing}\n{policy}"
                );
            }
        }
    }

    #[test]
    fn a_deadline_bounds_the_attempts() {
        let policy = THREE
            .with_attempts(9)
            .with_jitter(Jitter::None)
            .with_deadline(Duration::from_secs(1));
        assert!((times(&policy, 1.0) - 4.0).abs() < 1e-9);
        assert!((times(&THREE, 0.5) - 1.75).abs() < 1e-9);
    }

    #[test]
    fn a_policy_without_limits_is_unbounded() {
        let endless = THREE.with_unlimited_attempts();
        let drawn = Schedules::draw(&endless, SEED);
        assert_eq!(
            without_budget(&endless, &drawn, 1.0),
            Amplification::Unbounded
        );
        assert_eq!(
            without_budget(&endless, &drawn, 0.5),
            Amplification::Times(2.0)
        );
        assert_eq!(with_budget(&endless, 0.5), None);

        let at_once = endless
            .with_base(Duration::ZERO)
            .with_deadline(Duration::from_secs(1));
        let drawn = Schedules::draw(&at_once, SEED);
        assert_eq!(
            without_budget(&at_once, &drawn, 1.0),
            Amplification::AtLeast(101.0)
        );
    }
}
