//! A server that processes requests one by one, with a queue and a period of trouble.

/// A period in which the server works slowly, or not at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trouble {
    /// When it begins, in nanoseconds.
    pub from: u64,
    /// How long it lasts, in nanoseconds.
    pub length: u64,
    /// The capacity of the server in the trouble, in thousandths of its normal capacity, in `[0, 1000]`.
    pub speed: u64,
}

impl Trouble {
    /// The server does no work for ten seconds.
    pub const OUTAGE: Self = Self {
        from: 5_000_000_000,
        length: 10_000_000_000,
        speed: 0,
    };
    /// The server works at a tenth of its speed for a second.
    pub const SLOW_DOWN: Self = Self {
        from: 5_000_000_000,
        length: 1_000_000_000,
        speed: 100,
    };

    /// The same, but beginning at another second.
    #[must_use]
    pub const fn at_second(self, second: u64) -> Self {
        Self {
            from: second * 1_000_000_000,
            ..self
        }
    }

    /// When it ends, in nanoseconds.
    #[must_use]
    pub const fn end(&self) -> u64 {
        self.from + self.length
    }

    /// The work that the server has done by a time, in nanoseconds of undisturbed work.
    fn work_by(&self, time: u64) -> u64 {
        let before = time.min(self.from);
        let during = time.clamp(self.from, self.end()) - self.from;
        let after = time.saturating_sub(self.end());
        before + during * self.speed / 1000 + after
    }

    /// When the server has done this work.
    fn time_of(&self, work: u64) -> u64 {
        let during = self.length * self.speed / 1000;
        match work.checked_sub(self.from) {
            None => work,
            Some(rest) if rest < during => self.from + rest * 1000 / self.speed,
            Some(rest) => self.end() + rest - during,
        }
    }
}

/// A server that serves requests in the order of arrival.
///
/// It does not know which clients in its queue have stopped waiting, and does their work too. This makes a storm
/// last: its answers are late, so clients ask again.
#[derive(Debug)]
pub struct Server {
    trouble: Trouble,
    /// The work of one request, in nanoseconds.
    request: u64,
    /// The work at which all accepted requests are done.
    booked: u64,
}

/// The longest queue, in nanoseconds of work: two seconds. Further requests are refused at once.
const QUEUE: u64 = 2_000_000_000;

/// The normal load of the server, in thousandths of its capacity.
const NORMAL_LOAD: u64 = 700;

impl Server {
    /// Builds a server that uses 70 % of its capacity for this many requests a second.
    #[must_use]
    pub const fn new(normal_per_second: u64, trouble: Trouble) -> Self {
        Self {
            trouble,
            request: NORMAL_LOAD * 1_000_000 / normal_per_second,
            booked: 0,
        }
    }

    /// Takes a request, and returns when it will be done. `None` if the server refuses it.
    pub fn accept(&mut self, now: u64) -> Option<u64> {
        let done = self.trouble.work_by(now);
        let booked = self.booked.max(done) + self.request;
        if booked - done > QUEUE {
            return None;
        }
        self.booked = booked;
        Some(self.trouble.time_of(booked))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn an_idle_server_takes_the_time_of_one_request() {
        // 700 requests a second are 70 %, so a request takes a millisecond.
        let mut server = Server::new(700, Trouble::OUTAGE);
        assert_eq!(server.accept(0), Some(1_000_000));
        assert_eq!(server.accept(0), Some(2_000_000));
        assert_eq!(server.accept(SECOND), Some(SECOND + 1_000_000));
    }

    #[test]
    fn work_that_an_outage_interrupts_is_done_after_it() {
        let mut server = Server::new(700, Trouble::OUTAGE);
        assert_eq!(server.accept(5 * SECOND), Some(15 * SECOND + 1_000_000));
        assert_eq!(server.accept(6 * SECOND), Some(15 * SECOND + 2_000_000));
    }

    #[test]
    fn a_slow_server_takes_ten_times_as_long_until_it_is_well() {
        let mut server = Server::new(700, Trouble::SLOW_DOWN);
        assert_eq!(server.accept(5 * SECOND), Some(5 * SECOND + 10_000_000));
        // 99 more requests fill the second. The next request is done at full speed.
        for _ in 0..99 {
            server.accept(5 * SECOND);
        }
        assert_eq!(server.accept(5 * SECOND), Some(6 * SECOND + 1_000_000));
    }

    #[test]
    fn two_seconds_of_work_may_wait() {
        let mut server = Server::new(700, Trouble::OUTAGE);
        let accepted = (0..3000).filter(|_| server.accept(5 * SECOND).is_some());
        assert_eq!(accepted.count(), 2000);
    }
}
