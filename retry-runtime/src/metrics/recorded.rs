//! Passes values to the recorder.

use std::ptr;
use std::time::Duration;

use ::metrics::{Key, Level, Metadata, NoopRecorder, Recorder, with_recorder};

use super::Attempted;
use super::series::Series;
use crate::report::{Hedge, Report};

const METADATA: Metadata<'static> = Metadata::new("reattempt", Level::INFO, None);

/// Whether a recorder is installed, for this thread or for the process.
#[inline]
pub(crate) fn is_recording() -> bool {
    with_recorder(|recorder| !is_noop(recorder))
}

/// Whether this is the recorder that the crate `metrics` returns if none is installed.
///
/// It compares the tables of methods. Another type has the same table only if its methods are the same code, and then
/// it records nothing either. A table may exist several times, for example without optimisation. Then a process without
/// a recorder takes longer, and still records nothing.
#[inline]
fn is_noop(recorder: &dyn Recorder) -> bool {
    static NOOP: NoopRecorder = NoopRecorder;
    let noop: *const dyn Recorder = &raw const NOOP;
    let recorder = ptr::from_ref(recorder);
    let distance = recorder.addr().wrapping_sub(noop.addr());
    // A pointer to the address of `recorder`, with the methods of `noop`.
    #[expect(
        ambiguous_wide_pointer_comparisons,
        reason = "the methods are what is compared"
    )]
    {
        noop.wrapping_byte_add(distance) == recorder
    }
}

/// An attempt ended.
pub(crate) fn attempted(function: &'static str, how: Attempted) {
    record(function, |series, recorder| {
        count(recorder, series.attempts(how));
    });
}

/// Another attempt will follow, after this delay.
pub(crate) fn delayed(function: &'static str, delay: Duration) {
    record(function, |series, recorder| {
        sample(recorder, &series.delay, delay.as_secs_f64());
    });
}

/// A call ended.
pub(crate) fn ended(report: &Report) {
    record(report.function(), |series, recorder| {
        count(recorder, series.calls(report.outcome()));
        // A hedge began without a wait.
        let hedges = matches!(report.hedge(), Some(Hedge::Won | Hedge::Lost));
        let retries = report.attempts().saturating_sub(1 + u32::from(hedges));
        sample(recorder, &series.retries, f64::from(retries));
        sample(recorder, &series.seconds, report.elapsed().as_secs_f64());
        if let Some(level) = report.budget_level() {
            let gauge = recorder.register_gauge(&series.budget, &METADATA);
            gauge.set(level);
        }
        if let Some(hedge) = report.hedge() {
            count(recorder, series.hedges(hedge));
        }
    });
}

/// Looks up the series of a function, if there is a recorder.
#[cold]
fn record(function: &'static str, write: impl FnOnce(&Series, &dyn Recorder)) {
    with_recorder(|recorder| {
        if !is_noop(recorder) {
            let series = Series::of(function);
            series.describe_to(recorder);
            write(series, recorder);
        }
    });
}

fn count(recorder: &dyn Recorder, key: &Key) {
    recorder.register_counter(key, &METADATA).increment(1);
}

fn sample(recorder: &dyn Recorder, key: &Key, value: f64) {
    recorder.register_histogram(key, &METADATA).record(value);
}
