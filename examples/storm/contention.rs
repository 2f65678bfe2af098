//! The AWS experiment: clients that contend for one row.

use std::collections::BTreeMap;

use anyhow::Result;
use simulation::SEED;
use simulation::contention::{Cell, Strategy, cell};
use simulation::reference::{Contended, contended};
use simulation::tables::{self, CLIENTS, RUNS};

use crate::{Output, Progress, Size};
use simulation::chart::{Chart, Line, Style};

type Cells = BTreeMap<u32, Vec<(Strategy, Cell)>>;

pub(crate) fn run(output: &mut Output, size: Size) -> Result<()> {
    let (clients, runs): (Vec<u32>, _) = match size {
        Size::Full => ((1..=19).map(|tens| tens * 10).collect(), RUNS),
        Size::Quick => (vec![10, 20, 30], 40),
    };
    let rows = simulate(&clients, runs);
    let (mut calls, mut time) = (tables::contention_head(), tables::contention_head());
    for (clients, row) in &rows {
        if size == Size::Full && !CLIENTS.contains(clients) {
            continue;
        }
        let [calls_row, time_row] = tables::contention_rows(*clients, row);
        calls = format!("{calls}\n{calls_row}");
        time = format!("{time}\n{time_row}");
    }
    output.table("contention, calls", &calls)?;
    output.table("contention, milliseconds", &time)?;
    output.table("contention, compared", &compared(&rows))?;
    draw(output, &rows)
}

/// Computes every cell on two threads. A step is one number of clients with all strategies.
fn simulate(clients: &[u32], runs: u32) -> Cells {
    let progress = Progress::begin("the AWS experiment", clients.len());
    let halves = [0, 1].map(|odd| clients.iter().skip(odd).step_by(2));
    std::thread::scope(|scope| {
        halves
            .map(|half| {
                let progress = &progress;
                scope.spawn(move || {
                    half.map(|clients| {
                        let cell = |strategy| (strategy, cell(strategy, *clients, runs, SEED));
                        let row = (*clients, Strategy::ALL.map(cell).to_vec());
                        progress.step();
                        row
                    })
                    .collect::<Vec<_>>()
                })
            })
            .into_iter()
            .flat_map(|half| half.join().expect("a simulation does not panic"))
            .collect()
    })
}

/// Compares the cells with those of the reference.
fn compared(cells: &Cells) -> String {
    let mut lines =
        "| strategy | farthest, calls | farthest, time | beyond three |\n|---|---|---|---|"
            .to_owned();
    for strategy in Strategy::ALL {
        let errors: Vec<[f64; 2]> = contended()
            .iter()
            .filter(|theirs| theirs.strategy == like(strategy))
            .filter_map(|theirs| Some(errors(find(cells.get(&theirs.clients)?, strategy), theirs)))
            .collect();
        let farthest = |which: usize| {
            let values = errors.iter().map(|pair| pair[which]);
            values.fold(
                0.0,
                |far: f64, error| if error.abs() > far.abs() { error } else { far },
            )
        };
        let beyond = errors
            .iter()
            .flatten()
            .filter(|error| error.abs() > 3.0)
            .count();
        lines = format!(
            "{lines}\n| {} | {:+.2} | {:+.2} | {beyond} of {} |",
            strategy.name(),
            farthest(0),
            farthest(1),
            errors.len() * 2
        );
    }
    lines
}

/// The strategy of the reference with which a strategy of ours is compared.
fn like(strategy: Strategy) -> Strategy {
    match strategy {
        Strategy::Decorrelated => Strategy::Article,
        other => other,
    }
}

fn errors(ours: &Cell, theirs: &Contended) -> [f64; 2] {
    [
        ours.calls.errors_from(&theirs.calls),
        ours.millis.errors_from(&theirs.millis),
    ]
}

fn find(row: &[(Strategy, Cell)], strategy: Strategy) -> &Cell {
    let found = row.iter().find(|(other, _)| *other == strategy);
    &found.expect("every strategy is in every row").1
}

fn draw(output: &Output, cells: &Cells) -> Result<()> {
    type Value<T> = fn(&T) -> f64;
    type Drawing = (
        &'static str,
        &'static str,
        &'static str,
        bool,
        Value<Cell>,
        Value<Contended>,
    );
    let drawings: [Drawing; 2] = [
        (
            "contention-calls",
            "Calls until all clients are through (dots: the AWS simulator)",
            "calls",
            false,
            |cell| cell.calls.mean,
            |other| other.calls.mean,
        ),
        (
            "contention-time",
            "Time until all clients are through (dots: the AWS simulator)",
            "seconds",
            true,
            |cell| cell.millis.mean / 1000.0,
            |other| other.millis.mean / 1000.0,
        ),
    ];
    let reference = contended();
    for (name, title, y, log, value, their_value) in drawings {
        let mut lines = Vec::new();
        for strategy in Strategy::ALL {
            let ours = cells
                .iter()
                .map(|(clients, row)| (f64::from(*clients), value(find(row, strategy))));
            let theirs = reference
                .iter()
                .filter(|cell| cell.strategy == strategy && cells.contains_key(&cell.clients))
                .map(|cell| (f64::from(cell.clients), their_value(cell)));
            lines.push(Line {
                name: strategy.name().to_owned(),
                points: ours.collect(),
                style: Style::Line,
            });
            lines.push(Line {
                name: String::new(),
                points: theirs.collect(),
                style: Style::Dots,
            });
        }
        let chart = Chart {
            title,
            x: "clients",
            y,
            log: [false, log],
            lines,
        };
        chart.draw(&output.picture(name))?;
    }
    Ok(())
}
