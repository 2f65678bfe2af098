//! Schedules that a policy draws: how long calls wait, and how many retries they make.

use std::time::Duration;

use reattempt::Policy;

/// How many schedules are drawn for a picture of a policy.
pub const DRAWS: u32 = 10_000;

/// The most retries of a schedule. A schedule without limits has no end.
pub const MOST_RETRIES: usize = 100;

/// How many delays of each schedule are kept one by one.
pub const KEPT_DELAYS: usize = 12;

/// Drawn schedules.
#[derive(Debug)]
pub struct Schedules {
    /// The sum of the delays of each schedule, in order of length.
    pub totals: Vec<Duration>,
    /// The number of retries of each schedule.
    pub retries: Vec<usize>,
    /// The delays before the first retry, before the second retry, and so on, each in order of length.
    pub delays: Vec<Vec<Duration>>,
}

impl Schedules {
    /// Draws [`DRAWS`] schedules.
    #[must_use]
    pub fn draw(policy: &Policy, seed: u64) -> Self {
        let mut all = Self {
            totals: Vec::new(),
            retries: Vec::new(),
            delays: Vec::new(),
        };
        for draw in 0..u64::from(DRAWS) {
            let schedule = policy.schedule(seed.wrapping_add(draw)).take(MOST_RETRIES);
            let (mut total, mut retries) = (Duration::ZERO, 0);
            for delay in schedule {
                if retries == all.delays.len() && retries < KEPT_DELAYS {
                    all.delays.push(Vec::new());
                }
                if let Some(kept) = all.delays.get_mut(retries) {
                    kept.push(delay);
                }
                total = total.saturating_add(delay);
                retries += 1;
            }
            all.totals.push(total);
            all.retries.push(retries);
        }
        all.totals.sort_unstable();
        all.delays
            .iter_mut()
            .for_each(|delays| delays.sort_unstable());
        all
    }

    /// Whether some schedule continues after the end of the drawing.
    #[must_use]
    pub fn are_cut(&self) -> bool {
        self.retries.contains(&MOST_RETRIES)
    }
}

/// The length below which this share of the lengths is, for lengths in order. Zero if there are no lengths.
#[must_use]
pub fn quantile(sorted: &[Duration], share: f64) -> Duration {
    let last = sorted.len().saturating_sub(1);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a place among some ten thousand"
    )]
    let at = (last as f64 * share).round() as usize;
    sorted.get(at).copied().unwrap_or_default()
}

/// The mean length. Zero if there are no lengths.
#[must_use]
pub fn mean(lengths: &[Duration]) -> Duration {
    let sum = lengths
        .iter()
        .map(Duration::as_nanos)
        .fold(0, u128::saturating_add);
    length_of(sum / (lengths.len() as u128).max(1))
}

/// A histogram: the number of lengths in ranges of the same width.
#[derive(Debug, PartialEq, Eq)]
pub struct Histogram {
    /// The start of the first range, which is a multiple of the width.
    pub start: Duration,
    /// The width of a range: 1, 2 or 5 times a power of ten.
    pub width: Duration,
    /// The number of lengths in each range. A range contains its start, and not its end.
    pub counts: Vec<u32>,
}

impl Histogram {
    /// Sorts lengths, which are in order, into at most `most` ranges, or one more if the first length does not begin a
    /// range.
    #[must_use]
    pub fn of(sorted: &[Duration], most: u32) -> Self {
        let (Some(first), Some(last)) = (sorted.first(), sorted.last()) else {
            return Self {
                start: Duration::ZERO,
                width: Duration::from_millis(1),
                counts: Vec::new(),
            };
        };
        let width = round_width((last.as_nanos() - first.as_nanos()) / u128::from(most.max(1)));
        let place = |length: &Duration| length.as_nanos() / width;
        let begin = place(first);
        let mut counts = Vec::new();
        for length in sorted {
            let at = usize::try_from(place(length) - begin).unwrap_or(usize::MAX);
            if counts.len() <= at {
                counts.resize(at + 1, 0);
            }
            counts[at] += 1;
        }
        Self {
            start: length_of(begin.saturating_mul(width)),
            width: length_of(width),
            counts,
        }
    }

    /// The start, the end and the number of lengths of each range.
    pub fn ranges(&self) -> impl Iterator<Item = (Duration, Duration, u32)> {
        let starts = std::iter::successors(Some(self.start), |start| {
            Some(start.saturating_add(self.width))
        });
        let ends =
            |(start, count): (Duration, &u32)| (start, start.saturating_add(self.width), *count);
        starts.zip(&self.counts).map(ends)
    }
}

/// The next width above `least` that is 1, 2 or 5 times a power of ten, in nanoseconds.
fn round_width(least: u128) -> u128 {
    let mut unit = 1_u128;
    loop {
        for width in [unit, unit.saturating_mul(2), unit.saturating_mul(5)] {
            if width > least {
                return width;
            }
        }
        unit = unit.saturating_mul(10);
    }
}

fn length_of(nanos: u128) -> Duration {
    let seconds = u64::try_from(nanos / 1_000_000_000).unwrap_or(u64::MAX);
    let rest = u32::try_from(nanos % 1_000_000_000).unwrap_or_default();
    Duration::new(seconds, rest)
}

#[cfg(test)]
mod tests {
    use reattempt::{FAST_IO, Jitter};

    use super::*;

    const fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn every_length_is_in_the_range_that_has_it() {
        let lengths: Vec<_> = (0..100).map(|n| ms(7 + n * n)).collect();
        let histogram = Histogram::of(&lengths, 16);
        assert_eq!((histogram.start, histogram.width), (ms(0), ms(1000)));
        assert_eq!(histogram.counts.iter().sum::<u32>(), 100);
        for (start, end, count) in histogram.ranges() {
            let inside = lengths
                .iter()
                .filter(|length| (start..end).contains(length));
            assert_eq!(inside.count(), count as usize, "{start:?}");
        }
    }

    #[test]
    fn lengths_that_are_equal_or_at_the_ends_have_ranges_too() {
        let same = Histogram::of(&[ms(5); 3], 16);
        assert_eq!((same.start, same.counts), (ms(5), vec![3]));
        let ends = Histogram::of(&[Duration::ZERO, Duration::MAX], 4);
        assert_eq!(ends.counts.iter().sum::<u32>(), 2);
        assert!(ends.counts.len() <= 5, "{ends:?}");
        assert!(Histogram::of(&[], 4).counts.is_empty());
    }

    #[test]
    fn each_schedule_is_counted_once_and_cut_where_it_has_no_end() {
        let drawn = Schedules::draw(&FAST_IO, 1);
        assert_eq!(drawn.totals.len(), DRAWS as usize);
        assert!(drawn.retries.iter().all(|retries| *retries == 2));
        assert_eq!(drawn.delays.len(), 2);
        assert!(
            drawn
                .delays
                .iter()
                .all(|delays| delays.len() == DRAWS as usize)
        );
        assert!(!drawn.are_cut());
        // Two uniform delays below 10 and 20 ms.
        assert!(
            mean(&drawn.totals).abs_diff(ms(15)) < ms(1),
            "{:?}",
            mean(&drawn.totals)
        );
        assert!(*drawn.totals.last().unwrap() <= ms(30));

        let endless = FAST_IO.with_unlimited_attempts().with_base(Duration::ZERO);
        let drawn = Schedules::draw(&endless.with_jitter(Jitter::None), 1);
        assert!(drawn.are_cut());
        assert_eq!(quantile(&drawn.totals, 1.0), Duration::ZERO);
    }

    #[test]
    fn quantiles_are_places_in_the_order() {
        let lengths: Vec<_> = (0..=100).map(ms).collect();
        assert_eq!(
            [0.0, 0.5, 0.99, 1.0].map(|share| quantile(&lengths, share)),
            [ms(0), ms(50), ms(99), ms(100)]
        );
        assert_eq!(mean(&lengths), ms(50));
        assert_eq!(
            (quantile(&[], 0.5), mean(&[])),
            (Duration::ZERO, Duration::ZERO)
        );
    }
}
