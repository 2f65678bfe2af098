//! What the rules of the model need around them: time, limits, the script, and what is seen.

use std::cmp::Reverse;

use crate::case::Verdict::{Permanent, Transient};
use crate::case::{Case, Event, Failed, NEVER, Seen};

/// The call is dropped, the limit of the call at this depth cuts its attempt, or its `cancel` stops it.
pub(crate) enum Halt { Dropped, Cut(usize), Cancelled(usize) }

/// Failed retries, by the depth of the call, and by which `before_retry` is around it.
pub(crate) type Retries = [[u32; 4]; 3];

/// The fault that a budget sees, and how many it saw.
#[derive(Clone, Copy, Default)]
pub(crate) struct Fault { pub(crate) is_on: bool, pub(crate) is_serious: bool, pub(crate) number: u32 }

pub(crate) struct Model<'c> {
    pub(crate) case: &'c Case,
    pub(crate) draw: &'c mut dyn FnMut(u64, u64) -> u64,
    /// After so many events, the call is dropped at this instant.
    pub(crate) drop: Option<(usize, u64)>,
    pub(crate) now: u64,
    pub(crate) runs: usize,
    pub(crate) levels: Vec<u64>,
    pub(crate) faults: Vec<Fault>,
    /// When the pause of each budget ends.
    pub(crate) pauses: Vec<u64>,
    /// The limit of each attempt that runs, and whether it can cut it.
    pub(crate) limits: Vec<(u64, bool)>,
    /// When the `cancel` of each call completes.
    pub(crate) cancels: Vec<u64>,
    /// Why the call that ended inside was refused a retry.
    pub(crate) refused: Option<&'static str>,
    /// What the budget gave for the last retry.
    pub(crate) taken: u64,
    /// How many retries of each depth have failed: in this attempt, and in the earlier attempts of each call.
    pub(crate) failed_inside: Retries,
    pub(crate) earlier: Vec<Retries>,
    /// The `before_retry`s around: a bit for each depth.
    pub(crate) path: usize,
    /// The present attempt of each call, and whether its body was pending.
    pub(crate) numbers: [u32; 3],
    pub(crate) pending: [bool; 3],
    /// A task carries a later attempt.
    pub(crate) carried: bool,
    /// The depths of the calls that must not run twice, and of whose attempts it is not known that they had no effect.
    pub(crate) open: Vec<usize>,
    /// The attempt that said so.
    pub(crate) progress: u32,
    pub(crate) seen: Seen,
    /// The rules that decided, after so many events and reports.
    pub(crate) rules: Vec<(usize, usize, &'static str)>,
    pub(crate) starved: bool,
}

impl<'c> Model<'c> {
    pub(crate) fn run(case: &'c Case, draw: &'c mut dyn FnMut(u64, u64) -> u64, drop: Option<(usize, u64)>) -> Self {
        let (levels, faults, pauses) = (case.capacities.clone(), vec![Fault::default(); case.capacities.len()], vec![0; case.capacities.len()]);
        let mut model = Self {
            case, draw, drop, now: 0, runs: 0, levels, faults, pauses, limits: vec![], cancels: vec![], refused: None, taken: 0,
            failed_inside: Retries::default(), earlier: vec![], path: 0, numbers: [0; 3], pending: [false; 3], carried: false,
            open: vec![], progress: 0, seen: Seen::default(), rules: vec![], starved: false,
        };
        model.seen.result = model.call(0, 0, NEVER).ok();
        model
    }

    /// This rule decides.
    pub(crate) fn by(&mut self, rule: &'static str) {
        self.rules.push((self.seen.events.len(), self.seen.reports.len(), rule));
    }

    /// Is pending. What ends at a limit has ended; of two limits at one instant, the inner one cuts.
    pub(crate) fn pass(&mut self, until: u64) -> Result<(), Halt> {
        if !self.case.calls[0].blocking {
            self.refused = None; // The body around went on.
            self.pending[..self.limits.len()].fill(true);
        }
        let limits = self.limits.iter().enumerate().filter(|(_, (_, cuts))| *cuts);
        let cut = limits.map(|(depth, (at, _))| (*at, Reverse(depth))).min();
        // `cancel` is looked at before all else, the outermost first.
        let cancel = self.cancels.iter().enumerate().map(|(depth, at)| (*at, depth)).min();
        let ends = cut.map_or(until, |(at, _)| at.min(until)).min(self.drop.map_or(NEVER, |(_, at)| at));
        if let Some((at, depth)) = cancel.filter(|(at, _)| *at <= ends && *at < NEVER) {
            self.now = at;
            self.by("`cancel` ends the call at any time");
            return Err(Halt::Cancelled(depth));
        }
        if let Some((events, at)) = self.drop.filter(|(_, at)| *at < until.max(self.now.saturating_add(1))) {
            if events == self.seen.events.len() {
                self.now = at;
                return Err(Halt::Dropped);
            }
        }
        match cut {
            Some((at, Reverse(depth))) if at < until => {
                self.now = at;
                self.by("1: a limit cuts what runs");
                Err(Halt::Cut(depth))
            }
            _ => { self.now = until; Ok(()) }
        }
    }

    pub(crate) fn step(&mut self, number: u32) -> Result<(u64, Result<usize, Failed>), Halt> {
        self.starved = self.runs == self.case.steps.len();
        let step = self.case.steps.get(self.runs).ok_or(Halt::Dropped)?;
        self.runs += 1;
        if step.progress { self.progress = self.progress.max(number) }
        let failed = |(verdict, hint)| Failed { verdict, hint, run: Some(self.runs), stopped: None, timed_out: false };
        Ok((step.takes, step.error.map_or(Ok(self.runs), |error| Err(failed(error)))))
    }

    pub(crate) fn begins(&mut self, depth: usize, number: u32, of: u32, cut: u64) {
        let nearest = self.limits.iter().fold(cut, |nearest, (at, _)| nearest.min(*at));
        let remaining = (nearest < NEVER).then(|| nearest.saturating_sub(self.now));
        self.seen.events.push(Event::Begins { depth, number, of, remaining, at: self.now });
    }

    pub(crate) fn gone(&mut self, depth: usize, number: u32) {
        self.seen.events.push(Event::Gone { depth, number, at: self.now });
    }

    pub(crate) fn give(&mut self, budget: usize, tokens: u64) {
        self.levels[budget] = self.levels[budget].saturating_add(tokens).min(self.case.capacities[budget]);
    }
}

pub(crate) fn timed_out(run: Option<usize>) -> Failed {
    Failed { timed_out: true, ..stopped("timeout", run) }
}

/// The verdict is what an outer call sees.
pub(crate) fn stopped(outcome: &'static str, run: Option<usize>) -> Failed {
    let verdict = if matches!(outcome, "timeout" | "deadline" | "paused" | "attempts_exhausted") { Transient } else { Permanent };
    Failed { verdict, hint: None, run, stopped: Some(outcome), timed_out: false }
}
