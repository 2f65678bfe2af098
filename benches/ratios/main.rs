//! What an annotated function costs, as ratios to a loop that an expert writes by hand and to no
//! retry at all.
//!
//! `cargo bench --bench ratios`. All sides of a comparison are measured in turn, batch by batch, in
//! one run, and the median of the batches' ratios is printed: these are ratios, not times, because a
//! time depends on the machine and on whatever else it is doing.

mod by_hand;
mod subject;

use std::hint::black_box;
use std::io;
use std::time::{Duration, Instant};

use tokio::runtime::Runtime;

/// Calls in a batch, and batches a comparison.
const CALLS: u32 = 2_000;
const BATCHES: usize = 401;

fn main() {
    // `cargo test --benches` only wants to know that it runs.
    let batches = if std::env::args().any(|argument| argument == "--bench") {
        BATCHES
    } else {
        3
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("a runtime");
    let run = Comparison {
        runtime: &runtime,
        batches,
    };

    println!(
        "median ratio of {batches} batches of {CALLS} calls; below 1 the annotated function is faster\n"
    );
    println!("{:<44} {:>8} {:>8}", "annotated / …", "ratio", "target");
    run.compare(
        "timed, ready at once / loop by hand",
        0.4,
        subject::timed,
        by_hand::timed,
    );
    run.compare(
        "untimed, ready at once / loop by hand",
        1.2,
        subject::untimed,
        by_hand::untimed,
    );
    run.compare(
        "untimed, ready at once / no retry",
        f64::NAN,
        subject::untimed,
        subject::plain,
    );
    run.compare(
        "timed, ready at once / no retry",
        f64::NAN,
        subject::timed,
        subject::plain,
    );
    run.compare(
        "timed, pending once / loop by hand",
        1.05,
        subject::timed_pending,
        by_hand::timed_pending,
    );
    run.compare(
        "untimed, pending once / loop by hand",
        1.2,
        subject::untimed_pending,
        by_hand::untimed_pending,
    );
    run.compare(
        "asks for its attempt / does not",
        f64::NAN,
        subject::asking,
        subject::untimed,
    );
    run.compare(
        "two failures, then success / loop by hand",
        f64::NAN,
        subject::failing,
        by_hand::failing,
    );
}

struct Comparison<'r> {
    runtime: &'r Runtime,
    batches: usize,
}

impl Comparison<'_> {
    fn compare(
        &self,
        name: &str,
        target: f64,
        ours: impl AsyncFn(u64) -> io::Result<u64>,
        theirs: impl AsyncFn(u64) -> io::Result<u64>,
    ) {
        let mut ratios: Vec<f64> = (0..self.batches)
            .map(|batch| {
                // In turn first and second, so that neither gains by its place.
                let (ours, theirs) = if batch % 2 == 0 {
                    let first = self.batch(&ours);
                    (first, self.batch(&theirs))
                } else {
                    let first = self.batch(&theirs);
                    (self.batch(&ours), first)
                };
                ours.as_secs_f64() / theirs.as_secs_f64()
            })
            .collect();
        ratios.sort_by(f64::total_cmp);
        let median = ratios[ratios.len() / 2];
        let target = if target.is_nan() {
            String::new()
        } else {
            format!("≤ {target}")
        };
        println!("{name:<44} {median:>8.2} {target:>8}");
    }

    fn batch(&self, call: &impl AsyncFn(u64) -> io::Result<u64>) -> Duration {
        self.runtime.block_on(async {
            let began = Instant::now();
            for input in 0..CALLS {
                let _ = black_box(call(black_box(u64::from(input))).await);
            }
            began.elapsed()
        })
    }
}
