//! What a call does, as `src/retry.md` and the guide say it. It uses nothing of the crate.

use crate::case::Verdict::{Conflict, Permanent, Refused, Throttled, Transient, Unknown};
use crate::case::{Around, Asks, BASE, ENDLESS, Event, Failed, NEVER, Nested, Report, Rule, Settings, ms};
use crate::stage::{Halt, Model, Retries, stopped, timed_out};

/// How an attempt ended (`None` if its timeout cut it), and how the one beside it failed.
struct Ended { result: Option<Result<usize, Failed>>, other: Option<Failed> }

/// An attempt of a call that hedges.
struct Running { number: u32, ends: u64, cut: u64, result: Result<usize, Failed> }

/// A call. The attempts `before` progress do not count. `permit` is what the budget gave for a retry that has not
/// begun. `cut` is the limit of the attempt, `of_use` what the deadline leaves an attempt, and `patience` when the call
/// waits no longer in a pause. The delay before the present attempt `was_cut`. `opened` is where the present attempt is
/// among what is open, of which there was so much when the call had `begun`. `fault` is the one that its budget saw then.
struct Call {
    settings: Settings, deadline: u64, cut: u64, most: u32, before: u32, permit: u64, of_use: u64, patience: Option<u64>, was_cut: bool, progressed: bool, timed_out: bool, opened: Option<usize>, begun: usize, fault: Option<u32>, source: Option<usize>, report: Report,
}

impl Call {
    /// Progress begins the timeout again, which cuts nothing that blocks.
    fn progresses(&mut self, now: u64) {
        if let (Some(timeout), false) = (self.settings.timeout, self.settings.blocking) { self.cut = now + timeout }
    }
}

impl Model<'_> {
    pub(crate) fn call(&mut self, depth: usize, fewer: u32, inherited: u64) -> Result<Result<usize, Failed>, Halt> {
        let (began, settings) = (self.now, self.case.calls[depth]);
        let own = settings.deadline.map_or(NEVER, |deadline| began.saturating_add(deadline));
        let most = if settings.attempts == u32::MAX && fewer < u32::MAX { u32::MAX } else { settings.attempts.saturating_sub(fewer).max(1) };
        let report = Report { depth, outcome: "dropped", ..Report::default() };
        let deadline = own.min(inherited);
        let of_use = (deadline.saturating_sub(began) / 10).min(ms(50));
        let mut call = Call { settings, deadline, cut: NEVER, most, before: 0, permit: 0, of_use, patience: None, was_cut: false, progressed: false, timed_out: false, opened: None, begun: self.open.len(), fault: None, source: None, report };
        self.refused = None;
        self.earlier.push(Retries::default());
        (self.numbers[depth], self.pending[depth]) = (0, false);
        self.cancels.push(settings.cancel.map_or(NEVER, |cancel| began.saturating_add(cancel)));
        let mut ended = if settings.cancel == Some(0) { Err(Halt::Cancelled(depth)) } else { self.attempts(&mut call) };
        self.cancels.pop();
        if matches!(ended, Err(Halt::Cancelled(stops)) if stops == depth) {
            call.report.outcome = "cancelled";
            ended = Ok(Err(stopped("cancelled", call.source)));
        }
        let in_doubt = self.in_doubt(&call);
        let mut report = call.report;
        report.elapsed = self.now.saturating_sub(began);
        if let Some(budget) = settings.budget {
            self.give(budget, call.permit); // Its retry never began.
            report.level = Some(self.levels[budget]);
        }
        let outcome = report.outcome;
        let cut = call.timed_out && matches!(outcome, "timeout" | "deadline");
        if cut && self.is_open(&call) { report.verdict = Some(Unknown) }
        if in_doubt && !matches!(outcome, "success" | "success_after_retry" | "dropped") { report.outcome = "in_doubt" }
        self.seen.reports.push(report);
        // A call passes what it remembers to the outer call.
        let earlier = self.earlier.pop().unwrap_or_default();
        add(&mut self.failed_inside, earlier);
        self.failed_inside[depth][self.path >> 1] = if report.outcome.starts_with("success") { 0 } else { report.attempts.saturating_sub(1).saturating_sub(call.before) };
        let refused = match outcome {
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
        if let Some(outcome) = self.ends_between(call, true)? {
            call.report.outcome = outcome;
            return Ok(Err(stopped(outcome, None)));
        }
        let fault = call.settings.budget.map(|budget| self.faults[budget]);
        call.fault = fault.and_then(|fault| fault.is_on.then_some(fault.number));
        loop {
            (self.failed_inside, self.progress) = (Retries::default(), 0);
            call.report.attempts += 1;
            self.numbers[call.report.depth] = call.report.attempts;
            // It knows nothing of how many hedges a function has.
            let hedges = self.seen.reports.iter().filter(|report| report.hedge.is_some()).count();
            self.starved |= hedges > 9 || self.seen.events.len() >= ENDLESS;
            if self.starved { return Err(Halt::Dropped) }
            // Outer calls know of an attempt that must not run twice.
            if call.settings.idempotent == Some(false) && call.report.depth > 0 {
                call.opened = Some(self.open.len());
                self.open.push(call.report.depth);
            }
            let ended = self.attempt(call);
            let failed_inside = std::mem::take(&mut self.failed_inside);
            let earlier = self.earlier.last_mut().expect("that of this call");
            add(earlier, failed_inside);
            if self.progress > 0 { (call.before, *earlier) = (self.progress.saturating_sub(1), Retries::default()) }
            call.progressed |= self.progress > 0;
            if let Some(end) = self.cut_off(call, &ended) {
                call.report.verdict = Some(end.verdict);
                return Ok(Err(end));
            }
            let Ended { mut result, other } = ended?;
            let Some(failed) = self.failure(call, result) else {
                call.report.outcome = if paid.or(other.map(|_| 0)).is_some() { "success_after_retry" } else { "success" };
                if let Some(budget) = call.settings.budget {
                    self.give(budget, paid.unwrap_or(200));
                    // A fault ends with a success, and a serious one when all tokens are back.
                    if !self.faults[budget].is_serious || self.levels[budget] == self.case.capacities[budget] {
                        (self.faults[budget].is_on, self.faults[budget].is_serious) = (false, false);
                    }
                }
                self.is_known(call);
                return Ok(result.expect("it was not cut"));
            };
            call.source = failed.run;
            let in_doubt = self.in_doubt(call);
            if !in_doubt { self.pause(call, failed) }
            if !in_doubt && (failed.verdict == Permanent || matches!(failed.verdict, Refused | Conflict) && !call.progressed) { self.is_known(call) }
            // Of two attempts, the dearer failure counts.
            let (mut dearer, mut hint) = (failed, failed.hint);
            if let Some(other) = other.filter(|_| may_retry(&call.settings, failed)) {
                if price(other) > price(failed) { dearer = other }
                hint = hint.max(other.hint);
            }
            call.timed_out = failed.timed_out;
            call.report.verdict = Some(if in_doubt && failed.stopped != Some(NOT_READY) { Unknown } else { dearer.verdict });
            let latest = self.latest(call);
            let outcome = match self.decide(call, failed, dearer, hint, latest) {
                Ok(delay) => {
                    let (depth, after, from, end) = (call.report.depth, call.report.attempts, self.now, self.now.saturating_add(delay));
                    self.seen.events.push(Event::Retries { depth, after, verdict: dearer.verdict, delay, at: from });
                    (call.permit, call.patience) = (self.taken, None);
                    self.is_known(call);
                    self.open.truncate(call.begun);
                    let waited = self.pass(if call.settings.blocking { end.saturating_add(self.case.late) } else { end.next_multiple_of(ms(1)) });
                    call.report.waited += self.now.saturating_sub(from);
                    waited?;
                    let mut ends = self.ends_between(call, false)?;
                    if let Some((takes, fails_after)) = call.settings.before.filter(|_| ends.is_none()) {
                        self.seen.events.push(Event::Prepares { depth, at: self.now });
                        self.limits.push((call.deadline, !call.settings.blocking && call.settings.is_limited()));
                        let mut prepared = self.pass(self.now.saturating_add(takes));
                        if prepared.is_ok() && self.case.prepares && depth + 1 < self.case.calls.len() {
                            prepared = self.inner_call(call, 1 << depth).map(drop);
                            self.refused = None; // One in `before_retry` ends no outer call.
                        }
                        self.limits.pop();
                        self.gone(depth, 0);
                        if let Some(end) = self.cut_off(call, &prepared) { return Ok(Err(end)) }
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
                        ends = if late { Some("deadline") } else { self.ends_between(call, false)? };
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
            return Ok(result.filter(|_| !unready).unwrap_or(Err(self.stopped(call, outcome))));
        }
    }

    /// Why the next attempt does not begin: a timer rounds up, and a thread sleeps longer.
    /// With a deadline of zero, the first one begins.
    fn ends_between(&mut self, call: &mut Call, first: bool) -> Result<Option<&'static str>, Halt> {
        let paused = self.has_to_pause(call)?;
        let late = self.now >= call.deadline && call.settings.is_limited() && !(first && call.settings.deadline == Some(0));
        if paused { self.by("no attempt begins in a pause that does not fit the deadline") }
        if late { self.by("no attempt begins after the deadline") }
        Ok(paused.then_some("paused").or(late.then_some("deadline")))
    }

    /// Waits for the end of the pause. Returns whether that is too late.
    fn has_to_pause(&mut self, call: &mut Call) -> Result<bool, Halt> {
        let Some(budget) = call.settings.budget else { return Ok(false) };
        while self.pauses[budget] > self.now {
            let end = self.pauses[budget].min(*call.patience.get_or_insert(self.now.saturating_add(call.settings.max_retry_after)));
            if end <= self.now { break }
            if call.settings.is_limited() && self.latest(call).is_none_or(|latest| end.saturating_sub(self.now) > latest) { return Ok(true) }
            let from = self.now;
            self.by("no attempt begins in a pause");
            let waited = self.pass(end.next_multiple_of(ms(1)));
            call.report.waited += self.now.saturating_sub(from);
            waited?;
        }
        Ok(false)
    }

    /// How long a delay is at most.
    fn latest(&self, call: &Call) -> Option<u64> {
        call.deadline.checked_sub(self.now.saturating_add(call.of_use)).filter(|_| self.now < call.deadline)
    }

    /// A server said how long to wait: the calls that share the budget do so too.
    fn pause(&mut self, call: &Call, failed: Failed) {
        let hint = failed.hint.filter(|hint| self.case.pauses && failed.verdict == Throttled && *hint <= call.settings.max_retry_after);
        if let (Some(budget), Some(hint)) = (call.settings.budget, hint) {
            self.pauses[budget] = self.pauses[budget].max(self.now.saturating_add(hint));
        }
    }

    /// The order of decisions, from 2 to 7: the delay, or the outcome.
    fn decide(&mut self, call: &mut Call, failed: Failed, dearer: Failed, hint: Option<u64>, latest: Option<u64>)
        -> Result<u64, &'static str>
    {
        let (settings, in_a_row) = (call.settings, call.report.attempts.saturating_sub(call.before));
        let or_timeout = |outcome| Err(if failed.timed_out { "timeout" } else { outcome });
        self.by("2: the rules judge the failure");
        if !may_retry(&settings, failed) || self.in_doubt(call) { return or_timeout("not_retryable") }
        // With unlimited attempts, a refusal is a long wait.
        let (unlimited, mut held_back) = (call.most == u32::MAX, false);
        self.by("3: an inner call was refused a retry");
        match self.refused {
            Some("budget" | "hint_too_long") if unlimited => held_back = true,
            Some(outcome) => return Err(outcome),
            None => {}
        }
        self.by("4: an attempt is left");
        if in_a_row >= call.most { return or_timeout("attempts_exhausted") }
        self.by("5: retries are on");
        if self.seen.events.len() >= self.case.off_at {
            if !unlimited { return or_timeout("disabled") }
            held_back = true;
        }
        let hint = hint.map(|hint| if unlimited { hint.min(settings.max_retry_after) } else { hint });
        let price = self.price(call, dearer);
        let permit = self.permit(call, price);
        held_back |= permit.is_none() && unlimited;
        self.by("6: the delay, its hint and the deadline");
        let base = if dearer.verdict == Throttled && hint.is_none() { 10 * BASE } else { BASE };
        let grown = (base << in_a_row.saturating_sub(1).min(30)).min(settings.max_delay);
        let ceiling = if held_back { settings.max_delay } else { grown };
        let low = if settings.jitter { 0 } else { ceiling };
        let (low, high) = match hint {
            Some(hint) if hint > settings.max_retry_after => return Err("hint_too_long"),
            Some(hint) if hint < ceiling => (low.max(hint), ceiling),
            Some(hint) => (hint, hint + (ceiling - low).min(hint / 4)),
            None => (low, ceiling),
        };
        let Some(latest) = latest.filter(|latest| !call.was_cut && low <= *latest && (high == 0 || *latest > 0)) else { return Err("deadline") };
        self.by("7: the budget, and then 8: the delay passes");
        self.taken = match permit {
            Some(taken) => self.take(call, price, taken),
            None if unlimited => 0,
            None => return Err("budget"),
        };
        // A range that has to be cut is its upper half, and the attempt after it is the last.
        call.was_cut = latest < high;
        let (low, high) = if call.was_cut { (low.max(latest / 2), latest) } else { (low, high) };
        Ok((self.draw)(low, high))
    }

    /// What a retry of this price takes, unless the budget refuses it. In a serious fault, the first retries of calls that began before
    /// are free, unless they made progress.
    fn permit(&self, call: &Call, price: u64) -> Option<u64> {
        let Some(budget) = call.settings.budget else { return Some(price) };
        let (fault, fits) = (self.faults[budget], price <= self.levels[budget]);
        let began_before = !fault.is_on || call.fault != Some(fault.number);
        let progressed = self.progress == call.report.attempts;
        let may_be_free = self.case.free && began_before && !progressed && number(call) <= 5 && price <= self.case.capacities[budget];
        if may_be_free && (fault.is_serious || !fits) { Some(0) } else { fits.then_some(price) }
    }

    /// A fault begins with the first retry that takes something, unless that follows a first attempt that was never pending. It is
    /// serious once a third is gone, or if a retry is free.
    fn take(&mut self, call: &Call, price: u64, taken: u64) -> u64 {
        let Some(budget) = call.settings.budget else { return taken };
        self.levels[budget] = self.levels[budget].saturating_sub(taken);
        let capacity = self.case.capacities[budget];
        let serious = taken < price || price > 0 && capacity.saturating_sub(self.levels[budget]) > capacity / 3;
        let at_once = number(call) == 1 && !self.pending[call.report.depth];
        let fault = &mut self.faults[budget];
        if self.case.free && (serious || price > 0 && !at_once) {
            if !fault.is_on { fault.number += 1 }
            (fault.is_on, fault.is_serious) = (true, fault.is_serious || serious);
        }
        taken
    }

    /// Whether an attempt failed. `None` is one that its timeout cut.
    fn failure(&self, call: &Call, result: Option<Result<usize, Failed>>) -> Option<Failed> {
        let not_ready = (call.settings.asks == Asks::Until).then_some(NOT_READY);
        let unfit = Failed { timed_out: false, stopped: not_ready, ..timed_out(call.source) };
        match result {
            Some(Ok(run)) => (call.settings.asks != Asks::Nothing && self.case.steps[run - 1].unfit).then_some(unfit),
            Some(Err(failed)) => Some(failed),
            None => Some(timed_out(call.source)),
        }
    }

    /// A transient failure at the limit costs as much as a timeout, and no retry after progress is free. What is not ready has no price,
    /// unless attempts are limited.
    fn price(&self, call: &Call, failed: Failed) -> u64 {
        match price(failed) {
            price if failed.stopped == Some(NOT_READY) => if call.most == u32::MAX { 0 } else { price },
            2000 if failed.verdict == Transient && self.now.saturating_add(ms(1)) >= call.cut => 6000,
            price => price.max(if self.progress == call.report.attempts { 2000 } else { 0 }),
        }
    }

    fn attempt(&mut self, call: &mut Call) -> Result<Ended, Halt> {
        let (settings, depth, number) = (call.settings, call.report.depth, call.report.attempts);
        let cuts = !settings.blocking && settings.is_limited();
        call.cut = settings.timeout.map_or(NEVER, |timeout| self.now.saturating_add(timeout));
        if let (Some(hedge), 1) = (settings.hedge, number) {
            let mut running = vec![];
            self.limits.push((call.deadline, cuts));
            let ended = self.race(call, self.now.saturating_add(hedge.max(ms(1))), &mut running);
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

    fn body(&mut self, call: &mut Call) -> Result<Result<usize, Failed>, Halt> {
        let depth = call.report.depth + 1;
        if depth == self.case.calls.len() {
            let (takes, result) = self.step(call.report.attempts)?;
            if takes > 0 { self.pass(self.now.saturating_add(takes))? }
            return Ok(result);
        }
        let ended = self.inner_call(call, 0)?;
        match self.case.around {
            Around::WaitsFirst if ended.is_err() => self.pass(self.now + ms(1))?,
            Around::Hides if ended.is_err() => {
                return Ok(Err(Failed { verdict: Transient, hint: None, run: Some(0), stopped: None, timed_out: false }));
            }
            Around::SaysProgress if ended.is_err() => {
                self.progress = call.report.attempts;
                call.progresses(self.now);
            }
            _ => {}
        }
        Ok(ended)
    }

    /// The inner call, in the body or in `before_retry`. A task that carries a later attempt leaves it one attempt, and reports nothing.
    fn inner_call(&mut self, call: &Call, prepares: usize) -> Result<Result<usize, Failed>, Halt> {
        let (depth, before) = (call.report.depth + 1, (self.path, self.carried, self.failed_inside));
        let carries = prepares == 0 && self.case.around == Around::Carries && !self.case.calls[0].blocking;
        self.path |= 2 * prepares;
        self.carried |= carries && self.is_again(depth - 1);
        let fewer = match self.case.calls[depth].nested {
            Nested::Multiply => 0,
            Nested::Outermost => u32::MAX,
            Nested::Add if self.carried => u32::MAX,
            Nested::Add => self.fewer(depth),
        };
        let ended = self.call(depth, fewer, call.deadline);
        (self.path, self.carried) = (before.0, before.1);
        if carries { (self.failed_inside, self.refused) = (before.2, None) }
        if prepares > 0 { add(self.earlier.last_mut().expect("that of this call"), std::mem::take(&mut self.failed_inside)) }
        ended
    }

    /// Whether a call around is in a later attempt. One that multiplies hides what is around it.
    fn is_again(&self, depth: usize) -> bool {
        let around = (0..=depth).rev();
        let hides = around.clone().find(|around| self.case.calls[*around].nested == Nested::Multiply).unwrap_or(0);
        around.take_while(|around| *around >= hides).any(|around| self.numbers[around] > 1)
    }

    /// The failed retries of the call at this depth in earlier attempts around it. One that multiplies hides what is around it.
    fn fewer(&self, depth: usize) -> u32 {
        let around = self.earlier.iter().zip(&self.case.calls).rev();
        let (mut sum, mut hidden) = (0, false);
        for (earlier, call) in around {
            if hidden { break }
            sum += earlier[depth][self.path >> 1];
            hidden = call.nested == Nested::Multiply;
        }
        sum
    }

    /// Ends a call whose deadline cut what it does.
    fn cut_off<T>(&self, call: &mut Call, ended: &Result<T, Halt>) -> Option<Failed> {
        let own = matches!(ended, Err(Halt::Cut(depth)) if *depth == call.report.depth);
        if own { call.report.outcome = "deadline" }
        own.then(|| self.stopped(call, "deadline"))
    }

    /// Whether an inner call of this attempt may have run that must not run twice. A call between them that may run twice hides it.
    fn is_open(&self, call: &Call) -> bool {
        let depth = call.report.depth;
        let hides = |call: usize| self.case.calls[call].idempotent == Some(true);
        self.open[call.begun..].iter().any(|inner| *inner > depth && !(depth + 1..*inner).any(hides))
    }

    /// Whether such a call is open, and this one may not run twice either: then this one is not repeated.
    fn in_doubt(&self, call: &Call) -> bool {
        call.settings.idempotent != Some(true) && self.is_open(call)
    }

    /// The attempt had no effect, or what it had is known, or another one would not help: calls around may repeat it.
    fn is_known(&mut self, call: &mut Call) {
        if let Some(at) = call.opened.take() { self.open.remove(at); }
    }

    /// A limit that cut what may not run twice has an unknown verdict.
    fn stopped(&self, call: &Call, outcome: &'static str) -> Failed {
        let failed = stopped(outcome, call.source);
        if matches!(outcome, "timeout" | "deadline") && self.is_open(call) { Failed { verdict: Unknown, ..failed } } else { failed }
    }

    /// An attempt and its hedge, which share the timeout. Those that still run stay in `running`.
    fn race(&mut self, call: &mut Call, hedge: u64, running: &mut Vec<Running>) -> Result<Ended, Halt> {
        let (settings, depth) = (call.settings, call.report.depth);
        let (mut hedge, mut other) = (Some(hedge), None);
        loop {
            if running.is_empty() || hedge == Some(self.now) {
                if !running.is_empty() { (hedge, call.report.attempts, call.report.hedge) = (None, 2, Some("lost")) }
                self.begins(depth, call.report.attempts, call.most.saturating_add(call.before), call.cut);
                let (takes, result) = self.step(call.report.attempts)?;
                if self.case.steps[self.runs - 1].progress { call.progresses(self.now) }
                let cut = if call.cut < call.deadline { call.cut } else { NEVER };
                for one in &mut *running { one.cut = cut }
                running.push(Running { number: call.report.attempts, ends: self.now.saturating_add(takes), cut, result });
            }
            let next = |one: &Running| (one.ends.min(one.cut), one.cut < one.ends);
            let first = (0..running.len()).min_by_key(|one| next(&running[*one])).unwrap_or(0);
            let at = next(&running[first]).0;
            if let Some(due) = hedge.filter(|due| *due < at) {
                self.pass(due)?;
                let half = settings.budget.is_some_and(|budget| 2 * self.levels[budget] >= self.case.capacities[budget]);
                let alone = !self.carried && self.case.calls[..depth].iter().all(|around| around.hedge.is_none());
                let time = call.deadline.saturating_sub(self.now) > settings.hedge.unwrap_or(0).max(ms(1));
                let on = self.seen.events.len() < self.case.off_at;
                if !(call.most > 1 && settings.idempotent != Some(false) && on && alone && time) { hedge = None }
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

fn add(retries: &mut Retries, more: Retries) {
    for (sum, more) in retries.as_flattened_mut().iter_mut().zip(more.as_flattened()) { *sum += more }
}

/// Which retry follows. A hedge is none.
fn number(call: &Call) -> u32 { call.report.attempts.saturating_sub(u32::from(call.report.hedge == Some("lost"))) }


fn may_retry(settings: &Settings, failed: Failed) -> bool {
    let no_effect = matches!(failed.verdict, Refused | Conflict);
    let ruled = match settings.rule {
        Rule::Nothing if failed.verdict == Unknown => settings.idempotent == Some(true),
        // `on` does not look behind what was cut and may not run twice.
        Rule::On if failed.verdict == Unknown && failed.stopped.is_some() => settings.idempotent == Some(true),
        Rule::Nothing | Rule::On => failed.verdict != Permanent,
        Rule::When => failed.verdict != Unknown,
        Rule::Unless => !matches!(failed.verdict, Unknown | Throttled) && failed.stopped != Some("timeout"),
    };
    ruled && (settings.idempotent != Some(false) || no_effect)
}

/// What the model calls an `Ok` that is not ready.
const NOT_READY: &str = "not_ready";

fn price(failed: Failed) -> u64 {
    match failed.verdict { _ if failed.timed_out => 6000, Throttled => 4000, Conflict => 0, _ => 2000 }
}
