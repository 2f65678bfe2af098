//! Plays a case on the paused clock, with the functions of the crate.

use std::error::Error;
use std::fmt;
use std::future::{Future, pending, poll_fn};
use std::pin::{Pin, pin};
use std::sync::{Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use reattempt::testing::{Log, LoggedCall, Scope};
use reattempt::types::HedgeOutcome;
use reattempt::{
    Attempt, Budget, Jitter, Policy, RetryEvent, Retryable, Stopped, propagate, retry, set_enabled,
};
use tokio::runtime::{Builder, Runtime};
use tokio::time::{Instant, advance, sleep};

use crate::case::{
    Around, Asks, BASE, Case, ENDLESS, Event, Failed, Nested, Report, Rule, Seen, Settings, Step,
    Verdict, ms,
};

/// Where the settings of the functions are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Form {
    /// In keys of the attribute.
    Keys,
    /// In the policy of the attribute.
    Policy,
    /// In that of `Policy::run`.
    Run,
}

/// What was seen of a case.
pub(crate) struct Played {
    pub(crate) seen: Seen,
    /// After each poll that left the call pending: how many events there were, and the instant.
    pub(crate) polls: Vec<(usize, u64)>,
}

/// The error of `before_retry`.
const UNPREPARED: Failure = Failure::Returned {
    run: 0,
    verdict: Verdict::Unknown,
    hint: None,
};

/// The error of a body that hides that of the call inside.
const HIDDEN: Failure = Failure::Returned {
    run: 0,
    verdict: Verdict::Transient,
    hint: None,
};

#[derive(Debug)]
enum Failure {
    Returned {
        run: usize,
        verdict: Verdict,
        hint: Option<u64>,
    },
    Stopped(Stopped),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

impl Error for Failure {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Returned { .. } => None,
            Self::Stopped(stopped) => Some(stopped),
        }
    }
}

impl From<Stopped> for Failure {
    fn from(stopped: Stopped) -> Self {
        Self::Stopped(stopped)
    }
}

impl Retryable for Failure {
    fn verdict(&self) -> reattempt::Verdict {
        match self {
            Self::Returned { verdict, .. } => match verdict {
                Verdict::Transient => reattempt::Verdict::Transient,
                Verdict::Throttled => reattempt::Verdict::Throttled,
                Verdict::Refused => reattempt::Verdict::Refused,
                Verdict::Conflict => reattempt::Verdict::Conflict,
                Verdict::Permanent => reattempt::Verdict::Permanent,
                Verdict::Unknown => reattempt::Verdict::Unknown,
            },
            Self::Stopped(stopped) => stopped.verdict(),
        }
    }

    fn hint(&self) -> Option<Duration> {
        match self {
            Self::Returned { hint, .. } => hint.map(Duration::from_nanos),
            Self::Stopped(_) => None,
        }
    }
}

fn seen(verdict: reattempt::Verdict) -> Verdict {
    match verdict {
        reattempt::Verdict::Transient => Verdict::Transient,
        reattempt::Verdict::Throttled => Verdict::Throttled,
        reattempt::Verdict::Refused => Verdict::Refused,
        reattempt::Verdict::Conflict => Verdict::Conflict,
        reattempt::Verdict::Permanent => Verdict::Permanent,
        _ => Verdict::Unknown,
    }
}

fn failed(failure: &Failure) -> Failed {
    let stopped = match failure {
        Failure::Returned { .. } => None,
        Failure::Stopped(stopped) => Some(stopped.outcome().as_str()),
    };
    let mut run = None;
    let mut link: Option<&(dyn Error + 'static)> = Some(failure);
    while let Some(error) = link {
        if let Some(Failure::Returned { run: number, .. }) = error.downcast_ref() {
            run = Some(*number);
        }
        link = error.source();
    }
    Failed {
        verdict: seen(failure.verdict()),
        hint: failure.hint().map(nanos),
        run,
        stopped,
        timed_out: false,
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// What the functions under test share.
struct World<'c> {
    case: &'c Case,
    form: Form,
    budgets: Vec<Budget>,
    began: Instant,
    // `Policy::run` takes hooks that are `Send`.
    notes: Mutex<Notes>,
}

#[derive(Default)]
struct Notes {
    events: Vec<Event>,
    /// How often the innermost body ran.
    runs: usize,
    polls: Vec<(usize, u64)>,
}

impl<'c> World<'c> {
    fn new(case: &'c Case, form: Form) -> Self {
        // Every retry has its price, and only success gives tokens back.
        let budget = |capacity: &u64| {
            let tokens = u32::try_from(capacity / 1000).expect("a small budget");
            let budget = if case.free {
                Budget::new().with_refill(0.0)
            } else {
                let budget = Budget::aws().with_reward(0.2).with_retry_cost(2);
                budget.with_throttled_cost(4).with_timeout_cost(6)
            };
            let budget = budget.with_capacity(tokens);
            if case.pauses {
                budget.with_pause()
            } else {
                budget
            }
        };
        Self {
            case,
            form,
            budgets: case.capacities.iter().map(budget).collect(),
            began: Instant::now(),
            notes: Mutex::default(),
        }
    }

    fn notes(&self) -> MutexGuard<'_, Notes> {
        self.notes.lock().expect("no panic")
    }

    fn now(&self) -> u64 {
        nanos(self.began.elapsed())
    }

    fn see(&self, event: Event) {
        let mut notes = self.notes();
        notes.events.push(event);
        if notes.events.len() == self.case.off_at || notes.events.len() == ENDLESS {
            set_enabled(false);
        }
    }

    fn hears<E>(&self, depth: usize, event: &RetryEvent<'_, E>) {
        let (after, verdict, at) = (event.attempt(), seen(event.verdict()), self.now());
        let delay = nanos(event.delay());
        self.see(Event::Retries {
            depth,
            after,
            verdict,
            delay,
            at,
        });
        if self.case.calls[depth].blocking {
            // It waits until an instant, and does not sleep if that has come. So the paused clock can wait for it.
            pass(delay + self.case.late);
        }
    }

    fn jitter(&self, depth: usize) -> Jitter {
        if self.case.calls[depth].jitter {
            Jitter::Full
        } else {
            Jitter::None
        }
    }

    fn policy(&self, depth: usize) -> Policy {
        let call = &self.case.calls[depth];
        let set = |policy, value: Option<u64>, with: fn(Policy, Duration) -> Policy| match value {
            Some(value) => with(policy, Duration::from_nanos(value)),
            None => policy,
        };
        let policy = Policy::new()
            .with_attempts(call.attempts)
            .with_base(Duration::from_nanos(BASE))
            .with_max_delay(Duration::from_nanos(call.max_delay))
            .with_max_retry_after(Duration::from_nanos(call.max_retry_after))
            .with_jitter(self.jitter(depth));
        let policy = set(policy, call.timeout, Policy::with_timeout);
        let policy = set(policy, call.deadline, Policy::with_deadline);
        set(policy, call.hedge, Policy::with_hedge)
    }

    /// The value of a key that the function has.
    fn key(&self, depth: usize, value: fn(&Settings) -> Option<u64>) -> Duration {
        Duration::from_nanos(value(&self.case.calls[depth]).expect("chosen because it has the key"))
    }

    fn budget(&self, depth: usize) -> Option<&Budget> {
        self.case.calls[depth]
            .budget
            .map(|budget| &self.budgets[budget])
    }

    /// `when`: also a permanent error.
    fn says_yes(error: &Failure) -> bool {
        error.verdict() != reattempt::Verdict::Unknown
    }

    /// `unless`: what a client may not repeat at once, and a timeout.
    fn says_no(error: &Failure) -> bool {
        match error {
            Failure::Returned { verdict, .. } => *verdict == Verdict::Throttled,
            Failure::Stopped(stopped) => stopped.outcome() == reattempt::Outcome::Timeout,
        }
    }

    /// Whether the `Ok` of this run means failure.
    fn is_unfit(&self, run: usize) -> bool {
        self.case.steps.get(run - 1).is_some_and(|step| step.unfit)
    }

    fn begins(&self, depth: usize) -> Body<'_, 'c> {
        let attempt = Attempt::current().expect("a body has an attempt");
        let (number, of) = (attempt.number(), attempt.attempts().unwrap_or(u32::MAX));
        let remaining = attempt.remaining().map(nanos);
        self.see(Event::Begins {
            depth,
            number,
            of,
            remaining,
            at: self.now(),
        });
        Body {
            world: self,
            depth,
            number,
        }
    }

    /// Begins `before_retry`, if the call has it: how long it takes, and how it ends.
    fn prepares(&self, depth: usize) -> Option<(Body<'_, 'c>, u64, Result<(), Failure>)> {
        let (takes, fails_after) = self.case.calls[depth].before?;
        let at = self.now();
        self.see(Event::Prepares { depth, at });
        let after = self
            .notes()
            .events
            .iter()
            .rev()
            .find_map(|event| match event {
                Event::Retries {
                    depth: of, after, ..
                } if *of == depth => Some(*after),
                _ => None,
            });
        let ended = if after == Some(fails_after) {
            Err(UNPREPARED)
        } else {
            Ok(())
        };
        Some((
            Body {
                world: self,
                depth,
                number: 0,
            },
            takes,
            ended,
        ))
    }

    async fn prepare(&self, depth: usize) -> Result<(), Failure> {
        let Some((_body, takes, ended)) = self.prepares(depth) else {
            return Ok(());
        };
        if takes > 0 {
            sleep(Duration::from_nanos(takes)).await;
        }
        if self.case.prepares && depth + 1 < self.case.calls.len() {
            let _ = call(self, depth + 1).await;
        }
        ended
    }

    fn prepare_blocking(&self, depth: usize) -> Result<(), Failure> {
        let Some((_body, takes, ended)) = self.prepares(depth) else {
            return Ok(());
        };
        pass(takes);
        if self.case.prepares && depth + 1 < self.case.calls.len() {
            let _ = call_blocking(self, depth + 1);
        }
        ended
    }

    /// The future that stops the call.
    fn cancels(&self, depth: usize) -> impl Future<Output = ()> + use<> {
        let at = self.case.calls[depth].cancel;
        let timer = at
            .filter(|at| *at > 0)
            .map(|at| sleep(Duration::from_nanos(at)));
        async move {
            match timer {
                Some(timer) => timer.await,
                None if at.is_some() => {}
                None => pending().await,
            }
        }
    }

    fn step(&self) -> (usize, Step) {
        self.notes().runs += 1;
        let run = self.notes().runs;
        // The model played the script before. If the crate asks for more steps than the model, they disagree.
        let too_many = Step {
            takes: 0,
            error: Some((Verdict::Unknown, None)),
            unfit: false,
            progress: false,
        };
        let step = self.case.steps.get(run - 1).copied().unwrap_or(too_many);
        if step.progress {
            Attempt::record_progress();
        }
        (run, step)
    }

    async fn body(&self, depth: usize) -> Result<usize, Failure> {
        let _body = self.begins(depth);
        if depth + 1 < self.case.calls.len() {
            let ended = match self.case.around {
                Around::Carries => propagate(call(self, depth + 1)).await,
                _ => call(self, depth + 1).await,
            };
            match self.case.around {
                Around::Hides if ended.is_err() => return Err(HIDDEN),
                Around::WaitsFirst if ended.is_err() => sleep(Duration::from_nanos(ms(1))).await,
                Around::SaysProgress if ended.is_err() => Attempt::record_progress(),
                _ => {}
            }
            return ended;
        }
        let (run, step) = self.step();
        if step.takes > 0 {
            sleep(Duration::from_nanos(step.takes)).await;
        }
        result(run, step)
    }

    fn body_blocking(&self, depth: usize) -> Result<usize, Failure> {
        let _body = self.begins(depth);
        if depth + 1 < self.case.calls.len() {
            let ended = call_blocking(self, depth + 1);
            match self.case.around {
                Around::Hides if ended.is_err() => return Err(HIDDEN),
                Around::WaitsFirst if ended.is_err() => pass(ms(1)),
                Around::SaysProgress if ended.is_err() => Attempt::record_progress(),
                _ => {}
            }
            return ended;
        }
        let (run, step) = self.step();
        pass(step.takes);
        result(run, step)
    }
}

fn result(run: usize, step: Step) -> Result<usize, Failure> {
    match step.error {
        Some((verdict, hint)) => Err(Failure::Returned { run, verdict, hint }),
        None => Ok(run),
    }
}

/// Moves the paused clock, in code that is not async: the first poll does it.
fn pass(time: u64) {
    let polled =
        pin!(advance(Duration::from_nanos(time))).poll(&mut Context::from_waker(Waker::noop()));
    assert!(polled.is_pending(), "it lets other tasks run after that");
}

/// An attempt, or a `before_retry` as number 0.
struct Body<'w, 'c> {
    world: &'w World<'c>,
    depth: usize,
    number: u32,
}

impl Drop for Body<'_, '_> {
    fn drop(&mut self) {
        let Self {
            world,
            depth,
            number,
        } = *self;
        world.see(Event::Gone {
            depth,
            number,
            at: world.now(),
        });
    }
}

type Call<'w> = Pin<Box<dyn Future<Output = Result<usize, Failure>> + 'w>>;

/// The functions of one place among the calls: the same body, with each set of keys.
macro_rules! place {
    ($place:ident, $nested:literal, $world:ident, $depth:ident) => {
        mod $place {
            use super::*;

            place!($nested, $world, $depth, async, plain());
            place!($nested, $world, $depth, async, timed(timeout = $world.key($depth, |call| call.timeout),));
            place!($nested, $world, $depth, async, bounded(deadline = $world.key($depth, |call| call.deadline),));
            place!($nested, $world, $depth, async, limited(
                timeout = $world.key($depth, |call| call.timeout),
                deadline = $world.key($depth, |call| call.deadline),
            ));
            place!($nested, $world, $depth, async, plain_hedged(hedge = $world.key($depth, |call| call.hedge),));
            place!($nested, $world, $depth, async, limited_hedged(
                timeout = $world.key($depth, |call| call.timeout),
                deadline = $world.key($depth, |call| call.deadline),
                hedge = $world.key($depth, |call| call.hedge),
            ));
            place!($nested, $world, $depth, policy, by_policy());
            place!($nested, $world, $depth, policy, hedged(hedge = "policy",));
            place!($nested, $world, $depth, async, fails(when_ok = |run| $world.is_unfit(*run), before_retry = $world.prepare($depth),));
            place!($nested, $world, $depth, policy, fails_by_policy(when_ok = |run| $world.is_unfit(*run), before_retry = $world.prepare($depth),));
            place!($nested, $world, $depth, policy, fails_hedged(hedge = "policy", when_ok = |run| $world.is_unfit(*run), before_retry = $world.prepare($depth),));
            place!($nested, $world, $depth, async, waits(cancel = $world.cancels($depth), until = |run| !$world.is_unfit(*run), before_retry = $world.prepare($depth),));
            place!($nested, $world, $depth, policy, waits_by_policy(cancel = $world.cancels($depth), until = |run| !$world.is_unfit(*run), before_retry = $world.prepare($depth),));
            place!($nested, $world, $depth, policy, waits_hedged(hedge = "policy", cancel = $world.cancels($depth), until = |run| !$world.is_unfit(*run), before_retry = $world.prepare($depth),));
            place!($nested, $world, $depth, policy, when(when = World::says_yes,));
            place!($nested, $world, $depth, policy, unless(when = World::says_yes, unless = World::says_no,));
            place!($nested, $world, $depth, policy, on(on = "Failure",));
            place!($nested, $world, $depth, blocking, blocks());
            place!($nested, $world, $depth, blocking, blocks_bounded(deadline = $world.key($depth, |call| call.deadline),));
            place!($nested, $world, $depth, blocking, blocks_and_fails(when_ok = |run| $world.is_unfit(*run), before_retry = $world.prepare_blocking($depth),));
            place!($nested, $world, $depth, blocking, blocks_and_waits(until = |run| !$world.is_unfit(*run), before_retry = $world.prepare_blocking($depth),));
            place!($nested, $world, $depth, blocking_policy, blocks_by_policy());
            place!($nested, $world, $depth, blocking_policy, blocks_and_fails_by_policy(when_ok = |run| $world.is_unfit(*run), before_retry = $world.prepare_blocking($depth),));
            place!($nested, $world, $depth, blocking_policy, blocks_and_waits_by_policy(until = |run| !$world.is_unfit(*run), before_retry = $world.prepare_blocking($depth),));
            place!($nested, $world, $depth, blocking_policy, blocks_when(when = World::says_yes,));
            place!($nested, $world, $depth, blocking_policy, blocks_unless(when = World::says_yes, unless = World::says_no,));
            place!($nested, $world, $depth, blocking_policy, blocks_on(on = "Failure",));

            pub(super) fn call<'w>(world: &'w World<'_>, depth: usize) -> Call<'w> {
                let call = &world.case.calls[depth];
                match call.rule {
                    Rule::Nothing => {}
                    Rule::When => return Box::pin(when(world, depth)),
                    Rule::Unless => return Box::pin(unless(world, depth)),
                    Rule::On => return Box::pin(on(world, depth)),
                }
                match (call.asks, call.policy, call.hedge.is_some()) {
                    (Asks::Nothing, ..) => {}
                    (Asks::WhenOk, false, _) => return Box::pin(fails(world, depth)),
                    (Asks::WhenOk, true, false) => return Box::pin(fails_by_policy(world, depth)),
                    (Asks::WhenOk, true, true) => return Box::pin(fails_hedged(world, depth)),
                    (Asks::Until, false, _) => return Box::pin(waits(world, depth)),
                    (Asks::Until, true, false) => return Box::pin(waits_by_policy(world, depth)),
                    (Asks::Until, true, true) => return Box::pin(waits_hedged(world, depth)),
                }
                match (!call.policy, call.timeout.is_some(), call.deadline.is_some(), call.hedge.is_some()) {
                    (true, false, false, false) => Box::pin(plain(world, depth)),
                    (true, true, false, false) => Box::pin(timed(world, depth)),
                    (true, false, true, false) => Box::pin(bounded(world, depth)),
                    (true, true, true, false) => Box::pin(limited(world, depth)),
                    (true, false, false, true) => Box::pin(plain_hedged(world, depth)),
                    (true, true, true, true) => Box::pin(limited_hedged(world, depth)),
                    (_, _, _, true) => Box::pin(hedged(world, depth)),
                    (_, _, _, false) => Box::pin(by_policy(world, depth)),
                }
            }

            pub(super) fn call_blocking(world: &World<'_>, depth: usize) -> Result<usize, Failure> {
                let call = &world.case.calls[depth];
                match call.rule {
                    Rule::Nothing => {}
                    Rule::When => return blocks_when(world, depth),
                    Rule::Unless => return blocks_unless(world, depth),
                    Rule::On => return blocks_on(world, depth),
                }
                // They have no key `timeout`.
                match (call.asks, !call.policy && call.timeout.is_none(), call.deadline.is_some()) {
                    (Asks::Nothing, true, false) => blocks(world, depth),
                    (Asks::Nothing, true, true) => blocks_bounded(world, depth),
                    (Asks::Nothing, false, _) => blocks_by_policy(world, depth),
                    (Asks::WhenOk, true, _) => blocks_and_fails(world, depth),
                    (Asks::WhenOk, false, _) => blocks_and_fails_by_policy(world, depth),
                    (Asks::Until, true, _) => blocks_and_waits(world, depth),
                    (Asks::Until, false, _) => blocks_and_waits_by_policy(world, depth),
                }
            }
        }
    };
    ($nested:literal, $world:ident, $depth:ident, async, $name:ident($($key:tt)*)) => {
        #[retry(
            nested = $nested, attempts = $world.case.calls[$depth].attempts, jitter = $world.jitter($depth),
            base = Duration::from_nanos(BASE), max_delay = Duration::from_nanos($world.case.calls[$depth].max_delay),
            max_retry_after = Duration::from_nanos($world.case.calls[$depth].max_retry_after), $($key)*
            budget = $world.budget($depth), idempotent = $world.case.calls[$depth].idempotent == Some(true),
            on_retry = |event| $world.hears($depth, event)
        )]
        async fn $name($world: &World<'_>, $depth: usize) -> Result<usize, Failure> {
            $world.body($depth).await
        }
    };
    ($nested:literal, $world:ident, $depth:ident, policy, $name:ident($($key:tt)*)) => {
        #[retry(
            nested = $nested, policy = $world.policy($depth), $($key)*
            budget = $world.budget($depth), idempotent = $world.case.calls[$depth].idempotent == Some(true),
            on_retry = |event| $world.hears($depth, event)
        )]
        async fn $name($world: &World<'_>, $depth: usize) -> Result<usize, Failure> {
            $world.body($depth).await
        }
    };
    ($nested:literal, $world:ident, $depth:ident, blocking_policy, $name:ident($($key:tt)*)) => {
        #[retry(
            blocking, nested = $nested, policy = $world.policy($depth), $($key)*
            budget = $world.budget($depth), idempotent = $world.case.calls[$depth].idempotent == Some(true),
            on_retry = |event| $world.hears($depth, event)
        )]
        fn $name($world: &World<'_>, $depth: usize) -> Result<usize, Failure> {
            $world.body_blocking($depth)
        }
    };
    ($nested:literal, $world:ident, $depth:ident, blocking, $name:ident($($key:tt)*)) => {
        #[retry(
            blocking, nested = $nested, attempts = $world.case.calls[$depth].attempts, jitter = $world.jitter($depth),
            base = Duration::from_nanos(BASE), max_delay = Duration::from_nanos($world.case.calls[$depth].max_delay),
            max_retry_after = Duration::from_nanos($world.case.calls[$depth].max_retry_after), $($key)*
            budget = $world.budget($depth), idempotent = $world.case.calls[$depth].idempotent == Some(true),
            on_retry = |event| $world.hears($depth, event)
        )]
        fn $name($world: &World<'_>, $depth: usize) -> Result<usize, Failure> {
            $world.body_blocking($depth)
        }
    };
}

place!(outer, "add", world, depth);
place!(inner, "add", world, depth);
place!(inner_outermost, "outermost", world, depth);
place!(inner_multiply, "multiply", world, depth);
place!(innermost, "add", world, depth);

/// The names of runs, as if they were functions of these places.
const RUNS: [&str; 3] = ["outer::run", "inner::run", "innermost::run"];

fn call<'w>(world: &'w World<'_>, depth: usize) -> Call<'w> {
    match (world.form, depth, world.case.calls[depth].nested) {
        (Form::Run, ..) => {
            let run = world.policy(depth).run(move || world.body(depth));
            let run = run
                .with_name(RUNS[depth])
                .on_retry(move |event| world.hears(depth, event));
            let run = match world.case.calls[depth].idempotent {
                Some(idempotent) => run.with_idempotent(idempotent),
                None => run,
            };
            let run = match world.budget(depth) {
                Some(budget) => run.with_budget(budget),
                None => run.without_budget(),
            };
            match world.case.calls[depth].rule {
                Rule::Nothing => {}
                Rule::When => return Box::pin(run.when(World::says_yes).unboxed()),
                Rule::Unless => {
                    let run = run.when(World::says_yes).unless(World::says_no);
                    return Box::pin(run.unboxed());
                }
                Rule::On => return Box::pin(run.on::<Failure>().unboxed()),
            }
            let asks = world.case.calls[depth].asks;
            let unfit = move |run: usize, by| asks == by && world.is_unfit(run);
            let run = run.when_ok(move |run| unfit(*run, Asks::WhenOk));
            let run = run.until(move |run| !unfit(*run, Asks::Until));
            let run = match world.case.calls[depth].cancel {
                Some(_) => run.with_cancel(world.cancels(depth)),
                None => run,
            };
            Box::pin(run.unboxed())
        }
        (_, 0, _) => outer::call(world, depth),
        (_, 2, _) => innermost::call(world, depth),
        (_, _, Nested::Add) => inner::call(world, depth),
        (_, _, Nested::Outermost) => inner_outermost::call(world, depth),
        (_, _, Nested::Multiply) => inner_multiply::call(world, depth),
    }
}

fn call_blocking(world: &World<'_>, depth: usize) -> Result<usize, Failure> {
    match (world.form, depth, world.case.calls[depth].nested) {
        (Form::Run, ..) => {
            let run = world
                .policy(depth)
                .run_blocking(move || world.body_blocking(depth));
            let run = run
                .with_name(RUNS[depth])
                .on_retry(move |event| world.hears(depth, event));
            let run = match world.case.calls[depth].idempotent {
                Some(idempotent) => run.with_idempotent(idempotent),
                None => run,
            };
            let asks = world.case.calls[depth].asks;
            let unfit = move |run: usize, by| asks == by && world.is_unfit(run);
            let run = run.when_ok(move |run| unfit(*run, Asks::WhenOk));
            let run = run.until(move |run| !unfit(*run, Asks::Until));
            let run = match world.budget(depth) {
                Some(budget) => run.with_budget(budget),
                None => run.without_budget(),
            };
            match world.case.calls[depth].rule {
                Rule::Nothing => run.call(),
                Rule::When => run.when(World::says_yes).call(),
                Rule::Unless => run.when(World::says_yes).unless(World::says_no).call(),
                Rule::On => run.on::<Failure>().call(),
            }
        }
        (_, 0, _) => outer::call_blocking(world, depth),
        (_, 2, _) => innermost::call_blocking(world, depth),
        (_, _, Nested::Add) => inner::call_blocking(world, depth),
        (_, _, Nested::Outermost) => inner_outermost::call_blocking(world, depth),
        (_, _, Nested::Multiply) => inner_multiply::call_blocking(world, depth),
    }
}

/// A runtime with a paused clock, and when that began.
pub(crate) fn runtime() -> (Runtime, Instant) {
    let runtime = Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build();
    let runtime = runtime.expect("a runtime");
    let epoch = runtime.block_on(async { Instant::now() });
    (runtime, epoch)
}

/// Plays a case to its end, or drops the call after so many polls.
pub(crate) fn play(
    (runtime, epoch): &(Runtime, Instant),
    case: &Case,
    form: Form,
    seed: u64,
    polls: Option<usize>,
) -> Played {
    let blocking = case.calls[0].blocking;
    let scope = Scope::new()
        .with_waits(true)
        .with_seed(seed)
        .with_enabled(case.off_at > 0);
    let _entered = runtime.enter();
    // Timers have steps of 1 ms since the runtime began.
    let late = nanos(epoch.elapsed());
    pass(late.next_multiple_of(ms(1)) - late);
    let world = World::new(case, form);
    let (result, log) = if blocking {
        let (result, log) = scope.run_blocking(|| call_blocking(&world, 0));
        (Some(result), log)
    } else {
        runtime.block_on(scope.run(dropped_after(&world, polls)))
    };
    let notes = world.notes.into_inner().expect("no panic");
    let result = result.map(|result| result.map_err(|failure| failed(&failure)));
    Played {
        seen: Seen {
            events: notes.events,
            reports: reports(&log),
            result,
        },
        polls: notes.polls,
    }
}

async fn dropped_after(world: &World<'_>, polls: Option<usize>) -> Option<Result<usize, Failure>> {
    let mut running = Some(call(world, 0));
    poll_fn(|context| {
        if let Some(Poll::Ready(result)) = running.as_mut().map(|call| call.as_mut().poll(context))
        {
            return Poll::Ready(Some(result));
        }
        let now = world.now();
        let mut notes = world.notes();
        let events = notes.events.len();
        notes.polls.push((events, now));
        let last = polls == Some(notes.polls.len());
        drop(notes);
        if last {
            running = None;
            return Poll::Ready(None);
        }
        Poll::Pending
    })
    .await
}

fn reports(log: &Log) -> Vec<Report> {
    let report = |call: &LoggedCall| {
        let report = call.report();
        Report {
            depth: match report.function() {
                name if name.contains("outer::") => 0,
                name if name.contains("innermost::") => 2,
                _ => 1,
            },
            outcome: report.outcome().as_str(),
            attempts: report.attempts(),
            elapsed: nanos(report.elapsed()),
            waited: nanos(report.waited()),
            verdict: report.verdict().map(seen),
            hedge: report.hedge().map(HedgeOutcome::as_str),
            level: report.budget_level().map(thousandths),
        }
    };
    log.calls().iter().map(report).collect()
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a level is in [0, capacity]"
)]
fn thousandths(level: f64) -> u64 {
    (level * 1000.0).round() as u64
}
