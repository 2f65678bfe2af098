//! The scripts that are all played: cases, and an alphabet for their steps.

use crate::case::Verdict::{Conflict, Permanent, Refused, Throttled, Transient, Unknown};
use crate::case::{Around, Asks, Case, Nested, Rule, Settings, Step, Verdict, ms};
use crate::compare::{NOBODY, Tally, on_two_threads};
#[cfg(test)]
use crate::random::Random;

/// Cases, an alphabet for their scripts, and how long these are at most.
pub(crate) struct Plan {
    pub(crate) name: &'static str,
    cases: Vec<Case>,
    pub(crate) alphabet: Vec<Step>,
    pub(crate) most: usize,
    pub(crate) drops: bool,
}

impl Plan {
    /// Plays all scripts.
    pub(crate) fn run(&self) -> Tally {
        on_two_threads(|tester, part| {
            for case in self.cases.iter().skip(part).step_by(2) {
                tester.explore(&mut case.clone(), self, &mut |all| all);
            }
        })
    }

    /// Plays at most twice so many of the scripts, by seed.
    #[cfg(test)]
    pub(crate) fn sample(&self, count: u64) -> Tally {
        on_two_threads(|tester, part| {
            let mut random = Random(part as u64);
            for _ in 0..count {
                let case = &self.cases[random.index(self.cases.len())];
                tester.explore(&mut case.clone(), self, &mut |all| {
                    let step = random.index(all.len());
                    &all[step..=step]
                });
            }
        })
    }
}

#[rustfmt::skip]
pub(crate) fn plans() -> Vec<Plan> {
    let blocks = Settings { blocking: true, ..PLAIN };
    let all = || alphabet(&TIMES, &ERRORS, false);
    let few = || alphabet(&[0, 10, 45], &FEW, false);
    let mut plans = Vec::new();
    let mut plan = |name, cases, alphabet, most, drops| {
        plans.push(Plan { name, cases, alphabet, most, drops });
    };
    for (name, longer, settings) in [("async", "async, longer", PLAIN), ("blocking", "blocking, longer", blocks)] {
        let cases = limits(&attempts(&of(&[settings]), 0, &[1, 2, 3, 4]), 0, &DEADLINES);
        let cases = budgets(&cases, &[0], &BUDGETS);
        let idempotent = each(&cases, &[true, false], |case, value| case.calls[0].idempotent = Some(value));
        let lates: &[u64] = if settings.blocking { &[0, ms(7)] } else { &[0] };
        let late = each(&idempotent, lates, |case, value| case.late = value);
        plan(name, late, all(), 3, false);
        plan(longer, cases, few(), 4, false);
    }
    let cases = limits(&attempts(&of(&[PLAIN]), 0, &[2, 3, 4]), 0, &[None, Some(ms(100))]);
    let cases = budgets(&cases, &[0], &[None, Some(6000)]);
    plan("switch", switched(&cases, 11), alphabet(&[0, 45], &MORE, false), 4, false);
    plan("progress", cases.clone(), alphabet(&[0, 45], &FEW, true), 4, false);
    plan("dropped", cases.clone(), few(), 3, true);

    let few_unfit = || with_unfit(&[0, 10, 45], alphabet(&[0, 10, 45], &[(Transient, None), (Permanent, None)], false));
    let asks = [Asks::WhenOk, Asks::Until];
    let befores = [(0, 0), (ms(15), 0), (ms(80), 0), (0, 1), (ms(15), 2)];
    for (name, prepares, settings) in [("asks", "prepares", PLAIN), ("asks, blocking", "prepares, blocking", blocks)] {
        let cases = limits(&attempts(&of(&[settings]), 0, &[1, 2, 3]), 0, &[None, Some(ms(45)), Some(ms(100))]);
        let cases = each(&budgets(&cases, &[0], &[None, Some(6000)]), &asks, |case, value| case.calls[0].asks = value);
        let cases = each(&cases, &[true, false], |case, value| case.calls[0].idempotent = Some(value));
        let lates: &[u64] = if settings.blocking { &[0, ms(7), ms(30)] } else { &[0] };
        let cases = each(&cases, lates, |case, value| case.late = value);
        plan(name, cases.clone(), few_unfit(), 4, false);
        plan(prepares, each(&cases, &befores, |case, value| case.calls[0].before = Some(value)), few_unfit(), 3, false);
    }
    let cases = each(&cases, &asks, |case, value| case.calls[0].asks = value);
    plan("asks, switch", switched(&cases, 8), few_unfit(), 3, false);
    plan("asks, dropped", cases.clone(), few_unfit(), 3, true);
    let hedged = each(&cases, &[ms(5), ms(20)], |case, value| case.calls[0].hedge = Some(value));
    plan("asks, hedge", hedged.clone(), few_unfit(), 3, true);
    // Before the first attempt, in an attempt, a wait or a `before_retry`, and at the instant at which these end.
    let until = each(&of(&[PLAIN]), &[Asks::Until], |case, value| case.calls[0].asks = value);
    let cancels = |cases: &[Case], depth: usize| {
        let times = [Some(0), Some(ms(10)), Some(ms(17)), Some(ms(26)), Some(ms(63))];
        each(cases, &times, |case, value| case.calls[depth].cancel = value)
    };
    let until = budgets(&limits(&attempts(&until, 0, &[2, 3]), 0, &[None, Some(ms(100))]), &[0], &[None, Some(6000)]);
    let prepares = each(&until, &[None, Some((ms(6), 0))], |case, value| case.calls[0].before = value);
    plan("cancelled", cancels(&prepares, 0), few_unfit(), 3, true);
    let both = each(&until, &[ms(5), ms(20)], |case, value| case.calls[0].hedge = Some(value));
    plan("cancelled, hedge", cancels(&both, 0), few_unfit(), 3, false);
    for (name, cases) in [("prepares, dropped", cases), ("prepares, hedge", hedged)] {
        let cases = each(&cases, &befores[1..4], |case, value| case.calls[0].before = Some(value));
        plan(name, cases, few(), 3, true);
    }

    let hedged = each(&of(&[PLAIN]), &[ms(5), ms(10), ms(20)], |case, value| case.calls[0].hedge = Some(value));
    let hedged = attempts(&hedged, 0, &[1, 2, 3, 4]);
    let cases = budgets(&limits(&hedged, 0, &DEADLINES), &[0], &BUDGETS);
    plan("hedge", cases.clone(), alphabet(&[0, 5, 10, 15, 25, 45], &FEW, false), 2, false);
    let cases = budgets(&limits(&hedged, 0, &[None, Some(ms(45)), Some(ms(400))]), &[0], &[Some(6000)]);
    plan("hedge, all errors", cases.clone(), alphabet(&[3, 15, 45], &ERRORS, false), 3, false);
    plan("hedge, switch", switched(&cases, 8), alphabet(&[3, 15, 45], &FEW, false), 3, false);
    plan("hedge, progress", cases.clone(), alphabet(&[3, 15, 25], &FEW[..2], true), 3, false);
    plan("hedge, dropped", cases, alphabet(&[3, 15, 45], &FEW, false), 3, true);

    let two = attempts(&attempts(&of(&[LONG, LONG]), 0, &[1, 2, 3]), 1, &[1, 2, 3]);
    let two = each(&two, &[Around::Returns, Around::WaitsFirst, Around::SaysProgress], |case, value| case.around = value);
    let small = || alphabet(&[0, 10, 45], &[(Transient, None), (Throttled, Some(ms(201))), (Permanent, None)], false);
    let smaller = || alphabet(&[10], &[(Transient, None), (Throttled, Some(ms(201)))], false);
    let nested = each(&two, &[Nested::Add, Nested::Outermost, Nested::Multiply], |case, value| case.calls[1].nested = value);
    plan("nested", nested.clone(), small(), 4, false);
    plan("nested, longer", nested.clone(), smaller(), 9, false);
    let near = [None, Some(ms(45)), Some(ms(100))];
    plan("nested, limits", limits(&limits(&two, 0, &near), 1, &near), small(), 3, false);
    let paid = budgets(&two, &[0, 1], &[Some(200_000), Some(6000), Some(2000)]);
    plan("nested, one budget", paid.clone(), few(), 4, false);
    let apart = budgets(&budgets(&two, &[0], &[None, Some(6000), Some(2000)]), &[1], &[None, Some(6000), Some(2000)]);
    plan("nested, two budgets", limits(&apart, 0, &[None]), small(), 4, false);
    plan("nested, switch", switched(&two, 12), small(), 4, false);
    let limited = limits(&limits(&paid, 0, &[None, Some(ms(100))]), 1, &[None, Some(ms(45))]);
    plan("nested, dropped", limited, smaller(), 4, true);
    let asked = budgets(&two, &[0, 1], &[None, Some(2000)]);
    let asked = each(&asked, &[Asks::Nothing, Asks::WhenOk, Asks::Until], |case, value| case.calls[0].asks = value);
    let asked = each(&asked, &[Asks::Nothing, Asks::WhenOk, Asks::Until], |case, value| case.calls[1].asks = value);
    let until = each(&budgets(&two, &[0, 1], &[None, Some(6000)]), &[Asks::Until], |case, value| {
        (case.calls[0].asks, case.calls[1].asks) = (value, value);
    });
    plan("nested, cancelled", [cancels(&until, 0), cancels(&until, 1), cancels(&cancels(&until, 0), 1)].concat(), smaller(), 4, true);
    plan("nested, asks", limits(&asked, 0, &[None, Some(ms(45))]), with_unfit(&[0, 45], smaller()), 4, false);
    let hedged = each(&paid, &[ms(5), ms(20)], |case, value| case.calls[1].hedge = Some(value));
    let hedged = limits(&hedged, 1, &[None, Some(ms(100))]);
    plan("nested, hedge", hedged, alphabet(&[3, 15, 45], &[(Transient, None), (Permanent, None)], false), 4, false);
    unlimited(&mut plan);
    rules(&mut plan);
    pauses(&mut plan);
    layers(&mut plan);
    in_doubt(&mut plan);
    edges(&mut plan);
    let blocking = each(&nested, &[true], |case, value| (case.calls[0].blocking, case.calls[1].blocking) = (value, value));
    let blocking = budgets(&blocking, &[0, 1], &[None, Some(6000)]);
    plan("nested, blocking", limits(&blocking, 1, &near), small(), 3, false);
    plans
}

/// Takes a plan: its name, cases, alphabet, how long its scripts are at most, and whether calls are dropped.
type Add<'p> = dyn FnMut(&'static str, Vec<Case>, Vec<Step>, usize, bool) + 'p;

/// Calls that a refusal lets wait, alone and around a call that is refused.
#[rustfmt::skip]
fn unlimited(plan: &mut Add<'_>) {
    let blocks = Settings { blocking: true, ..PLAIN };
    let ends = || alphabet(&[0, 45], &[(Transient, None), (Throttled, Some(ms(35))), (Throttled, Some(ms(201))), (Permanent, None)], false);
    for (name, settings) in [("unlimited", PLAIN), ("unlimited, blocking", blocks)] {
        let cases = limits(&attempts(&of(&[settings]), 0, &[u32::MAX]), 0, &[None, Some(ms(400))]);
        plan(name, switched(&budgets(&cases, &[0], &[None, Some(200_000), Some(2000)]), 6), ends(), 4, false);
    }
    let until = each(&attempts(&of(&[PLAIN]), 0, &[u32::MAX]), &[Asks::Until, Asks::WhenOk], |case, value| case.calls[0].asks = value);
    let until = budgets(&until, &[0], &[Some(6000), Some(2000)]);
    plan("unlimited, asks", until, with_unfit(&[0, 45], alphabet(&[0], &[(Transient, None), (Permanent, None)], false)), 4, false);
    let two = attempts(&attempts(&of(&[LONG, LONG]), 0, &[u32::MAX]), 1, &[2, u32::MAX]);
    let two = each(&two, &[Around::Returns, Around::WaitsFirst, Around::Hides], |case, value| case.around = value);
    let two = each(&two, &[Nested::Add, Nested::Outermost], |case, value| case.calls[1].nested = value);
    let two = each(&two, &[ms(80)], |case, value| case.calls[0].max_delay = value);
    let paid = budgets(&two, &[0, 1], &[None, Some(2000)]);
    plan("unlimited, nested", limits(&paid, 0, &[None, Some(ms(400))]), ends(), 4, false);
    let hedged = each(&attempts(&of(&[PLAIN]), 0, &[u32::MAX]), &[ms(5), ms(20)], |case, value| case.calls[0].hedge = Some(value));
    plan("unlimited, hedge", budgets(&hedged, &[0], &[Some(200_000), Some(2000)]), ends(), 4, false);
}

#[rustfmt::skip]
fn rules(plan: &mut Add<'_>) {
    let rules = [Rule::When, Rule::On, Rule::Unless];
    for (name, blocking) in [("rules", false), ("rules, blocking", true)] {
        let cases = limits(&attempts(&of(&[Settings { blocking, ..PLAIN }]), 0, &[1, 2, 3]), 0, &[None, Some(ms(45)), Some(ms(100))]);
        let cases = each(&budgets(&cases, &[0], &[None, Some(6000)]), &rules, |case, value| case.calls[0].rule = value);
        let cases = each(&cases, &[true, false], |case, value| case.calls[0].idempotent = Some(value));
        plan(name, cases, alphabet(&[0, 45], &RULED, false), 3, false);
    }
    let two = attempts(&attempts(&of(&[LONG, LONG]), 0, &[2, 3]), 1, &[1, 2]);
    let two = each(&two, &rules, |case, value| case.calls[0].rule = value);
    let two = each(&two, &rules, |case, value| case.calls[1].rule = value);
    plan("rules, nested", limits(&limits(&two, 0, &[None]), 1, &[None]), alphabet(&[0, 45], &RULED, false), 3, false);
}

#[rustfmt::skip]
fn pauses(plan: &mut Add<'_>) {
    let hints = [(Transient, None), (Throttled, Some(ms(35))), (Throttled, Some(ms(110))), (Throttled, Some(ms(201)))];
    let two = attempts(&attempts(&of(&[LONG, LONG]), 0, &[1, 2, 3]), 1, &[1, 2]);
    let two = each(&two, &[Around::Hides, Around::WaitsFirst], |case, value| case.around = value);
    let paused = each(&budgets(&two, &[0, 1], &[Some(200_000), Some(6000)]), &[true], |case, value| case.pauses = value);
    let paused = each(&paused, &[ms(50), ms(200)], |case, value| case.calls[0].max_retry_after = value);
    let near = [None, Some(ms(45)), Some(ms(100))];
    let limited = limits(&limits(&paused, 0, &near), 1, &near);
    plan("pauses", limited, alphabet(&[0, 10], &hints, false), 3, false);
    plan("pauses, longer", paused.clone(), alphabet(&[10], &hints, false), 5, false);
    let until = each(&paused, &[Asks::Until], |case, value| case.calls[0].asks = value);
    let prepares = each(&until, &[(0, 0), (ms(15), 0), (ms(80), 2)], |case, value| case.calls[0].before = Some(value));
    let cancelled = each(&prepares, &[None, Some(ms(26)), Some(ms(63))], |case, value| case.calls[0].cancel = value);
    plan("pauses, prepares", limits(&cancelled, 0, &near), alphabet(&[10], &hints, false), 3, false);
    plan("pauses, dropped", cancelled, alphabet(&[10], &hints, false), 3, true);
    let hedged = each(&paused, &[ms(5), ms(20)], |case, value| case.calls[1].hedge = Some(value));
    plan("pauses, hedge", hedged, alphabet(&[3, 15, 45], &hints, false), 3, false);
}

#[rustfmt::skip]
fn layers(plan: &mut Add<'_>) {
    let of_three = |attempts_of: &[u32]| {
        let three = (0..3).fold(of(&[LONG; 3]), |cases, depth| attempts(&cases, depth, attempts_of));
        each(&three, &[Around::Returns, Around::WaitsFirst, Around::SaysProgress], |case, value| case.around = value)
    };
    let ends = [(Transient, None), (Throttled, Some(ms(201)))];
    let three = each(&of_three(&[2, 3]), &[Nested::Add, Nested::Multiply, Nested::Outermost], |case, value| case.calls[1].nested = value);
    plan("layers", three.clone(), alphabet(&[10], &ends, false), 9, false);
    let asks = each(&of_three(&[2]), &[Asks::WhenOk, Asks::Until], |case, value| case.calls[0].asks = value);
    let asks = each(&asks, &[Asks::Nothing, Asks::WhenOk], |case, value| case.calls[1].asks = value);
    plan("layers, asks", asks, with_unfit(&[10], alphabet(&[10], &ends[..1], false)), 7, false);
    let limited = limits(&of_three(&[2]), 0, &[None, Some(ms(100))]);
    let limited = limits(&limits(&limited, 1, &[None]), 2, &[None, Some(ms(45))]);
    let small = || alphabet(&[10, 45], &ends[..1], false);
    plan("layers, dropped", budgets(&limited, &[0, 1, 2], &[None, Some(6000)]), small(), 4, true);
    let blocking = each(&three, &[true], |case, value| for call in &mut case.calls { call.blocking = value });
    plan("layers, blocking", blocking, small(), 5, false);
}

/// Inner calls that must not run twice.
#[rustfmt::skip]
fn in_doubt(plan: &mut Add<'_>) {
    let said = [None, Some(true), Some(false)];
    let around = [Around::Returns, Around::WaitsFirst, Around::SaysProgress, Around::Hides, Around::Carries];
    let once = |cases: &[Case], depth: usize| each(cases, &[Some(false)], |case, value| case.calls[depth].idempotent = value);
    let of = |cases: Vec<Case>, depth: usize| each(&cases, &said, |case, value| case.calls[depth].idempotent = value);
    let two = once(&attempts(&attempts(&self::of(&[LONG, LONG]), 0, &[1, 3]), 1, &[1, 2]), 1);
    let two = of(each(&two, &around, |case, value| case.around = value), 0);
    let near = [None, Some(ms(45))];
    plan("in doubt", limits(&limits(&two, 0, &near), 1, &near), alphabet(&[0, 45], &MORE[2..], false), 3, false);
    plan("in doubt, dropped", two.clone(), alphabet(&[0, 45], &FEW, true), 3, true);
    let asks = each(&two, &[Asks::WhenOk, Asks::Until], |case, value| case.calls[0].asks = value);
    plan("in doubt, prepares", each(&asks, &[Some((0, 0)), Some((ms(15), 2))], |case, value| (case.calls[0].before, case.prepares) = (value, true)), with_unfit(&[0], alphabet(&[10], &FEW, false)), 4, false);
    let blocking = each(&two, &[true], |case, value| (case.calls[0].blocking, case.calls[1].blocking) = (value, value));
    plan("in doubt, blocking", limits(&blocking, 0, &near), alphabet(&[0, 45], &FEW, false), 3, false);
    let three = once(&(0..3).fold(self::of(&[LONG; 3]), |cases, depth| attempts(&cases, depth, &[2])), 2);
    let three = of(of(each(&three, &around, |case, value| case.around = value), 0), 1);
    plan("in doubt, layers", each(&three, &[None, Some(ms(30))], |case, value| case.calls[0].timeout = value), alphabet(&[0, 45], &FEW, false), 5, false);
}

/// Limits of zero, tasks, calls in `before_retry`, and the first wave of the default budget.
#[rustfmt::skip]
fn edges(plan: &mut Add<'_>) {
    let ends = || alphabet(&[0, 10], &[(Transient, None), (Throttled, Some(ms(35))), (Permanent, None)], false);
    let zero = |cases: &[Case], depth: usize| {
        let zeros: [fn(&mut Settings); 4] = [
            |call| call.deadline = Some(0),
            |call| call.timeout = Some(0),
            |call| (call.max_delay, call.timeout) = (0, Some(ms(30))),
            |call| (call.max_retry_after, call.deadline) = (0, Some(ms(100))),
        ];
        each(cases, &zeros, |case, set| set(&mut case.calls[depth]))
    };
    let one = budgets(&attempts(&of(&[PLAIN]), 0, &[1, 3]), &[0], &[None, Some(6000)]);
    let hedged = each(&one, &[None, Some(0)], |case, value| case.calls[0].hedge = value);
    plan("zero", zero(&hedged, 0), ends(), 3, true);
    let blocks = each(&of(&[PLAIN]), &[0, 100], |case, deadline| (case.calls[0].blocking, case.calls[0].deadline) = (true, Some(ms(deadline))));
    plan("zero, blocking", each(&blocks, &[0, ms(80)], |case, value| case.calls[0].max_delay = value), ends(), 3, false);
    let two = attempts(&attempts(&of(&[LONG, LONG]), 0, &[1, 3]), 1, &[1, 2]);
    let around = each(&two, &[Around::Returns, Around::Carries], |case, value| case.around = value);
    let nested = [Nested::Add, Nested::Outermost, Nested::Multiply];
    let around = each(&around, &nested, |case, value| case.calls[1].nested = value);
    let limited = each(&around, &[None, Some(ms(45))], |case, value| case.calls[0].deadline = value);
    plan("zero, nested", [zero(&around, 0), zero(&limited, 1)].concat(), ends(), 3, false);
    let three = each(&of(&[LONG; 3]), &[Around::Carries], |case, value| case.around = value);
    let three = (0..3).fold(three, |cases, depth| attempts(&cases, depth, &[2, 3]));
    let three = each(&three, &nested, |case, value| case.calls[1].nested = value);
    plan("tasks", three, alphabet(&[10], &[(Transient, None)], true), 7, false);
    let tasks = budgets(&limits(&two, 0, &[None, Some(ms(100))]), &[1], &[None, Some(2000)]);
    plan("tasks, limits", each(&tasks, &[Around::Carries], |case, value| case.around = value), ends(), 4, true);
    let asks = each(&two, &[Asks::WhenOk, Asks::Until], |case, value| case.calls[0].asks = value);
    let prepares = each(&asks, &[(0, 0), (ms(15), 2)], |case, value| (case.calls[0].before, case.prepares) = (Some(value), true));
    let prepares = each(&prepares, &nested, |case, value| case.calls[1].nested = value);
    plan("prepares by calls", budgets(&prepares, &[1], &[None, Some(2000)]), ends(), 5, false);
    plan("prepares by calls, limits", limits(&limits(&prepares, 0, &[None, Some(ms(100))]), 1, &[None]), alphabet(&[10, 45], &[(Transient, None)], false), 4, true);
    let free = |cases: Vec<Case>| each(&cases, &[true], |case, value| case.free = value);
    let wave = [(Transient, None), (Throttled, None), (Conflict, None)];
    let one = limits(&attempts(&of(&[PLAIN]), 0, &[7]), 0, &[None]);
    let one = each(&one, &[false, true], |case, value| case.calls[0].blocking = value);
    plan("first wave", free(budgets(&one, &[0], &[Some(3000), Some(6000), Some(20_000)])), alphabet(&[0, 45], &wave, false), 4, false);
    plan("first wave, longer", free(budgets(&one, &[0], &[Some(6000), Some(9000)])), alphabet(&[0], &wave[..1], true), 9, false);
    // The outer body makes one call after another.
    let shared = budgets(&attempts(&two, 0, &[4]), &[0, 1], &[Some(6000), Some(9000)]);
    let shared = each(&shared, &[Around::Returns, Around::Hides, Around::Carries], |case, value| case.around = value);
    plan("first wave, nested", free(shared), alphabet(&[0, 10], &wave[..2], false), 5, false);
    let hedged = each(&attempts(&of(&[PLAIN]), 0, &[7]), &[ms(5)], |case, value| case.calls[0].hedge = Some(value));
    plan("first wave, hedge", free(budgets(&hedged, &[0], &[Some(6000), Some(20_000)])), alphabet(&[0, 15], &wave[..1], true), 6, false);
}

const FEW: [(Verdict, Option<u64>); 4] = [
    (Transient, None),
    (Throttled, Some(ms(35))),
    (Conflict, None),
    (Permanent, None),
];
const MORE: [(Verdict, Option<u64>); 6] = [
    (Transient, None),
    (Throttled, None),
    (Throttled, Some(ms(110))),
    (Refused, None),
    (Conflict, None),
    (Unknown, None),
];
/// What `when` retries may have a hint.
const RULED: [(Verdict, Option<u64>); 7] = [
    (Transient, None),
    (Throttled, Some(ms(35))),
    (Conflict, None),
    (Permanent, None),
    (Permanent, Some(ms(35))),
    (Permanent, Some(ms(201))),
    (Unknown, Some(ms(35))),
];
const DEADLINES: [Option<u64>; 5] = [
    None,
    Some(ms(25)),
    Some(ms(45)),
    Some(ms(100)),
    Some(ms(400)),
];
const TIMEOUTS: [Option<u64>; 2] = [None, Some(ms(30))];
const BUDGETS: [Option<u64>; 5] = [None, Some(200_000), Some(6000), Some(2000), Some(1000)];

fn each<V: Copy>(cases: &[Case], values: &[V], set: impl Fn(&mut Case, V)) -> Vec<Case> {
    let with = |case: &Case, value| {
        let mut case = case.clone();
        set(&mut case, value);
        case
    };
    cases
        .iter()
        .flat_map(|case| {
            values
                .iter()
                .map(|value| with(case, *value))
                .collect::<Vec<_>>()
        })
        .collect()
}

fn of(calls: &[Settings]) -> Vec<Case> {
    let (around, off_at) = (Around::Returns, NOBODY);
    vec![Case {
        calls: calls.to_vec(),
        around,
        capacities: vec![],
        pauses: false,
        free: false,
        prepares: false,
        off_at,
        late: 0,
        steps: vec![],
    }]
}

fn attempts(cases: &[Case], depth: usize, values: &[u32]) -> Vec<Case> {
    each(cases, values, |case, value| {
        case.calls[depth].attempts = value;
    })
}

fn limits(cases: &[Case], depth: usize, deadlines: &[Option<u64>]) -> Vec<Case> {
    let timed = each(cases, &TIMEOUTS, |case, value| {
        case.calls[depth].timeout = value;
    });
    each(&timed, deadlines, |case, value| {
        case.calls[depth].deadline = value;
    })
}

fn budgets(cases: &[Case], depths: &[usize], values: &[Option<u64>]) -> Vec<Case> {
    each(cases, values, |case, value| {
        for depth in depths {
            case.calls[*depth].budget = value.map(|_| case.capacities.len());
        }
        case.capacities.extend(value);
    })
}

fn switched(cases: &[Case], last: usize) -> Vec<Case> {
    each(cases, &(0..=last).collect::<Vec<_>>(), |case, event| {
        case.off_at = event;
    })
}

/// Steps of these times and errors; those that succeed too.
fn alphabet(times: &[u64], errors: &[(Verdict, Option<u64>)], progress: bool) -> Vec<Step> {
    let ends = errors.iter().copied().map(Some).chain([None]);
    let steps = ends.flat_map(|error| times.iter().map(move |takes| step(*takes, error)));
    steps
        .flat_map(|step| {
            [
                Some(step),
                progress.then_some(Step {
                    progress: true,
                    ..step
                }),
            ]
            .into_iter()
            .flatten()
        })
        .collect()
}

/// These steps, and each `Ok` of these times that means failure.
fn with_unfit(times: &[u64], mut steps: Vec<Step>) -> Vec<Step> {
    steps.extend(times.iter().map(|takes| Step {
        unfit: true,
        ..step(*takes, None)
    }));
    steps
}

const fn step(takes: u64, error: Option<(Verdict, Option<u64>)>) -> Step {
    Step {
        takes: ms(takes),
        error,
        unfit: false,
        progress: false,
    }
}

/// The timeout is 30 ms. These attempts take no time, less than it, all of it, or more.
const TIMES: [u64; 4] = [0, 10, 30, 45];

/// The ceilings are 10, 20 and 40 ms, or 80 ms after a throttled failure. Hints are shorter, longer than most, longer than
/// `max_delay`, as long as `max_retry_after`, and longer than that.
pub(crate) const ERRORS: [(Verdict, Option<u64>); 12] = [
    (Transient, None),
    (Throttled, None),
    (Refused, None),
    (Conflict, None),
    (Permanent, None),
    (Unknown, None),
    (Transient, Some(ms(5))),
    (Throttled, Some(ms(5))),
    (Throttled, Some(ms(35))),
    (Throttled, Some(ms(110))),
    (Throttled, Some(ms(200))),
    (Throttled, Some(ms(201))),
];

/// Its retries are never forgotten.
const LONG: Settings = Settings {
    max_delay: ms(3_600_000),
    ..PLAIN
};

const PLAIN: Settings = Settings {
    attempts: 4,
    timeout: None,
    deadline: None,
    hedge: None,
    jitter: false,
    idempotent: Some(true),
    blocking: false,
    budget: None,
    nested: Nested::Add,
    asks: Asks::Nothing,
    rule: Rule::Nothing,
    before: None,
    cancel: None,
    policy: true,
    max_delay: ms(80),
    max_retry_after: ms(200),
};
