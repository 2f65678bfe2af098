//! The load with a budget of fixed size, if processes make few or many calls.

use anyhow::Result;
use simulation::chart::{Chart, Line, Style};
use simulation::server::Trouble;
use simulation::tables::{self, BUDGETS, RATES, ROWS};

use crate::{Output, Size, table};

pub(crate) fn run(output: &mut Output, size: Size) -> Result<()> {
    let rates = match size {
        Size::Full => &RATES[..],
        Size::Quick => &RATES[5..6],
    };
    let mut rows = Vec::new();
    let mut lines: Vec<Line> = BUDGETS
        .iter()
        .map(|manner| Line {
            name: manner.name.replace('`', ""),
            points: Vec::new(),
            style: Style::Line,
        })
        .collect();
    for rate in rates {
        let timelines = tables::rates(*rate, Trouble::OUTAGE);
        if ROWS.contains(rate) {
            rows.push(tables::rates_row(*rate, &timelines));
        }
        for (line, timeline) in lines.iter_mut().zip(&timelines) {
            let mean = timeline.mean_load_in_trouble();
            line.points.push((f64::from(*rate), mean));
        }
    }
    lines.push(Line {
        name: "1.2".to_owned(),
        points: rates.iter().map(|rate| (f64::from(*rate), 1.2)).collect(),
        style: Style::Bound,
    });
    output.table("rates, outage", &table(&tables::rates_head(), rows))?;
    if size == Size::Quick {
        // One point does not make a line.
        return Ok(());
    }
    let chart = Chart {
        title: "Mean load in an outage of 10 s",
        x: "calls a second of one process",
        y: "load, 1 is normal",
        log: [true, false],
        lines,
    };
    chart.draw(&output.picture("rates"))
}
