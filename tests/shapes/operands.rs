//! Settings whose value is more than a name or a call: casts, operators, blocks, literals of structs.

use std::future::Future;
use std::io;
use std::ops::{Add, Not};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use reattempt::{retry, Budget, Policy};

use crate::{cases, Calls};

/// A future that is always ready, with operators that give futures.
#[derive(Clone, Copy)]
struct Ready;

impl Future for Ready {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        Poll::Ready(())
    }
}

impl Add for Ready {
    type Output = Self;

    fn add(self, _: Self) -> Self {
        self
    }
}

impl Not for Ready {
    type Output = Self;

    fn not(self) -> Self {
        self
    }
}

/// A future that is never ready, with a field.
struct Never {
    after: u8,
}

impl Future for Never {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        assert_eq!(self.after, 1);
        Poll::Pending
    }
}

impl Not for Never {
    type Output = Self;

    fn not(self) -> Self {
        self
    }
}

type Boxed = Pin<Box<dyn Future<Output = ()> + Send>>;

/// What a call works out, of two operands.
#[derive(Clone, Copy)]
struct Half;

impl Add<Duration> for Half {
    type Output = Policy;

    fn add(self, base: Duration) -> Policy {
        Policy::new().with_base(base)
    }
}

impl Add<u64> for Half {
    type Output = Vec<Duration>;

    fn add(self, millis: u64) -> Vec<Duration> {
        vec![Duration::from_millis(millis); 2]
    }
}

impl Add<&'static Budget> for Half {
    type Output = &'static Budget;

    fn add(self, budget: &'static Budget) -> &'static Budget {
        budget
    }
}

static BUDGET: Budget = Budget::new();
static OTHER: Budget = Budget::new();

struct Settings {
    policy: Policy,
}

struct Client<'c> {
    calls: &'c Calls,
    ready: Ready,
    never: Never,
    policy: Policy,
    budget: Budget,
    delays: [Duration; 2],
}

impl<'c> Client<'c> {
    fn new(calls: &'c Calls) -> Self {
        Self {
            calls,
            ready: Ready,
            never: Never { after: 1 },
            policy: Policy::new(),
            budget: Budget::new(),
            delays: [Duration::ZERO; 2],
        }
    }

    #[retry(before_retry = &mut self.ready, cancel = &mut never)]
    async fn references(&mut self, mut never: Never) -> io::Result<u32> {
        self.calls.fail()
    }

    #[retry(policy = &mut self.policy, budget = &self.budget)]
    async fn references_to_fields(&mut self) -> io::Result<u32> {
        self.calls.fail()
    }

    #[retry(policy = &self.policy as &Policy, budget = &self.budget as &Budget)]
    async fn casts(&self) -> io::Result<u32> {
        self.calls.fail()
    }

    #[retry(delays = &self.delays[..] as &[Duration], idempotent = self.never.after as u32 == 1)]
    #[expect(clippy::cast_lossless, reason = "the operator is what is tested")]
    async fn cast_of_delays(&self) -> io::Result<u32> {
        self.calls.fail()
    }

    #[retry(
        policy = *&self.policy,
        budget = *&&self.budget,
        before_retry = *&self.ready,
        timeout = *&self.delays[0] + Duration::from_secs(1)
    )]
    #[expect(clippy::deref_addrof, reason = "the operator is what is tested")]
    async fn dereferenced(&self) -> io::Result<u32> {
        self.calls.fail()
    }
}

#[retry(
    before_retry = Box::pin(Ready) as Boxed,
    cancel = Box::pin(Never { after: 1 }) as Boxed,
    attempts = most as u32,
    timeout = Duration::from_secs(most as u64),
    factor = most as f64
)]
#[expect(clippy::cast_lossless, reason = "the operator is what is tested")]
async fn casts(calls: &Calls, most: u8) -> io::Result<u32> {
    calls.fail()
}

#[retry(
    policy = half + Duration::ZERO,
    budget = half + &BUDGET,
    before_retry = Ready + Ready,
    timeout = limit + limit
)]
async fn sums(calls: &Calls, half: Half, limit: Duration) -> io::Result<u32> {
    calls.fail()
}

#[retry(delays = half + 10, idempotent = !text.is_empty() || half_of(half), before_retry = !Ready, cancel = !Never { after: 1 })]
async fn operators(calls: &Calls, half: Half, text: &str) -> io::Result<u32> {
    calls.fail()
}

fn half_of(_: Half) -> bool {
    true
}

#[retry(
    policy = Settings { policy: Policy::new() }.policy,
    cancel = Never { after: 1 },
    before_retry = Wait { of: Ready }.end()
)]
async fn literals_of_structs(calls: &Calls) -> io::Result<u32> {
    calls.fail()
}

struct Wait {
    of: Ready,
}

impl Wait {
    fn end(self) -> Ready {
        self.of
    }
}

/// In quotes.
#[retry(
    cancel = "Never { after: 1 }",
    before_retry = "&mut ready",
    policy = "half + Duration::ZERO"
)]
async fn quoted(calls: &Calls, mut ready: Ready, half: Half) -> io::Result<u32> {
    calls.fail()
}

#[retry(
    policy = if kind == 0 { Policy::new() } else { Policy::new().with_attempts(9) },
    budget = match kind { 0 => &BUDGET, _ => &OTHER },
    before_retry = if kind == 0 { Ready } else { !Ready },
    cancel = match kind { 0 => Never { after: 1 }, _ => !Never { after: 0 } },
    timeout = if kind == 0 { Duration::from_secs(1) } else { Duration::ZERO }
)]
async fn branches(calls: &Calls, kind: u8) -> io::Result<u32> {
    calls.fail()
}

#[retry(
    policy = { let base = Duration::ZERO; Policy::new().with_base(base) },
    delays = { vec![Duration::ZERO; 2] },
    before_retry = { Ready } + Ready,
    cancel = { Never { after: 1 } }
)]
async fn blocks(calls: &Calls) -> io::Result<u32> {
    calls.fail()
}

#[retry(delays = vec![Duration::ZERO; 2], before_retry = async { (Ready.await, ()).1 }, cancel = async { (Never { after: 1 }.await, ()).1 })]
async fn macros_and_async_blocks(calls: &Calls) -> io::Result<u32> {
    calls.fail()
}

macro_rules! function {
    ($name:ident($calls:ident, $half:ident), $policy:expr, $budget:expr, $delays:expr, $before:expr, $cancel:expr) => {
        #[retry(policy = $policy, budget = $budget, delays = $delays, before_retry = $before, cancel = $cancel)]
        async fn $name($calls: &Calls, $half: Half) -> io::Result<u32> {
            $calls.fail()
        }
    };
}

function!(
    fragments(calls, half),
    half + Duration::ZERO,
    half + &BUDGET,
    half + 10,
    Ready + Ready,
    Never { after: 1 }
);

struct Done;

impl Add for Done {
    type Output = ();

    fn add(self, _: Self) {}
}

#[retry(blocking, before_retry = if text.is_empty() { Done } else { Done + Done; Done } + Done)]
fn blocking(calls: &Calls, text: &str) -> io::Result<u32> {
    calls.fail()
}

cases! {
    references: |calls| async { Client::new(calls).references(Never { after: 1 }).await };
    references_to_fields: |calls| Client::new(calls).references_to_fields();
    casts_of_fields: |calls| Client::new(calls).casts();
    cast_of_delays: |calls| Client::new(calls).cast_of_delays();
    dereferenced: |calls| Client::new(calls).dereferenced();
    casts: |calls| casts(calls, 3);
    sums: |calls| sums(calls, Half, Duration::from_secs(1));
    operators: |calls| operators(calls, Half, "");
    literals_of_structs: |calls| literals_of_structs(calls);
    quoted: |calls| quoted(calls, Ready, Half);
    branches: |calls| branches(calls, 0);
    blocks: |calls| blocks(calls);
    macros_and_async_blocks: |calls| macros_and_async_blocks(calls);
    fragments: |calls| fragments(calls, Half);
    blocking: |calls| async { blocking(calls, "") };
}
