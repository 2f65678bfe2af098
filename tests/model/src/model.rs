//! What a call does, as `src/retry.md` and the guide say it. It uses nothing of the crate.

use crate::case::Verdict::{Conflict, Permanent, Refused, Throttled, Transient, Unknown};
use crate::case::{Around, Asks, BASE, Event, Failed, MAX_RETRY_AFTER, NEVER, Nested, Report, Settings, ms};
use crate::stage::{Halt, Model, stopped, timed_out};

/// How an attempt ended (`None` if its timeout cut it), and how the one beside it failed.
struct Ended { result: Option<Result<usize, Failed>>, other: Option<Failed> }

/// An attempt of a call that hedges.
struct Running { number: u32, ends: u64, cut: u64, result: Result<usize, Failed> }

/// A call. The attempts `before` progress do not count. `earlier` is how many retries inside have failed, and `permit` what the
/// budget gave for a retry that has not begun.
struct Call {
    settings: Settings, deadline: u64, most: u32, before: u32, earlier: u32, permit: u64, source: Option<usize>, report: Report,
}

impl Model<'_> {
    pub(crate) fn call(&mut self, depth: usize, fewer: u32, inherited: u64) -> Result<Result<usize, Failed>, Halt> {
        let (began, settings) = (self.now, self.case.calls[depth]);
        let own = settings.deadline.map_or(NEVER, |deadline| began + deadline);
        let most = settings.attempts.saturating_sub(fewer).max(1);
        let report = Report { depth, outcome: "dropped", ..Report::default() };
        let deadline = own.min(inherited);
        let mut call = Call { settings, deadline, most, before: 0, earlier: 0, permit: 0, source: None, report };
        self.refused = None;
        self.cancels.push(settings.cancel.map_or(NEVER, |cancel| began + cancel));
        let mut ended = if settings.cancel == Some(0) { Err(Halt::Cancelled(depth)) } else { self.attempts(&mut call) };
        self.cancels.pop();
        if matches!(ended, Err(Halt::Cancelled(stops)) if stops == depth) {
            call.report.outcome = "cancelled";
            ended = Ok(Err(stopped("cancelled", call.source)));
        }
        let mut report = call.report;
        report.elapsed = self.now - began;
        if let Some(budget) = settings.budget {
            self.give(budget, call.permit); // Its retry never began.
            report.level = Some(self.levels[budget]);
        }
        self.seen.reports.push(report);
        self.failed_inside = if report.outcome.starts_with("success") { 0 } else { report.attempts.saturating_sub(1 + call.before) };
        let shared = matches!(report.outcome, "budget" | "hint_too_long" | "cancelled") || report.outcome == "deadline" && inherited <= own;
        (self.progress, self.refused) = (0, shared.then_some(report.outcome));
        ended
    }

    fn attempts(&mut self, call: &mut Call) -> Result<Result<usize, Failed>, Halt> {
        let of_use = ((call.deadline - self.now) / 10).min(ms(50));
        let mut paid = None;
        loop {
            (self.failed_inside, self.progress) = (0, 0);
            call.report.attempts += 1;
            let ended = self.attempt(call);
            call.earlier += self.failed_inside;
            if self.progress > 0 { (call.before, call.earlier) = (self.progress - 1, 0) }
            if let Some(end) = cut_off(call, &ended) {
                call.report.verdict = Some(Transient);
                return Ok(Err(end));
            }
            let Ended { mut result, other } = ended?;
            let Some(failed) = self.failure(call, result) else {
                call.report.outcome = if paid.or(other.map(|_| 0)).is_some() { "success_after_retry" } else { "success" };
                call.settings.budget.inspect(|budget| self.give(*budget, paid.unwrap_or(200)));
                return Ok(result.expect("it was not cut"));
            };
            call.source = failed.run;
            // Of two attempts, the dearer failure counts.
            let (mut dearer, mut hint) = (failed, failed.hint);
            if let Some(other) = other.filter(|_| may_retry(&call.settings, failed)) {
                if price(other) > price(failed) { dearer = other }
                hint = hint.max(other.hint);
            }
            call.report.verdict = Some(dearer.verdict);
            let outcome = match self.decide(call, failed, dearer, hint, call.deadline.checked_sub(self.now + of_use)) {
                Ok(delay) => {
                    let (depth, after, from, end) = (call.report.depth, call.report.attempts, self.now, self.now + delay);
                    self.seen.events.push(Event::Retries { depth, after, verdict: dearer.verdict, delay, at: from });
                    call.permit = self.price(call, dearer);
                    let waited = self.pass(if call.settings.blocking { end + self.case.late } else { end.next_multiple_of(ms(1)) });
                    call.report.waited += self.now - from;
                    waited?;
                    let mut late = self.is_late(call);
                    if let Some((takes, fails_after)) = call.settings.before.filter(|_| !late) {
                        self.seen.events.push(Event::Prepares { depth, at: self.now });
                        self.limits.push((call.deadline, !call.settings.blocking && call.settings.is_limited()));
                        let prepared = self.pass(self.now + takes);
                        self.limits.pop();
                        self.gone(depth, 0);
                        if let Some(end) = cut_off(call, &prepared) { return Ok(Err(end)) }
                        prepared?;
                        if after == fails_after {
                            call.report.outcome = "not_retryable";
                            return Ok(Err(Failed { verdict: Unknown, hint: None, run: Some(0), stopped: None, timed_out: false }));
                        }
                        late = self.is_late(call);
                    }
                    if !late {
                        paid = Some(std::mem::take(&mut call.permit));
                        continue;
                    }
                    result = result.filter(Result::is_err); // An `Ok` is not kept.
                    "deadline" // A timer rounds up, and a thread sleeps longer.
                }
                Err(outcome) => outcome,
            };
            call.report.outcome = outcome;
            let unready = matches!(result, Some(Ok(_))) && call.settings.asks == Asks::Until;
            return Ok(result.filter(|_| !unready).unwrap_or(Err(stopped(outcome, call.source))));
        }
    }

    fn is_late(&self, call: &Call) -> bool { self.now >= call.deadline && call.settings.is_limited() }

    /// The order of decisions, from 2 to 7: the delay, or the outcome.
    fn decide(&mut self, call: &Call, failed: Failed, dearer: Failed, hint: Option<u64>, latest: Option<u64>)
        -> Result<u64, &'static str>
    {
        let (settings, in_a_row) = (call.settings, call.report.attempts - call.before);
        let or_timeout = |outcome| Err(if failed.timed_out { "timeout" } else { outcome });
        if !may_retry(&settings, failed) { return or_timeout("not_retryable") } // 2
        if let Some(outcome) = self.refused { return Err(outcome) } // 3
        if in_a_row >= call.most { return or_timeout("attempts_exhausted") } // 4
        if self.seen.events.len() >= self.case.off_at { return or_timeout("disabled") } // 5
        let base = if dearer.verdict == Throttled && hint.is_none() { 10 * BASE } else { BASE }; // 6
        let ceiling = (base << (in_a_row - 1)).min(settings.max_delay);
        let low = if settings.jitter { 0 } else { ceiling };
        let (low, high) = match hint {
            Some(hint) if hint > MAX_RETRY_AFTER => return Err("hint_too_long"),
            Some(hint) if hint < ceiling => (low.max(hint), ceiling),
            Some(hint) => (hint, (hint + (ceiling - low).min(hint / 4)).min(MAX_RETRY_AFTER)),
            None => (low, ceiling),
        };
        let Some(latest) = latest.filter(|latest| low <= *latest && (high == 0 || *latest > 0)) else { return Err("deadline") };
        if let Some(budget) = settings.budget { // 7
            self.levels[budget] = self.levels[budget].checked_sub(self.price(call, dearer)).ok_or("budget")?;
        }
        Ok((self.draw)(low, high.min(latest)))
    }

    /// Whether an attempt failed. `None` is one that its timeout cut.
    fn failure(&self, call: &Call, result: Option<Result<usize, Failed>>) -> Option<Failed> {
        let unfit = Failed { timed_out: false, stopped: None, ..timed_out(call.source) };
        match result {
            Some(Ok(run)) => (call.settings.asks != Asks::Nothing && self.case.steps[run - 1].unfit).then_some(unfit),
            Some(Err(failed)) => Some(failed),
            None => Some(timed_out(call.source)),
        }
    }

    /// No retry after progress is free.
    fn price(&self, call: &Call, failed: Failed) -> u64 {
        price(failed).max(if self.progress == call.report.attempts { 2000 } else { 0 })
    }

    fn attempt(&mut self, call: &mut Call) -> Result<Ended, Halt> {
        let (settings, depth, number) = (call.settings, call.report.depth, call.report.attempts);
        let cuts = !settings.blocking && settings.is_limited();
        if let (Some(hedge), 1) = (settings.hedge, number) {
            let mut running = vec![];
            self.limits.push((call.deadline, cuts));
            let ended = self.race(call, self.now + hedge, &mut running);
            self.limits.pop();
            for one in &running { self.gone(depth, one.number) }
            return ended;
        }
        self.limits.push((settings.timeout.map_or(NEVER, |timeout| self.now + timeout).min(call.deadline), cuts));
        self.begins(depth, number, call.most + call.before, NEVER);
        let body = self.body(call);
        self.limits.pop();
        self.gone(depth, number);
        let timed_out = matches!(body, Err(Halt::Cut(cut)) if cut == depth) && self.now < call.deadline;
        Ok(Ended { result: if timed_out { None } else { Some(body?) }, other: None })
    }

    fn body(&mut self, call: &Call) -> Result<Result<usize, Failed>, Halt> {
        let depth = call.report.depth + 1;
        let Some(inside) = self.case.calls.get(depth) else {
            let (takes, result) = self.step(call.report.attempts)?;
            if takes > 0 { self.pass(self.now + takes)? }
            return Ok(result);
        };
        let fewer = match inside.nested { Nested::Add => call.earlier, Nested::Outermost => u32::MAX, Nested::Multiply => 0 };
        let ended = self.call(depth, fewer, call.deadline)?;
        match self.case.around {
            Around::WaitsFirst if ended.is_err() => self.pass(self.now + ms(1))?,
            Around::SaysProgress if ended.is_err() => self.progress = call.report.attempts,
            _ => {}
        }
        Ok(ended)
    }

    /// Two attempts side by side. Those that still run stay in `running`.
    fn race(&mut self, call: &mut Call, hedge: u64, running: &mut Vec<Running>) -> Result<Ended, Halt> {
        let (settings, depth) = (call.settings, call.report.depth);
        let (mut hedge, mut other) = (Some(hedge), None);
        loop {
            if running.is_empty() || hedge == Some(self.now) {
                if !running.is_empty() { (hedge, call.report.attempts, call.report.hedge) = (None, 2, Some("lost")) }
                let cut = settings.timeout.map_or(NEVER, |timeout| self.now + timeout);
                self.begins(depth, call.report.attempts, call.most + call.before, cut);
                let (takes, result) = self.step(call.report.attempts)?;
                let cut = if cut < call.deadline { cut } else { NEVER };
                running.push(Running { number: call.report.attempts, ends: self.now + takes, cut, result });
            }
            let next = |one: &Running| (one.ends.min(one.cut), one.cut < one.ends);
            let first = (0..running.len()).min_by_key(|one| next(&running[*one])).unwrap_or(0);
            let at = next(&running[first]).0;
            if let Some(due) = hedge.filter(|due| *due < at) {
                self.pass(due)?;
                let half = settings.budget.is_some_and(|budget| 2 * self.levels[budget] >= self.case.capacities[budget]);
                let alone = self.case.calls[..depth].iter().all(|around| around.hedge.is_none());
                let time = call.deadline - self.now > settings.hedge.unwrap_or(0);
                let on = self.seen.events.len() < self.case.off_at;
                if !(call.most > 1 && settings.idempotent && on && alone && time) { hedge = None }
                else if !half { (hedge, call.report.hedge) = (None, Some("refused")) }
                continue;
            }
            if at > self.now { self.pass(at)? }
            let one = running.remove(first);
            self.gone(depth, one.number);
            let result = (one.ends <= one.cut).then_some(one.result);
            let failed = self.failure(call, result);
            if failed.is_none() && one.number == 2 { call.report.hedge = Some("won") }
            match failed.filter(|failed| !running.is_empty() && may_retry(&settings, *failed)) {
                Some(one) => (other, call.report.verdict, call.source) = (Some(one), Some(one.verdict), one.run),
                None => return Ok(Ended { result, other }),
            }
        }
    }
}

/// Ends a call whose deadline cut what it does.
fn cut_off<T>(call: &mut Call, ended: &Result<T, Halt>) -> Option<Failed> {
    let own = matches!(ended, Err(Halt::Cut(depth)) if *depth == call.report.depth);
    if own { call.report.outcome = "deadline" }
    own.then(|| stopped("deadline", call.source))
}

fn may_retry(settings: &Settings, failed: Failed) -> bool {
    match failed.verdict { Permanent | Unknown => false, Refused | Conflict => true, Transient | Throttled => settings.idempotent }
}

fn price(failed: Failed) -> u64 {
    match failed.verdict { _ if failed.timed_out => 6000, Throttled => 4000, Conflict => 0, _ => 2000 }
}
