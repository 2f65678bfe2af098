//! What the program prints at its end.

use std::convert::Infallible;
use std::time::Duration;

use reattempt::{Budget, Outcome, Report};
use tokio::time::{MissedTickBehavior, interval};

/// How often the level of the budget is read.
const STEP: Duration = Duration::from_millis(100);

/// Writes down the level of a budget until it is dropped.
pub(crate) async fn sample(budget: &Budget, levels: &mut Vec<f64>) -> Infallible {
    let mut steps = interval(STEP);
    steps.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        steps.tick().await;
        levels.push(budget.level());
    }
}

/// A row for each file that took more than one attempt.
pub(crate) fn print_files(reports: &[&Report]) {
    println!("\nfile  attempts  waited   outcome");
    for (file, report) in reports.iter().enumerate() {
        if report.attempts() > 1 {
            let attempts = report.attempts();
            let waited = report.waited().as_millis();
            println!(
                "{file:>4}  {attempts:>8}  {waited:>4} ms  {}",
                report.outcome()
            );
        }
    }
}

/// All files in three lines.
pub(crate) fn print_summary(reports: &[&Report], connections: u32, took: Duration) {
    let attempts: u32 = reports.iter().map(|report| report.attempts()).sum();
    let waited: Duration = reports.iter().map(|report| report.waited()).sum();
    let count = |outcome| {
        reports
            .iter()
            .filter(|report| report.outcome() == outcome)
            .count()
    };
    let (at_once, later) = (count(Outcome::Success), count(Outcome::SuccessAfterRetry));
    let failed = reports.len() - at_once - later;
    println!(
        "\n{} files in {took:.1?}: {at_once} at the first attempt, {later} after retries, {failed} failed",
        reports.len()
    );
    println!("{attempts} attempts, and the server saw {connections} connections");
    println!("{waited:.1?} waited between attempts, in all calls together");
}

/// The level of a budget over time, as one line.
pub(crate) fn print_budget(budget: &Budget, levels: &[f64]) {
    const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let capacity = f64::from(budget.capacity());
    let line: String = levels
        .iter()
        .map(|level| {
            // The first block whose top is not below the level.
            let block = (1..).zip(BLOCKS);
            let mut fitting = block.filter(|(n, _)| level * 8.0 <= capacity * f64::from(*n));
            fitting.next().map_or('█', |(_, block)| block)
        })
        .collect();
    let lowest = levels.iter().copied().fold(capacity, f64::min);
    println!("\nbudget: {line}");
    println!(
        "        one block every {STEP:?}; ▁ is up to {:.0} tokens, █ up to {capacity}; the lowest was {lowest:.0}",
        capacity / 8.0
    );
}
