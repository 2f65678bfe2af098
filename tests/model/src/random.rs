//! Cases with anything in them, by seed.

use crate::case::Verdict::{Permanent, Transient, Unknown};
use crate::case::{Around, Asks, Case, Nested, Rule, Settings, Step, ms};
use crate::compare::{NOBODY, Tally, on_two_threads};
use crate::plans::ERRORS;

/// Plays so many random cases on each of two threads, and drops some of them at every poll.
pub(crate) fn random(count: u64) -> Tally {
    on_two_threads(|tester, part| {
        let mut random = Random(part as u64);
        for number in 0..count {
            let case = random.case();
            tester.check(&case, number % 2 == 0);
        }
    })
}

/// A generator of numbers, by its seed.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    fn one_in(&mut self, end: u64) -> bool {
        self.below(end) == 0
    }

    fn maybe(&mut self, from: u64, end: u64) -> Option<u64> {
        (!self.one_in(3)).then(|| ms(from + self.below(end - from)))
    }

    pub(crate) fn index(&mut self, len: usize) -> usize {
        usize::try_from(self.below(len as u64)).expect("below an usize")
    }

    fn step(&mut self) -> Step {
        let takes = [0, ms(self.below(70)), ms(10)][self.index(3)];
        let (verdict, hint) = ERRORS[self.index(ERRORS.len())];
        let hint = if hint.is_some() && self.one_in(2) || self.one_in(8) {
            self.maybe(0, 202)
        } else {
            hint
        };
        // Errors that end the call are as rare as success.
        let ends = matches!(verdict, Permanent | Unknown) && !self.one_in(3);
        let error = if ends {
            (Transient, hint)
        } else {
            (verdict, hint)
        };
        Step {
            takes,
            error: (!self.one_in(8)).then_some(error),
            unfit: self.one_in(2),
            progress: self.one_in(12),
        }
    }

    fn settings(&mut self, inner: bool, alone: bool, blocking: bool, budgets: usize) -> Settings {
        let unsaid = !alone && self.one_in(6);
        let last = inner || alone;
        let settings = Settings {
            attempts: u32::try_from(1 + self.below(4)).expect("small"),
            timeout: self.maybe(5, 60),
            deadline: self
                .maybe(15, 400)
                .map(|deadline| if self.one_in(12) { 0 } else { deadline }),
            hedge: self
                .maybe(1, 30)
                .filter(|_| last && !blocking && self.one_in(2)),
            jitter: self.one_in(2),
            idempotent: Some(!self.one_in(if inner { 3 } else { 8 })).filter(|_| !unsaid),
            blocking,
            budget: Some(self.index(budgets + 1)).filter(|budget| *budget < budgets),
            nested: if inner {
                [
                    Nested::Add,
                    Nested::Add,
                    Nested::Outermost,
                    Nested::Multiply,
                ][self.index(4)]
            } else {
                Nested::Add
            },
            asks: [Asks::Nothing, Asks::Nothing, Asks::WhenOk, Asks::Until][self.index(4)],
            rule: Rule::Nothing,
            before: self
                .maybe(0, 40)
                .map(|takes| (takes, u32::try_from(self.index(6)).expect("small"))),
            cancel: self.maybe(0, 90).filter(|_| !blocking),
            policy: true,
            max_retry_after: ms([50, 200, 200][self.index(3)]),
            max_delay: match alone {
                true if self.one_in(8) => 0,
                true => ms(80),
                false => ms(3_600_000),
            },
        };
        let rules = [Rule::Nothing, Rule::When, Rule::On, Rule::Unless];
        let may_rule = settings.asks == Asks::Nothing && settings.hedge.is_none();
        Settings {
            rule: if may_rule {
                rules[self.index(4)]
            } else {
                Rule::Nothing
            },
            before: settings.before.filter(|_| settings.asks != Asks::Nothing),
            cancel: settings.cancel.filter(|_| settings.asks == Asks::Until),
            ..settings
        }
    }

    fn case(&mut self) -> Case {
        let (alone, blocking, budgets) = (self.one_in(3), self.one_in(4), self.index(3));
        let mut calls = vec![self.settings(false, alone, blocking, budgets)];
        while !alone && calls.len() < 3 && (calls.len() < 2 || self.one_in(3)) {
            calls.push(self.settings(true, alone, blocking, budgets));
        }
        if let [_, middle, innermost] = &mut calls[..] {
            (middle.hedge, innermost.nested) = (None, Nested::Add);
        }
        let pauses = !blocking && self.one_in(3);
        if pauses {
            // Nobody sees how a call that has jitter spreads after a pause.
            for call in &mut calls {
                call.jitter = false;
            }
        }
        let capacity = |random: &mut Self| {
            1000 * if random.one_in(3) {
                200
            } else {
                1 + random.below(20)
            }
        };
        Case {
            calls,
            around: [
                Around::Returns,
                Around::Returns,
                Around::WaitsFirst,
                Around::SaysProgress,
                Around::Hides,
                Around::Carries,
            ][self.index(6)],
            pauses,
            free: self.one_in(2),
            prepares: self.one_in(2),
            capacities: (0..budgets).map(|_| capacity(self)).collect(),
            off_at: if self.one_in(4) {
                self.index(16)
            } else {
                NOBODY
            },
            late: self
                .maybe(0, 60)
                .filter(|_| blocking && self.one_in(2))
                .unwrap_or(0),
            steps: (0..64).map(|_| self.step()).collect(),
        }
    }
}
