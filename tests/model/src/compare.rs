//! Plays cases, and compares what is seen with the model.

use std::fmt::{self, Write as _};
use std::panic::resume_unwind;

use tokio::runtime::Runtime;
use tokio::time::Instant;

use crate::case::{Case, Event, Nested, Rule, Seen, Settings, Step, Verdict};
use crate::plans::Plan;
use crate::play::{Form, Played, play, runtime};
use crate::stage::Model;

/// As `off_at`: retries stay on.
pub(crate) const NOBODY: usize = usize::MAX;

/// What was compared.
#[derive(Default)]
pub(crate) struct Tally {
    pub(crate) scripts: u64,
    pub(crate) plays: u64,
    pub(crate) disagreements: u64,
    pub(crate) shortest: Option<(usize, String)>,
}

/// Which steps of an alphabet follow.
pub(crate) type Choose<'c> = dyn FnMut(&[Step]) -> &[Step] + 'c;

pub(crate) struct Tester {
    runtime: (Runtime, Instant),
    pub(crate) tally: Tally,
}

impl Tester {
    pub(crate) fn new() -> Self {
        Self {
            runtime: runtime(),
            tally: Tally::default(),
        }
    }

    /// Plays the case with the scripts that it asks for. `choose` says which of the steps of an alphabet follow.
    pub(crate) fn explore(&mut self, case: &mut Case, plan: &Plan, choose: &mut Choose<'_>) {
        let mut lowest = |low, _| low;
        let model = Model::run(case, &mut lowest, None);
        let (starved, events) = (model.starved, model.seen.events.len());
        if !starved && (case.off_at == NOBODY || case.off_at < events) {
            self.check(case, plan.drops);
        }
        if starved && case.steps.len() < plan.most {
            for step in choose(&plan.alphabet) {
                case.steps.push(*step);
                self.explore(case, plan, choose);
                case.steps.pop();
            }
        }
    }

    /// Plays a case with functions of each form, and drops their calls at every poll.
    pub(crate) fn check(&mut self, case: &Case, drops: bool) {
        self.tally.scripts += 1;
        // A run has no key `nested`, no `before_retry` and no `hedge`.
        let keys = |call: &Settings| {
            call.nested != Nested::Add || call.before.is_some() || call.hedge.is_some()
        };
        // Nor does `Run::on` ask what it does not select, so it does not know whether that is permanent.
        let on = |call: &Settings| call.rule == Rule::On && call.idempotent == Some(false);
        let keys = case.calls.iter().any(keys) || case.calls.iter().skip(1).any(on);
        // Only a run says nothing of `idempotent`.
        let runs = case.calls.iter().any(|call| call.idempotent.is_none());
        for form in [Form::Keys, Form::Policy, Form::Run] {
            if form == Form::Run && keys || form != Form::Run && runs {
                continue;
            }
            let played = self.play(case, form, None);
            let polls = if drops { played.polls.len() } else { 0 };
            for poll in 1..=polls {
                self.play(case, form, Some(poll));
            }
        }
    }

    fn play(&mut self, case: &Case, form: Form, drop: Option<usize>) -> Played {
        self.tally.plays += 1;
        let case = &mut case.clone();
        for call in &mut case.calls {
            *call = call.with_policy(form == Form::Keys);
        }
        let mut played = play(&self.runtime, case, form, self.tally.scripts, drop);
        let mut delays = played
            .seen
            .events
            .clone()
            .into_iter()
            .filter_map(|event| match event {
                Event::Retries { delay, .. } => Some(delay),
                _ => None,
            });
        let mut draw =
            |low: u64, high: u64| delays.next().map_or(low, |delay| delay.clamp(low, high));
        let dropped = played.polls.last().copied().filter(|_| drop.is_some());
        let model = Model::run(case, &mut draw, dropped);
        let (mut expected, by, starved) = (model.seen, model.rules, model.starved);
        for seen in [&mut played.seen, &mut expected] {
            order(&mut seen.events);
            // `Policy::run` keeps no earlier error as the source of a `Stopped`.
            if let (Form::Run, Some(Err(failed))) = (form, &mut seen.result) {
                failed.run = failed.run.filter(|_| failed.stopped.is_none());
            }
            // `Run::on` does not ask what it does not select.
            for report in &mut seen.reports {
                let ruled = form == Form::Run && case.calls[report.depth].rule == Rule::On;
                report.verdict = report.verdict.map(|verdict| match verdict {
                    Verdict::Permanent if ruled => Verdict::Unknown,
                    verdict => verdict,
                });
            }
        }
        if !starved && played.seen != expected {
            self.disagree(case, dropped, &played.seen, &expected, &by);
        }
        played
    }

    fn disagree(
        &mut self,
        case: &Case,
        dropped: Option<(usize, u64)>,
        played: &Seen,
        expected: &Seen,
        rules: &[(usize, usize, &'static str)],
    ) {
        self.tally.disagreements += 1;
        let size = expected.events.len() + 4 * case.calls.len() + usize::from(dropped.is_some());
        if self
            .tally
            .shortest
            .as_ref()
            .is_none_or(|(other, _)| size < *other)
        {
            // Only the steps that were played.
            let began = |event: &&Event| matches!(event, Event::Begins { depth, .. } if *depth + 1 == case.calls.len());
            let runs = played
                .events
                .iter()
                .filter(began)
                .count()
                .max(expected.events.iter().filter(began).count());
            let mut text = first_difference(played, expected, rules);
            for (depth, call) in case.calls.iter().enumerate() {
                let _ = writeln!(text, "call {depth}: {call:?}");
            }
            for (number, step) in (1..).zip(case.steps.iter().take(runs)) {
                let _ = writeln!(text, "run {number}: {step:?}");
            }
            let others = Case {
                calls: vec![],
                steps: vec![],
                ..case.clone()
            };
            let _ = writeln!(text, "{others:?}");
            if let Some((events, at)) = dropped {
                let _ = writeln!(text, "dropped after {events} events at {at}");
            }
            for (who, seen) in [("model", expected), ("crate", played)] {
                let _ = writeln!(text, "{who}: {:?}", seen.result);
                let events = seen.events.iter().map(|event| format!("  {event:?}\n"));
                text.extend(
                    events.chain(seen.reports.iter().map(|report| format!("  {report:?}\n"))),
                );
            }
            self.tally.shortest = Some((size, text));
        }
    }
}

/// Where the crate differs from the model first, and the rule that decided there.
fn first_difference(
    played: &Seen,
    expected: &Seen,
    rules: &[(usize, usize, &'static str)],
) -> String {
    fn first<T: PartialEq>(some: &[T], others: &[T]) -> Option<usize> {
        let most = some.len().max(others.len());
        (0..most).find(|at| some.get(*at) != others.get(*at))
    }
    let event = first(&played.events, &expected.events);
    let report = first(&played.reports, &expected.reports);
    let before = |(events, reports, _): &&(usize, usize, _)| match event {
        Some(event) => *events <= event,
        None => report.is_none_or(|report| *reports <= report),
    };
    let rule = rules.iter().take_while(before).last();
    let rule = rule.map_or("1: the body runs", |(.., rule)| rule);
    let place = match (event, report) {
        (Some(event), _) => format!("event {}", event + 1),
        (None, Some(report)) => format!("report {}", report + 1),
        (None, None) => "result".to_owned(),
    };
    format!("they differ first in {place}, by the rule \"{rule}\"\n")
}

/// Works on two threads, and adds up what they compared.
pub(crate) fn on_two_threads(work: impl Fn(&mut Tester, usize) + Sync) -> Tally {
    let part = |part| {
        let mut tester = Tester::new();
        work(&mut tester, part);
        tester.tally
    };
    std::thread::scope(|scope| {
        let other = scope.spawn(|| part(1));
        part(0).and(other.join().unwrap_or_else(|panic| resume_unwind(panic)))
    })
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            scripts,
            plays,
            disagreements,
            shortest,
        } = self;
        write!(
            f,
            "{scripts} scripts, {plays} plays, {disagreements} disagreements"
        )?;
        match shortest {
            Some((_, text)) => write!(f, "\n{text}"),
            None => Ok(()),
        }
    }
}

impl Tally {
    pub(crate) fn and(mut self, other: Self) -> Self {
        self.scripts += other.scripts;
        self.plays += other.plays;
        self.disagreements += other.disagreements;
        self.shortest = self
            .shortest
            .into_iter()
            .chain(other.shortest)
            .min_by_key(|(size, _)| *size);
        self
    }
}

/// Two attempts that are dropped in the same moment may be so in any order.
fn order(events: &mut [Event]) {
    let place = |event: &Event| match event {
        Event::Gone { depth, at, number } => Some((*depth, *at, *number)),
        _ => None,
    };
    let together = |one: &Event, other: &Event| match (place(one), place(other)) {
        (Some((depth, at, _)), Some((other, then, _))) => (depth, at) == (other, then),
        _ => false,
    };
    for gone in events.chunk_by_mut(together) {
        gone.sort_by_key(|event| place(event));
    }
}
