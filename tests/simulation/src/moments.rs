//! Mean and standard deviation of repeated measurements.

/// The number of values, their mean, and their standard deviation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moments {
    /// The number of values.
    pub runs: u32,
    /// Their mean.
    pub mean: f64,
    /// Their standard deviation, as of a sample.
    pub deviation: f64,
}

impl Moments {
    /// Computes the moments of values.
    #[must_use]
    pub fn of(values: &[f64]) -> Self {
        let runs = u32::try_from(values.len()).unwrap_or(u32::MAX);
        let mean = values.iter().sum::<f64>() / f64::from(runs);
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Self {
            runs,
            mean,
            deviation: (squares / f64::from(runs.saturating_sub(1).max(1))).sqrt(),
        }
    }

    /// The difference of the means, in standard errors of the difference. It is positive if ours is larger.
    #[must_use]
    pub fn errors_from(&self, other: &Self) -> f64 {
        (self.mean - other.mean) / self.error().hypot(other.error())
    }

    fn error(&self) -> f64 {
        self.deviation / f64::from(self.runs).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_of_a_known_sample() {
        let moments = Moments::of(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]);
        assert!((moments.mean - 5.0).abs() < 1e-12);
        assert!((moments.deviation - (32.0_f64 / 7.0).sqrt()).abs() < 1e-12);
    }

    #[test]
    fn the_difference_counts_the_errors_of_both() {
        let [ours, theirs] = [10.0, 9.0].map(|mean| Moments {
            runs: 400,
            mean,
            deviation: 2.0,
        });
        // 1 / (0.1 * sqrt 2)
        assert!((ours.errors_from(&theirs) - 7.071).abs() < 1e-3);
    }
}
