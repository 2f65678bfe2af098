//! Random numbers from a seed, the same on every machine.

use std::ops::RangeInclusive;
use std::time::Duration;

use rand::rngs::Xoshiro256PlusPlus;
use rand::seq::SliceRandom as _;
use rand::{RngExt as _, SeedableRng as _};
use rand_distr::{Distribution as _, Exp, Normal, Poisson};

/// A generator with its own seed.
#[derive(Debug)]
pub struct Dice(Xoshiro256PlusPlus);

impl Dice {
    /// Makes the generator of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// Makes the generator of one run from the seed of all runs and the parts that identify this one.
    #[must_use]
    pub fn of(parts: &[u64]) -> Self {
        // These are the steps of `splitmix64`, so that similar numbers give very different generators.
        Self::new(parts.iter().fold(0, |state: u64, part| {
            let mixed = (state ^ part).wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            mixed ^ (mixed >> 31)
        }))
    }

    /// Draws a duration from a range, ends included, as the library draws a delay.
    pub fn within(&mut self, range: &RangeInclusive<Duration>) -> Duration {
        let [low, high] = [range.start(), range.end()].map(|end| nanos(*end));
        Duration::from_nanos(self.0.random_range(low..=high.max(low)))
    }

    /// Draws the absolute value of a normal distribution, in milliseconds.
    ///
    /// # Panics
    ///
    /// - If the deviation is not finite.
    pub fn normal_millis(&mut self, mean: f64, deviation: f64) -> Duration {
        let normal = Normal::new(mean, deviation).expect("a deviation is finite");
        Duration::from_secs_f64(normal.sample(&mut self.0).abs() / 1000.0)
    }

    /// Draws from a Poisson distribution with this mean.
    ///
    /// # Panics
    ///
    /// - If the mean is not positive.
    pub fn count(&mut self, mean: f64) -> u32 {
        let poisson = Poisson::new(mean).expect("a mean is positive");
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "whole, not negative, and near its mean"
        )]
        let count = poisson.sample(&mut self.0) as u32;
        count
    }

    /// Draws the time until the next event, if events happen `rate` times a second.
    ///
    /// # Panics
    ///
    /// - If the rate is 0.
    pub fn pause(&mut self, rate: u32) -> Duration {
        let exponential = Exp::new(f64::from(rate)).expect("a rate is positive");
        Duration::from_secs_f64(exponential.sample(&mut self.0))
    }

    /// Draws a number below `end`.
    pub fn below(&mut self, end: u32) -> u32 {
        self.0.random_range(0..end)
    }

    /// Puts values into a random order.
    pub fn shuffle<T>(&mut self, things: &mut [T]) {
        things.shuffle(&mut self.0);
    }

    /// Returns true with this probability, in `[0, 1]`.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.0.random_bool(probability)
    }
}

fn nanos(length: Duration) -> u64 {
    u64::try_from(length.as_nanos()).unwrap_or(u64::MAX)
}
