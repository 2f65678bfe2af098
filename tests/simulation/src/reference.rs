//! The figures of others with which we compare ours: `tests/data/*.csv`.

use crate::contention::Strategy;
use crate::moments::Moments;

/// A cell of the AWS simulator: `aws-arch-backoff-simulator`, run 400 times.
#[derive(Debug, Clone, Copy)]
pub struct Contended {
    /// The number of clients that contended for the row.
    pub clients: u32,
    /// How they waited.
    pub strategy: Strategy,
    /// When the last client succeeded, in milliseconds.
    pub millis: Moments,
    /// The number of writes, failed writes included.
    pub calls: Moments,
}

/// The cells of the AWS simulator.
///
/// # Panics
///
/// - If the content of the file has changed.
#[must_use]
pub fn contended() -> Vec<Contended> {
    rows(include_str!("../../data/aws-sim-reference.csv"))
        .map(|row| {
            let number = |column: usize| row[column].parse::<f64>().expect("a number");
            let runs = row[2].parse().expect("a number of runs");
            let moments = |mean, deviation| Moments {
                runs,
                mean: number(mean),
                deviation: number(deviation),
            };
            Contended {
                clients: row[0].parse().expect("a number of clients"),
                strategy: match row[1] {
                    "None" => Strategy::None,
                    "Exponential" => Strategy::Exponential,
                    "FullJitter" => Strategy::Full,
                    "EqualJitter" => Strategy::Equal,
                    "Decorr" => Strategy::Article,
                    other => panic!("`{other}` is no strategy of the reference"),
                },
                millis: moments(3, 4),
                calls: moments(6, 7),
            }
        })
        .collect()
}

/// The results of Marc Brooker's simulation of retry budgets, 2022, with attempts that fail at random.
#[derive(Debug, Clone, Copy)]
pub struct Amplified {
    /// The name of the fleet.
    pub experiment: &'static str,
    /// The share of attempts that failed.
    pub failing: f64,
    /// How the clients retried.
    pub strategy: &'static str,
    /// Attempts for each call.
    pub amplification: f64,
    /// The share of calls that succeeded in the end.
    pub success: f64,
}

/// The rows of Marc Brooker's simulation.
///
/// # Panics
///
/// - If the content of the file has changed.
#[must_use]
pub fn amplified() -> Vec<Amplified> {
    rows(include_str!(
        "../../data/brooker-retry-budget-reference.csv"
    ))
    .map(|row| {
        let number = |column: usize| row[column].parse().expect("a number");
        Amplified {
            experiment: row[0],
            failing: number(1),
            strategy: row[2],
            amplification: number(4),
            success: number(5),
        }
    })
    .collect()
}

fn rows(file: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    file.lines().skip(1).map(|line| line.split(',').collect())
}
