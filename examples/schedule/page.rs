//! The facts about a policy, as text: one column for each policy.

use std::fmt::Write as _;
use std::time::Duration;

use reattempt::Policy;
use simulation::SEED;
use simulation::amplification::{Amplification, CALLS, with_budget, without_budget};
use simulation::schedules::{Histogram, KEPT_DELAYS, MOST_RETRIES, Schedules, mean, quantile};

use super::argument::Named;

const RANGES: u32 = 12;

/// Columns of the longest bar.
const BAR: usize = 30;

const FAILING: [f64; 3] = [0.1, 0.5, 1.0];

/// Writes the page, and returns the delays that were drawn for it.
pub(crate) fn write(policies: &[Named]) -> (String, Vec<Schedules>) {
    let drawn: Vec<_> = policies
        .iter()
        .map(|named| Schedules::draw(&named.policy, SEED))
        .collect();
    let mut page = String::new();
    let each = || policies.iter().zip(&drawn);
    let sections = [
        ("", each().map(|(named, _)| head(named)).collect()),
        (
            "Time waited in all, 10,000 schedules drawn",
            each().map(|(_, drawn)| totals(drawn)).collect(),
        ),
        (
            "Each delay, drawn",
            each().map(|(_, drawn)| delays(drawn)).collect(),
        ),
        (
            "Worst case",
            each()
                .map(|(named, drawn)| worst(&named.policy, drawn))
                .collect(),
        ),
        (
            "Amplification: attempts for each call, if attempts fail at random",
            each()
                .map(|(named, drawn)| amplification(&named.policy, drawn))
                .collect::<Vec<_>>(),
        ),
    ];
    for (title, columns) in sections {
        if !title.is_empty() {
            let _ = write!(page, "\n{title}\n\n");
        }
        page.push_str(&side_by_side(&columns));
    }
    let _ = write!(
        page,
        "\nSchedules are those of `Policy::schedule`: attempts fail at once. Without a budget, attempts are the mean of\n\
         1 + p + p² + … over the retries of each schedule. With the default budget they are simulated: {} processes, {}\n\
         calls each, {} a second (`simulation::luck`). See docs/LOAD.md.\n",
        CALLS.processes, CALLS.each, CALLS.rate
    );
    (page, drawn)
}

fn head(named: &Named) -> String {
    let name = if named.name.is_empty() {
        "the defaults"
    } else {
        &named.name
    };
    format!("{name}\n{}", named.policy)
}

fn totals(drawn: &Schedules) -> String {
    let mut text = bars(&Histogram::of(&drawn.totals, RANGES));
    let at = |share| shown(quantile(&drawn.totals, share));
    let _ = write!(
        text,
        "mean {}, half at most {}, 99 of 100 at most {}",
        shown(mean(&drawn.totals)),
        at(0.5),
        at(0.99)
    );
    if drawn.are_cut() {
        let _ = write!(text, "\nof the first {MOST_RETRIES} retries");
    }
    text
}

fn bars(histogram: &Histogram) -> String {
    let most = histogram
        .counts
        .iter()
        .copied()
        .max()
        .unwrap_or_default()
        .max(1);
    let labels: Vec<_> = histogram
        .ranges()
        .map(|(start, end, _)| range(start, end))
        .collect();
    let width = labels
        .iter()
        .map(|label| label.chars().count())
        .max()
        .unwrap_or_default();
    let mut text = String::new();
    for (label, count) in labels.iter().zip(&histogram.counts) {
        let _ = writeln!(
            text,
            "  {label:width$}  {:BAR$} {count:5}",
            bar(*count, most, BAR)
        );
    }
    text
}

/// A bar of at most this many columns, in steps of an eighth of a column.
fn bar(count: u32, most: u32, columns: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = u128::from(count) * columns as u128 * 8 / u128::from(most.max(1));
    let eighths = usize::try_from(eighths).unwrap_or(usize::MAX);
    format!("{}{}", "█".repeat(eighths / 8), EIGHTHS[eighths % 8])
}

fn delays(drawn: &Schedules) -> String {
    let rows: Vec<_> = drawn
        .delays
        .iter()
        .map(|delays| {
            let at = |share| quantile(delays, share);
            (
                range(at(0.0), at(1.0)),
                shown(mean(delays)),
                columns(delays),
            )
        })
        .collect();
    if rows.is_empty() {
        return "  no retry, no delay".to_owned();
    }
    let width = rows
        .iter()
        .map(|(range, ..)| range.chars().count())
        .max()
        .unwrap_or_default();
    let mut text = String::new();
    for ((range, mean, columns), attempt) in rows.into_iter().zip(2..) {
        let _ = writeln!(
            text,
            "  attempt {attempt:<2}  {range:width$}  mean {mean:8}  {columns}"
        );
    }
    if drawn.retries.iter().any(|retries| *retries > KEPT_DELAYS) {
        text.push_str("  …");
    }
    text
}

/// A histogram in one line. One value is one column.
fn columns(delays: &[Duration]) -> String {
    const HEIGHTS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    if delays.first() == delays.last() {
        return "█".to_owned();
    }
    let counts = Histogram::of(delays, 16).counts;
    let most = counts.iter().copied().max().unwrap_or_default().max(1);
    // A range that is not empty shows at least the lowest bar.
    let height = |count: u32| (u64::from(count) * 8).div_ceil(u64::from(most));
    counts
        .iter()
        .filter_map(|count| HEIGHTS.get(usize::try_from(height(*count)).ok()?))
        .collect()
}

fn worst(policy: &Policy, drawn: &Schedules) -> String {
    let mut text = match policy.worst_case() {
        Some(longest) => format!("  a call takes at most {}", shown(longest)),
        None => "  no limit: there is no deadline, and no timeout for all attempts".to_owned(),
    };
    let most = drawn.retries.iter().max().copied().unwrap_or_default() + 1;
    let fewest = drawn.retries.iter().min().copied().unwrap_or_default() + 1;
    let attempts = match (fewest, most) {
        _ if drawn.are_cut() => format!("more than {MOST_RETRIES}"),
        (fewest, most) if fewest == most => most.to_string(),
        (fewest, most) => format!("{fewest} to {most}"),
    };
    let _ = write!(text, "\n  attempts that fail at once: {attempts}");
    text
}

fn amplification(policy: &Policy, drawn: &Schedules) -> String {
    let mut text = "  failing  no budget   default budget\n".to_owned();
    for failing in FAILING {
        let without = match without_budget(policy, drawn, failing) {
            Amplification::Times(times) => format!("{times:.2}"),
            Amplification::AtLeast(times) => format!("{times:.0} or more"),
            Amplification::Unbounded => "no limit".to_owned(),
        };
        let with = match with_budget(policy, failing) {
            Some(times) => format!("{times:.2}"),
            None => "none if unlimited".to_owned(),
        };
        let _ = writeln!(text, "  {:>5.0} %  {without:10}  {with}", failing * 100.0);
    }
    text
}

/// A range, or one length if both ends have the same digits.
fn range(start: Duration, end: Duration) -> String {
    let (start, end) = (shown(start), shown(end));
    if start == end {
        start
    } else {
        format!("{start} to {end}")
    }
}

/// A length with three significant digits.
fn shown(length: Duration) -> String {
    let nanos = length.as_nanos();
    let digits = nanos.checked_ilog10().unwrap_or_default().saturating_sub(2);
    let unit = 10_u128.saturating_pow(digits);
    let round = (nanos + unit / 2) / unit * unit;
    let seconds = u64::try_from(round / 1_000_000_000).unwrap_or(u64::MAX);
    let rest = u32::try_from(round % 1_000_000_000).unwrap_or_default();
    format!("{:?}", Duration::new(seconds, rest))
}

/// Puts texts side by side.
fn side_by_side(columns: &[String]) -> String {
    let Some((last, others)) = columns.split_last() else {
        return String::new();
    };
    let rows = columns
        .iter()
        .map(|column| column.lines().count())
        .max()
        .unwrap_or_default();
    let mut text = String::new();
    for row in 0..rows {
        let mut line = String::new();
        for column in others {
            let width = column
                .lines()
                .map(|line| line.chars().count())
                .max()
                .unwrap_or_default();
            let _ = write!(
                line,
                "{:width$}    ",
                column.lines().nth(row).unwrap_or_default()
            );
        }
        line.push_str(last.lines().nth(row).unwrap_or_default());
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}
