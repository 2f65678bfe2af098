//! The time that schedules wait, as a picture.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use simulation::chart::{Chart, Line, Style};
use simulation::schedules::{Histogram, Schedules};

use super::argument::Named;

/// Ranges of a histogram in the picture.
const RANGES: u32 = 50;

/// The step of a timer. A logarithmic axis begins here, because it has no zero.
const STEP: Duration = Duration::from_millis(1);

/// Draws the histograms of all policies into one picture.
pub(crate) fn draw(policies: &[Named], drawn: &[Schedules], path: &Path) -> Result<()> {
    let histograms: Vec<_> = drawn
        .iter()
        .map(|drawn| Histogram::of(&drawn.totals, RANGES))
        .collect();
    let ends = drawn
        .iter()
        .filter_map(|drawn| drawn.totals.last())
        .copied();
    let longest = ends.clone().max().unwrap_or_default();
    // Policies whose waits differ much share a logarithmic axis.
    let log = ends
        .min()
        .is_some_and(|shortest| longest > shortest.max(STEP).saturating_mul(10));
    let lines = policies
        .iter()
        .zip(&histograms)
        .map(|(policy, histogram)| Line {
            name: shortened(&policy.name),
            points: outline(histogram, log),
            style: Style::Line,
        });
    let chart = Chart {
        title: "How long calls wait in all if every attempt fails at once",
        x: "seconds",
        y: "schedules of 10,000",
        log: [log, false],
        lines: lines.collect(),
    };
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    chart.draw(path)
}

/// The steps of a histogram, from zero to zero.
fn outline(histogram: &Histogram, log: bool) -> Vec<(f64, f64)> {
    let least = if log { STEP } else { Duration::ZERO };
    let seconds = |length: Duration| length.max(least).as_secs_f64();
    let mut points = vec![(seconds(histogram.start), 0.0)];
    for (start, end, count) in histogram.ranges() {
        points.push((seconds(start), count.into()));
        points.push((seconds(end), count.into()));
    }
    points.extend(points.last().map(|(x, _)| (*x, 0.0)));
    points
}

/// A name, short enough to fit beside the picture.
fn shortened(name: &str) -> String {
    const MOST: usize = 44;
    if name.is_empty() {
        return "the defaults".to_owned();
    }
    match name.char_indices().nth(MOST) {
        Some((at, _)) => format!("{}…", &name[..at]),
        None => name.to_owned(),
    }
}
