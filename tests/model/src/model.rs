//! What a call does, as `src/retry.md` and the guide say it. It uses nothing of the crate.

use crate::case::Verdict::{Conflict, Permanent, Refused, Throttled, Transient, Unknown};
use crate::case::{Around, Asks, BASE, ENDLESS, Event, Failed, NEVER, Nested, Report, Rule, Settings, ms};
use crate::stage::{Halt, Model, stopped, timed_out};

/// How an attempt ended (`None` if its timeout cut it), and how the one beside it failed.
struct Ended { result: Option<Result<usize, Failed>>, other: Option<Failed> }

/// An attempt of a call that hedges.
struct Running { number: u32, ends: u64, cut: u64, result: Result<usize, Failed> }

/// A call. The attempts `before` progress do not count. `permit` is what the budget gave for a retry that has not
/// begun. `cut` is the limit of the attempt, `of_use` what the deadline leaves an attempt, and `patience` when the call
/// waits no longer in a pause. The delay before the present attempt `was_cut`.
struct Call {
    settings: Settings, deadline: u64, cut: u64, most: u32, before: u32, permit: u64, of_use: u64, patience: Option<u64>, was_cut: bool, source: Option<usize>, report: Report,
}

impl Model<'_> {
    pub(crate) fn call(&mut self, depth: usize, fewer: u32, inherited: u64) -> Result<Result<usize, Failed>, Halt> {
        let (began, settings) = (self.now, self.case.calls[depth]);
        let own = settings.deadline.map_or(NEVER, |deadline| began + deadline);
        let most = if settings.attempts == u32::MAX && fewer < u32::MAX { u32::MAX } else { settings.attempts.saturating_sub(fewer).max(1) };
        let report = Report { depth, outcome: "dropped", ..Report::default() };
        let deadline = own.min(inherited);
        let of_use = ((deadline - began) / 10).min(ms(50));
        let mut call = Call { settings, deadline, cut: NEVER, most, before: 0, permit: 0, of_use, patience: None, was_cut: false, source: None, report };
        self.refused = None;
        self.earlier.push([0; 3]);
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
        // A call passes what it remembers to the outer call.
        let earlier = self.earlier.pop().unwrap_or_default();
        for (failed, earlier) in self.failed_inside.iter_mut().zip(earlier) { *failed += earlier }
        self.failed_inside[depth] = if report.outcome.starts_with("success") { 0 } else { report.attempts.saturating_sub(1 + call.before) };
        let refused = match report.outcome {
            "deadline" | "paused" => Some("deadline"),
            "success" | "success_after_retry" => None,
            refused @ ("budget" | "hint_too_long" | "cancelled") => Some(refused),
            _ => self.refused, // That of a call further inside.
        };
        self.refused = refused.filter(|refused| *refused != "deadline" || inherited <= own);
        self.progress = 0;
        ended
    }

    fn attempts(&mut self, call: &mut Call) -> Result<Result<usize, Failed>, Halt> {
        let mut paid = None;
        if let Some(outcome) = self.ends_between(call)? {
            call.report.outcome = outcome;
            return Ok(Err(stopped(outcome, None)));
        }
        loop {
            (self.failed_inside, self.progress) = ([0; 3], 0);
            call.report.attempts += 1;
            // It knows nothing of how many hedges a function has.
            let hedges = self.seen.reports.iter().filter(|report| report.hedge.is_some()).count();
            self.starved |= hedges > 9 || self.seen.events.len() >= ENDLESS;
            if self.starved { return Err(Halt::Dropped) }
            let ended = self.attempt(call);
            let failed_inside = std::mem::take(&mut self.failed_inside);
            let earlier = self.earlier.last_mut().expect("that of this call");
            for (earlier, failed) in earlier.iter_mut().zip(failed_inside) { *earlier += failed }
            if self.progress > 0 { (call.before, *earlier) = (self.progress - 1, [0; 3]) }
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
            self.pause(call, failed);
            // Of two attempts, the dearer failure counts.
            let (mut dearer, mut hint) = (failed, failed.hint);
            if let Some(other) = other.filter(|_| may_retry(&call.settings, failed)) {
                if price(other) > price(failed) { dearer = other }
                hint = hint.max(other.hint);
            }
            call.report.verdict = Some(dearer.verdict);
            let latest = self.latest(call);
            let outcome = match self.decide(call, failed, dearer, hint, latest) {
                Ok(delay) => {
                    let (depth, after, from, end) = (call.report.depth, call.report.attempts, self.now, self.now + delay);
                    self.seen.events.push(Event::Retries { depth, after, verdict: dearer.verdict, delay, at: from });
                    (call.permit, call.patience) = (self.taken, None);
                    let waited = self.pass(if call.settings.blocking { end + self.case.late } else { end.next_multiple_of(ms(1)) });
                    call.report.waited += self.now - from;
                    waited?;
                    let mut ends = self.ends_between(call)?;
                    if let Some((takes, fails_after)) = call.settings.before.filter(|_| ends.is_none()) {
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
                    }
                    // Those that ask have a `before_retry`, if only one that does nothing. After it, a function without limits has the
                    // error of its attempt to return.
                    if ends.is_none() && call.settings.asks != Asks::Nothing {
                        let late = self.now >= call.deadline && !call.settings.is_limited() && matches!(result, Some(Err(_)));
                        ends = if late { Some("deadline") } else { self.ends_between(call)? };
                    }
                    let Some(outcome) = ends else {
                        paid = Some(std::mem::take(&mut call.permit));
                        continue;
                    };
                    result = result.filter(Result::is_err); // An `Ok` is not kept.
                    outcome
                }
                Err(outcome) => outcome,
            };
            call.report.outcome = outcome;
            let unready = matches!(result, Some(Ok(_))) && call.settings.asks == Asks::Until;
            return Ok(result.filter(|_| !unready).unwrap_or(Err(stopped(outcome, call.source))));
        }
    }

    /// Why the next attempt does not begin: a timer rounds up, and a thread sleeps longer.
    fn ends_between(&mut self, call: &mut Call) -> Result<Option<&'static str>, Halt> {
        let paused = self.has_to_pause(call)?;
        let late = self.now >= call.deadline && call.settings.is_limited();
        Ok(paused.then_some("paused").or(late.then_some("deadline")))
    }

    /// Waits for the end of the pause. Returns whether that is too late.
    fn has_to_pause(&mut self, call: &mut Call) -> Result<bool, Halt> {
        let Some(budget) = call.settings.budget else { return Ok(false) };
        while self.pauses[budget] > self.now {
            let end = self.pauses[budget].min(*call.patience.get_or_insert(self.now + call.settings.max_retry_after));
            if end <= self.now { break }
            if call.settings.is_limited() && self.latest(call).is_none_or(|latest| end - self.now > latest) { return Ok(true) }
            let from = self.now;
            let waited = self.pass(end.next_multiple_of(ms(1)));
            call.report.waited += self.now - from;
            waited?;
        }
        Ok(false)
    }

    /// How long a delay is at most.
    fn latest(&self, call: &Call) -> Option<u64> { call.deadline.checked_sub(self.now + call.of_use) }

    /// A server said how long to wait: the calls that share the budget do so too.
    fn pause(&mut self, call: &Call, failed: Failed) {
        let hint = failed.hint.filter(|hint| self.case.pauses && failed.verdict == Throttled && *hint <= call.settings.max_retry_after);
        if let (Some(budget), Some(hint)) = (call.settings.budget, hint) {
            self.pauses[budget] = self.pauses[budget].max(self.now + hint);
        }
    }

    /// The order of decisions, from 2 to 7: the delay, or the outcome.
    fn decide(&mut self, call: &mut Call, failed: Failed, dearer: Failed, hint: Option<u64>, latest: Option<u64>)
        -> Result<u64, &'static str>
    {
        let (settings, in_a_row) = (call.settings, call.report.attempts - call.before);
        let or_timeout = |outcome| Err(if failed.timed_out { "timeout" } else { outcome });
        if !may_retry(&settings, failed) { return or_timeout("not_retryable") } // 2
        // With unlimited attempts, a refusal is a long wait.
        let (unlimited, mut held_back) = (call.most == u32::MAX, false);
        match self.refused { // 3
            Some("budget" | "hint_too_long") if unlimited => held_back = true,
            Some(outcome) => return Err(outcome),
            None => {}
        }
        if in_a_row >= call.most { return or_timeout("attempts_exhausted") } // 4
        if self.seen.events.len() >= self.case.off_at { // 5
            if !unlimited { return or_timeout("disabled") }
            held_back = true;
        }
        let hint = hint.map(|hint| if unlimited { hint.min(settings.max_retry_after) } else { hint });
        let empty = settings.budget.is_some_and(|budget| self.levels[budget] < self.price(call, dearer));
        held_back |= empty && unlimited;
        let base = if dearer.verdict == Throttled && hint.is_none() { 10 * BASE } else { BASE }; // 6
        let grown = (base << (in_a_row - 1).min(30)).min(settings.max_delay);
        let ceiling = if held_back { settings.max_delay } else { grown };
        let low = if settings.jitter { 0 } else { ceiling };
        let (low, high) = match hint {
            Some(hint) if hint > settings.max_retry_after => return Err("hint_too_long"),
            Some(hint) if hint < ceiling => (low.max(hint), ceiling),
            Some(hint) => (hint, hint + (ceiling - low).min(hint / 4)),
            None => (low, ceiling),
        };
        let Some(latest) = latest.filter(|latest| !call.was_cut && low <= *latest && (high == 0 || *latest > 0)) else { return Err("deadline") };
        self.taken = if empty && unlimited { 0 } else { self.price(call, dearer) };
        if let Some(budget) = settings.budget { // 7
            self.levels[budget] = self.levels[budget].checked_sub(self.taken).ok_or("budget")?;
        }
        // A range that has to be cut is its upper half, and the attempt after it is the last.
        call.was_cut = latest < high;
        let (low, high) = if call.was_cut { (low.max(latest / 2), latest) } else { (low, high) };
        Ok((self.draw)(low, high))
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

    /// A transient failure at the limit costs as much as a timeout, and no retry after progress is free.
    fn price(&self, call: &Call, failed: Failed) -> u64 {
        match price(failed) {
            2000 if failed.verdict == Transient && self.now + ms(1) >= call.cut => 6000,
            price => price.max(if self.progress == call.report.attempts { 2000 } else { 0 }),
        }
    }

    fn attempt(&mut self, call: &mut Call) -> Result<Ended, Halt> {
        let (settings, depth, number) = (call.settings, call.report.depth, call.report.attempts);
        let cuts = !settings.blocking && settings.is_limited();
        call.cut = settings.timeout.map_or(NEVER, |timeout| self.now + timeout);
        if let (Some(hedge), 1) = (settings.hedge, number) {
            let mut running = vec![];
            self.limits.push((call.deadline, cuts));
            let ended = self.race(call, self.now + hedge, &mut running);
            self.limits.pop();
            for one in &running { self.gone(depth, one.number) }
            return ended;
        }
        self.limits.push((call.cut.min(call.deadline), cuts));
        self.begins(depth, number, call.most.saturating_add(call.before), NEVER);
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
        let fewer = match inside.nested { Nested::Add => self.fewer(depth), Nested::Outermost => u32::MAX, Nested::Multiply => 0 };
        let ended = self.call(depth, fewer, call.deadline)?;
        match self.case.around {
            Around::WaitsFirst if ended.is_err() => self.pass(self.now + ms(1))?,
            Around::Hides if ended.is_err() => {
                return Ok(Err(Failed { verdict: Transient, hint: None, run: Some(0), stopped: None, timed_out: false }));
            }
            Around::SaysProgress if ended.is_err() => self.progress = call.report.attempts,
            _ => {}
        }
        Ok(ended)
    }

    /// The failed retries of the call at this depth in earlier attempts around it. One that multiplies hides what is around it.
    fn fewer(&self, depth: usize) -> u32 {
        let around = self.earlier.iter().zip(&self.case.calls).rev();
        let (mut sum, mut hidden) = (0, false);
        for (earlier, call) in around {
            if hidden { break }
            sum += earlier[depth];
            hidden = call.nested == Nested::Multiply;
        }
        sum
    }

    /// An attempt and its hedge, which share the timeout. Those that still run stay in `running`.
    fn race(&mut self, call: &mut Call, hedge: u64, running: &mut Vec<Running>) -> Result<Ended, Halt> {
        let (settings, depth) = (call.settings, call.report.depth);
        let (mut hedge, mut other) = (Some(hedge), None);
        let cut = call.cut;
        loop {
            if running.is_empty() || hedge == Some(self.now) {
                if !running.is_empty() { (hedge, call.report.attempts, call.report.hedge) = (None, 2, Some("lost")) }
                self.begins(depth, call.report.attempts, call.most.saturating_add(call.before), cut);
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
            match failed.filter(|failed| one.ends <= one.cut && !running.is_empty() && may_retry(&settings, *failed)) {
                Some(one) => {
                    self.pause(call, one);
                    (other, call.report.verdict, call.source) = (Some(one), Some(one.verdict), one.run);
                }
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
    let no_effect = matches!(failed.verdict, Refused | Conflict);
    let ruled = match settings.rule {
        Rule::Nothing if failed.verdict == Unknown => settings.idempotent,
        Rule::Nothing | Rule::On => failed.verdict != Permanent,
        Rule::When => failed.verdict != Unknown,
        Rule::Unless => !matches!(failed.verdict, Unknown | Throttled) && failed.stopped != Some("timeout"),
    };
    ruled && (settings.idempotent || no_effect)
}

fn price(failed: Failed) -> u64 {
    match failed.verdict { _ if failed.timed_out => 6000, Throttled => 4000, Conflict => 0, _ => 2000 }
}
