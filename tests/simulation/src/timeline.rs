//! The requests that a server receives in each second, and whether it recovers.

use crate::server::Trouble;

/// One second.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Second {
    /// Calls that began.
    pub calls: u64,
    /// Attempts that reached the server, refused ones included.
    pub attempts: u64,
    /// Calls that succeeded.
    pub successes: u64,
}

/// All seconds of a run.
#[derive(Debug, Clone)]
pub struct Timeline {
    /// The calls in a second, on average.
    pub normal: f64,
    /// The trouble of the server.
    pub trouble: Trouble,
    /// The seconds.
    pub seconds: Vec<Second>,
}

impl Timeline {
    /// Prepares a timeline of this many seconds.
    #[must_use]
    pub fn new(normal: f64, trouble: Trouble, seconds: usize) -> Self {
        Self {
            normal,
            trouble,
            seconds: vec![Second::default(); seconds],
        }
    }

    /// The second of a time in nanoseconds. `None` after the end.
    pub fn at(&mut self, time: u64) -> Option<&mut Second> {
        self.seconds.get_mut(index(time))
    }

    /// Attempts in each second, as a multiple of the normal load.
    pub fn load(&self) -> impl Iterator<Item = f64> + '_ {
        self.seconds
            .iter()
            .map(|second| share(second.attempts, self.normal))
    }

    /// Calls that succeeded in each second, as a share of the normal load.
    pub fn goodput(&self) -> impl Iterator<Item = f64> + '_ {
        self.seconds
            .iter()
            .map(|second| share(second.successes, self.normal))
    }

    /// The mean load while the trouble lasted, as a multiple of the normal load.
    #[must_use]
    pub fn mean_load_in_trouble(&self) -> f64 {
        let trouble = index(self.trouble.from)..index(self.trouble.end());
        let seconds = trouble.len();
        let sum: f64 = self.load().skip(trouble.start).take(seconds).sum();
        sum / f64::from(u32::try_from(seconds).unwrap_or(u32::MAX))
    }

    /// The load of the worst second, as a multiple of the normal load.
    #[must_use]
    pub fn peak_load(&self) -> f64 {
        self.load().fold(0.0, f64::max)
    }

    /// Seconds from the end of the trouble until every later second has at most 1.05 of the normal load and at least
    /// 0.95 of the normal successes. `None` if this does not happen.
    #[must_use]
    pub fn recovery(&self) -> Option<usize> {
        let end = index(self.trouble.end());
        let well = |(load, goodput): (f64, f64)| load <= 1.05 && goodput >= 0.95;
        let seconds = self
            .load()
            .zip(self.goodput())
            .map(well)
            .collect::<Vec<_>>();
        let last_ill = seconds.iter().rposition(|well| !well);
        match last_ill {
            Some(last) if last + 1 == self.seconds.len() => None,
            Some(last) => Some((last + 1).saturating_sub(end)),
            None => Some(0),
        }
    }
}

fn index(time: u64) -> usize {
    usize::try_from(time / 1_000_000_000).unwrap_or(usize::MAX)
}

fn share(count: u64, normal: f64) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX)) / normal
}
