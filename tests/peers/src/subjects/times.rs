//! Times, as ratios to the loop by hand. A time alone depends on the machine, and on other work on it.

use std::future::Future;
use std::time::Duration;

use peers::{Row, Side};

use crate::drive::drive;
use crate::op::{Op, R};
use crate::sides::{Visit, with_row};

/// Prints for each side the median of its ratios to the loop by hand.
///
/// In each round, every side makes a batch of calls. Each round begins with another side, so that no side gains by
/// its place.
pub(crate) fn print(row: Row, rounds: usize) {
    let sides = row.sides();
    let batches: Vec<Batch> = sides
        .iter()
        .map(|&side| with_row(side, row, Batches(row)))
        .collect();
    let mut ratios = vec![Vec::with_capacity(rounds); sides.len()];
    let hand = sides
        .iter()
        .position(|&side| side == Side::Hand)
        .expect("the loop by hand");
    for round in 0..rounds {
        let mut times = vec![Duration::ZERO; sides.len()];
        for place in 0..sides.len() {
            let side = (round + place) % sides.len();
            times[side] = batches[side]();
        }
        for (ratios, time) in ratios.iter_mut().zip(&times) {
            ratios.push(time.as_secs_f64() / times[hand].as_secs_f64());
        }
    }
    for (side, mut ratios) in sides.into_iter().zip(ratios) {
        ratios.sort_by(f64::total_cmp);
        println!("{side} {:.3}", ratios[ratios.len() / 2]);
    }
}

type Batch = Box<dyn Fn() -> Duration>;

struct Batches(Row);

impl Visit for Batches {
    type Output = Batch;

    fn visit<F>(self, call: impl Fn(&'static Op) -> F + 'static) -> Batch
    where
        F: Future<Output = R> + 'static,
    {
        let Self(row) = self;
        let calls = if row.failures == 0 { 2_000 } else { 200 };
        Box::new(move || drive(row, calls, &call))
    }
}
