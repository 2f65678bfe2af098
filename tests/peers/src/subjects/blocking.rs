//! Functions that are not async: the attribute with `blocking`, and the loop that people write by hand.
//!
//! `subjects blocking SIDE ROW N` makes N calls, and `subjects blocking-times ROW BATCHES` prints the time of the
//! attribute's calls as a ratio to the time of the loop by hand.

use std::cell::Cell;
use std::hint::black_box;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::op::R;
use crate::policy::DELAY;

/// A body that fails a given number of times before each success.
pub(crate) struct Op {
    calls: Cell<u32>,
    failures: u32,
    /// For a body that does I/O: a byte goes through the kernel and back.
    stream: Option<(UnixStream, UnixStream)>,
}

impl Op {
    fn new(row: &Row, with_io: bool) -> Self {
        Self {
            calls: Cell::new(0),
            failures: row.failures,
            stream: with_io.then(|| UnixStream::pair().expect("a pair of sockets")),
        }
    }

    fn work(&self) -> R {
        let calls = self.calls.get() + 1;
        self.calls.set(calls);
        if let Some((left, right)) = &self.stream {
            let mut byte = [0];
            for (mut from, mut to) in [(left, right), (right, left)] {
                from.write_all(&byte)?;
                to.read_exact(&mut byte)?;
            }
        }
        if calls.is_multiple_of(self.failures + 1) {
            Ok(calls)
        } else {
            Err(io::ErrorKind::ConnectionReset.into())
        }
    }
}

mod hand {
    use super::{DELAY, Duration, Instant, Op, R, sleep};
    use crate::policy::{ATTEMPTS, DEADLINE, is_temporary};

    /// Full jitter below the ceiling of this attempt.
    fn delay(attempt: u32) -> Duration {
        let ceiling = DELAY.saturating_mul(1 << (attempt - 1).min(20)).min(DELAY);
        let nanos = u64::try_from(ceiling.as_nanos()).unwrap_or(u64::MAX);
        Duration::from_nanos(fastrand::u64(0..=nanos))
    }

    pub(super) fn free(op: &Op) -> R {
        let mut attempt = 0;
        loop {
            attempt += 1;
            let error = match op.work() {
                Ok(value) => return Ok(value),
                Err(error) => error,
            };
            if attempt == ATTEMPTS || !is_temporary(&error) {
                return Err(error);
            }
            sleep(delay(attempt));
        }
    }

    pub(super) fn limited(op: &Op) -> R {
        let deadline = Instant::now() + DEADLINE;
        let mut attempt = 0;
        loop {
            attempt += 1;
            let error = match op.work() {
                Ok(value) => return Ok(value),
                Err(error) => error,
            };
            let delay = delay(attempt);
            let until = Instant::now() + delay;
            if attempt == ATTEMPTS || !is_temporary(&error) || until >= deadline {
                return Err(error);
            }
            sleep(delay);
        }
    }
}

/// The row without failures has the default budget. In the other rows, a budget would end the retries.
mod ours {
    use reattempt::retry;

    use super::{Op, R, io};

    macro_rules! annotated {
        ($name:ident, $($setting:tt)*) => {
            #[retry(blocking, attempts = 4, base = "1ms", max_delay = "1ms", on = "io::Error", $($setting)*)]
            pub(super) fn $name(op: &Op) -> R {
                op.work()
            }
        };
    }

    annotated!(free, jitter = "full");
    annotated!(limited, deadline = "5s");
    annotated!(free_without_budget, budget = "none");
    annotated!(limited_without_budget, budget = "none", deadline = "5s");
}

/// One kind of call.
struct Row {
    failures: u32,
    hand: Call,
    ours: Call,
}

type Call = fn(&Op) -> R;

impl Row {
    fn named(key: &str) -> Self {
        let (failures, hand, ours): (_, Call, Call) = match key {
            "ready" => (0, hand::free, ours::free),
            "ready-deadline" => (0, hand::limited, ours::limited),
            "three" => (3, hand::free, ours::free_without_budget),
            "three-deadline" => (3, hand::limited, ours::limited_without_budget),
            _ => panic!("there is no row `{key}`"),
        };
        Self {
            failures,
            hand,
            ours,
        }
    }

    /// Makes calls, and gives the time that they took. Checks the result of each call, and how often the body ran.
    fn drive(&self, call: Call, calls: u32, with_io: bool) -> Duration {
        let op = Op::new(self, with_io);
        let call = black_box(call);
        let start = Instant::now();
        for number in 1..=calls {
            assert_eq!(call(&op).ok(), Some(number * (self.failures + 1)));
        }
        let took = start.elapsed();
        let runs = calls * (self.failures + 1);
        assert_eq!(op.calls.get(), runs, "runs of the body");
        took
    }
}

/// Makes calls of one side, with a body that only counts.
pub(crate) fn call(side: &str, row: &str, calls: u32) {
    let row = Row::named(row);
    let call = match side {
        "hand" => row.hand,
        "ours" => row.ours,
        _ => panic!("there is no side `{side}`"),
    };
    row.drive(call, calls, false);
}

/// Prints the median of the ratios of the attribute to the loop by hand. Batches take turns, and the body does I/O.
pub(crate) fn print_times(row: &str, batches: usize) {
    let row = Row::named(row);
    let calls = if row.failures == 0 { 2_000 } else { 20 };
    let mut ratios: Vec<f64> = (0..batches)
        .map(|batch| {
            let time = |call| row.drive(call, calls, true).as_secs_f64();
            if batch % 2 == 0 {
                let hand = time(row.hand);
                time(row.ours) / hand
            } else {
                let ours = time(row.ours);
                ours / time(row.hand)
            }
        })
        .collect();
    ratios.sort_by(f64::total_cmp);
    println!("{:.3}", ratios[ratios.len() / 2]);
}
