//! What the guide says of the default budget, by calls on tokio's paused clock whose attempts fail at random.

use std::fmt;
use std::future::pending;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use reattempt::{Budget, Error, Outcome, Policy, Retryable, Verdict, with_report};
use simulation::SEED;
use simulation::dice::Dice;
use simulation::luck::{self, CALLS};
use simulation::manner::Manner;
use tokio::task::JoinSet;
use tokio::time::sleep;

const PAGE: &str = include_str!("../../../src/guide/budgets.md");
const README: &str = include_str!("../../../README.md");

/// How an attempt fails.
#[derive(Debug, Clone, Copy)]
enum Fault {
    Error(Verdict),
    Timeout,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

impl Retryable for Fault {
    fn verdict(&self) -> Verdict {
        match self {
            Self::Error(verdict) => *verdict,
            Self::Timeout => Verdict::Transient,
        }
    }
}

/// Makes 24,000 calls at even intervals, whose attempts take as long as the page says. Returns how many calls the default
/// budget refused a retry.
async fn refused(fault: Fault, share: f64, rate: u32, attempts: u32) -> usize {
    let long = Duration::from_millis(500);
    let policy = Policy::new().with_attempts(attempts).with_timeout(2 * long);
    let budget = Arc::new(Budget::new());
    let dice = Arc::new(Mutex::new(Dice::new(SEED)));
    let mut calls = JoinSet::new();
    for call in 0..24_000 {
        let (policy, budget, dice) = (policy.clone(), Arc::clone(&budget), Arc::clone(&dice));
        calls.spawn(async move {
            sleep(Duration::from_secs(1) * call / rate).await;
            let attempt = || async {
                let fails = dice.lock().unwrap().chance(share);
                match fault {
                    Fault::Timeout if fails => pending().await,
                    _ => sleep(long).await,
                }
                if fails {
                    Err(Error::Failed(fault))
                } else {
                    Ok(())
                }
            };
            let call = policy.run(attempt).with_budget(&*budget).unboxed();
            let (_, report) = with_report(call).await;
            report.unwrap().outcome()
        });
    }
    let outcomes = calls.join_all().await;
    outcomes
        .iter()
        .filter(|&&outcome| outcome == Outcome::Budget)
        .count()
}

/// The number before these words of the page, as a share.
fn share(words: &str) -> f64 {
    let (before, _) = PAGE
        .split_once(words)
        .unwrap_or_else(|| panic!("no {words}"));
    let (_, percent) = before.rsplit_once(' ').unwrap();
    percent.parse::<f64>().unwrap() / 100.0
}

#[tokio::test(start_paused = true)]
async fn the_default_budget_refuses_nothing_up_to_the_shares_on_the_page_and_much_far_above_them() {
    assert!(PAGE.contains("up to 200 calls a second whose attempts take up to half a second"));
    let words: Vec<_> = README.split_whitespace().collect();
    let percent = share(" % of the attempts fail at random") * 100.0;
    let said = format!("and {percent} % failing, it refuses none.");
    assert!(words.join(" ").contains(&said), "{said}");
    for (fault, words) in [
        (
            Fault::Error(Verdict::Transient),
            " % of the attempts fail at random",
        ),
        (Fault::Error(Verdict::Throttled), " % are throttled"),
        (Fault::Timeout, " % time out"),
    ] {
        let share = share(words);
        for (rate, attempts) in [(20, 3), (200, 3), (200, 10)] {
            let refused = refused(fault, share, rate, attempts).await;
            assert_eq!(
                refused, 0,
                "{share}{words}, {rate} a second, {attempts} attempts"
            );
        }
        // At twice the share of timeouts, luck decides: faults come and go, and the calls under way in each have free retries.
        let refused = refused(fault, 2.5 * share, 200, 3).await;
        assert!(refused > 2_400, "2.5 times {share}{words}: {refused}");
    }
}

#[test]
fn the_page_says_how_many_calls_succeed_at_40_percent_failures() {
    let [without, busy, rare] = [
        (Manner::BACKOFF, 200),
        (Manner::BUDGET, 200),
        (Manner::BUDGET, 10),
    ]
    .map(|(manner, rate)| {
        let success = luck::run(&manner, CALLS.at(rate), 0.4, SEED).success;
        format!("{:.0}", 100.0 * success)
    });
    let page = PAGE.replace('\n', " ");
    let words = format!(
        "At 40 % failures and 200 calls a second, {busy} of 100 calls succeed, and {without} would without it. \
         At 10 calls a second, {rare} succeed with it."
    );
    assert!(page.contains(&words), "{words}");
}
