//! Callers of a server that is down: what a refusal by the budget does to them, and what `BATCH` does.

use simulation::SEED;
use simulation::loops::{DOWN, Way};
use simulation::tables::{LOOPS_HEAD, loops_means};

const PAGE: &str = include_str!("../../../docs/LOAD.md");

#[test]
fn a_refusal_makes_a_closed_loop_faster_and_a_batch_loses_nothing() {
    let [default, six, waits, no_budget, batch] = Way::ALL.map(loops_means);
    assert!(default[0] > 1_000.0, "{default:?}");
    // With the budget empty, the loop is faster than without one.
    assert!(six[0] > 10.0 * no_budget[0], "{six:?} {no_budget:?}");
    assert!(waits[0] < six[0] / 5.0 && waits[1] > 100.0, "{waits:?}");
    // At the pace of its callers, the budget is what holds the load, and a wait changes only when they get their error.
    assert!(no_budget[2] > 4.0 * six[2], "{no_budget:?} {six:?}");
    assert!((waits[2] / six[2] - 1.0).abs() < 0.05, "{waits:?} {six:?}");
    assert!(waits[3] > 3.0 * six[3], "{waits:?} {six:?}");
    assert!(batch[0] < 20.0 && batch[1] == 0.0, "{batch:?}");
    let minute = Way::Batch.closed(60, SEED).requests / 60;
    assert!((3..=4).contains(&minute), "{minute}");
}

/// The library draws the delays itself, so each run has other numbers.
#[test]
fn the_page_shows_about_what_callers_of_a_server_that_is_down_do() {
    let (_, table) = PAGE.split_once(LOOPS_HEAD).expect("the table");
    assert!(PAGE.contains("refuses everything for six seconds") && DOWN == 6);
    for (way, row) in Way::ALL.into_iter().zip(table.trim_start().lines()) {
        let cells: Vec<_> = row.trim_matches(['|', ' ']).split(" | ").collect();
        assert_eq!(cells[0], way.name());
        for (cell, mean) in cells[1..].iter().zip(loops_means(way)) {
            let said: f64 = cell.trim_end_matches(" ms").parse().unwrap_or_default();
            let unit = if cell.ends_with("ms") { 1000.0 } else { 1.0 };
            let about = unit * mean / 1.6 - 2.0..unit * mean * 1.6 + 2.0;
            assert!(about.contains(&said), "{row}: {cell}, {about:?}");
        }
    }
}
