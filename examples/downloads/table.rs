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

/// A row for each file. A file that came at the first attempt waited for nothing, and has no number there, so the
/// retries stand out.
pub(crate) fn of_files(reports: &[&Report]) -> String {
    let head = "file  attempts   waited  outcome".to_owned();
    let rows = reports.iter().enumerate().map(|(file, report)| {
        let waited = match report.waited().as_millis() {
            0 => "–".to_owned(),
            millis => format!("{millis} ms"),
        };
        let (attempts, outcome) = (report.attempts(), report.outcome());
        format!("{file:>4}  {attempts:>8}  {waited:>7}  {outcome}")
    });
    std::iter::once(head)
        .chain(rows)
        .collect::<Vec<_>>()
        .join("\n")
}

/// Reads the table, and compares it with the reports it was made from.
///
/// # Panics
///
/// - If a file has no row, or its row or a sum of a column differs from the reports.
pub(crate) fn check(table: &str, reports: &[&Report]) {
    let rows: Vec<Vec<&str>> = table
        .lines()
        .skip(1)
        .map(|row| row.split_whitespace().collect())
        .collect();
    assert_eq!(rows.len(), reports.len(), "a row for each file");

    let (mut attempts, mut waited) = (0, 0);
    for (file, (row, report)) in rows.iter().zip(reports).enumerate() {
        assert_eq!(row[0], file.to_string());
        assert_eq!(row[row.len() - 1], report.outcome().as_str());
        attempts += row[1].parse::<u32>().expect("a number of attempts");
        waited += row[2].parse().unwrap_or(0_u128);
    }
    let sum: u32 = reports.iter().map(|report| report.attempts()).sum();
    assert_eq!(attempts, sum, "the attempts of all rows");
    // Each row leaves out the part of its last millisecond.
    let sum: Duration = reports.iter().map(|report| report.waited()).sum();
    let sum = sum.as_millis();
    let left_out = rows.len() as u128;
    assert!(
        waited <= sum && sum <= waited + left_out,
        "the rows waited {waited} ms, the calls {sum} ms"
    );
}

/// All files in three lines.
pub(crate) fn print_summary(reports: &[&Report], requests: u32, took: Duration) {
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
        "{} files in {took:.1?}: {at_once} at the first attempt, {later} after retries, {failed} failed",
        reports.len()
    );
    println!("{attempts} attempts, and the server got {requests} requests");
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
