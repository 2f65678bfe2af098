//! The numbers of a budget, and how they change its level: pure arithmetic.

use std::time::Duration;

use crate::classify::Verdict;
use crate::clock::Stamp;
use crate::report::PreviousFailure;

/// What a retry is charged: nothing, or the price for the kind of failure before it.
// In the order of the prices of the default budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Charge {
    /// Nothing.
    Free,
    /// After any other failure.
    Failure,
    /// After an error with the verdict `Throttled`.
    Throttled,
    /// After an attempt that its timeout cut, or that failed at the limit. The service may still be working on that attempt.
    Timeout,
}

impl Charge {
    /// What a retry costs after an attempt that failed like this. After a conflict it is free: another caller made progress, so
    /// the service does not fail.
    pub(crate) fn after(previous: PreviousFailure) -> Self {
        match previous {
            PreviousFailure::Failed(Verdict::Conflict) => Self::Free,
            PreviousFailure::Failed(Verdict::Throttled) => Self::Throttled,
            PreviousFailure::Failed(_) | PreviousFailure::NotReady => Self::Failure,
            PreviousFailure::TimedOut => Self::Timeout,
        }
    }
}

/// The numbers of a budget; amounts in thousandths of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BudgetConfig {
    pub(crate) start: u32,
    pub(crate) capacity: u32,
    pub(crate) failure: u32,
    pub(crate) throttled: u32,
    pub(crate) timeout: u32,
    /// What a call gives: if it succeeds without a retry, or once if [`each_call_gives`](Self::each_call_gives).
    pub(crate) reward: u32,
    /// Whether every call that succeeds or asks for a retry gives the reward once, as with `Budget::ratio`. So retries are a share
    /// of the calls. If not, a call that succeeds after retries gives the price of the last one.
    pub(crate) each_call_gives: bool,
    /// The amount that comes back each second.
    pub(crate) refill: u32,
    /// Whether calls that had begun when a fault began retry for free; see [`FaultState`].
    pub(crate) first_wave_is_free: bool,
    /// Whether the hint of a server pauses all calls.
    pub(crate) pauses: bool,
}

/// A retry that asks for its permit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Request {
    pub(crate) charge: Charge,
    /// 1 for the first retry of its call.
    pub(crate) number: u32,
    /// Whether its call had begun when the fault began, if there is one.
    pub(crate) had_begun: bool,
    /// Whether its call failed in its first poll. Sibling calls may not have begun yet, so such a failure starts no fault, unless
    /// the budget is low already.
    pub(crate) at_once: bool,
}

/// How many retries of a call may be free. Our choice, with the closed loop of `docs/LOAD.md`: a server that resets
/// connections for a second fails up to five attempts, with the waits of the default between them.
pub(super) const FREE_RETRIES: u32 = 5;

/// A fault of the service, as far as its budget can see.
///
/// A fault begins with the first retry that takes tokens after a success, and ends with the next success. Once more than a
/// third of the tokens are gone, it is serious: calls that had begun when it began retry for free, and it ends with a success
/// when all tokens are back. A fault does not expire with time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FaultState {
    None,
    Slight,
    Serious,
}

/// What changes in a budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Balance {
    /// Thousandths of a token. Not the level, so a budget with nothing missing is full with any capacity.
    pub(super) missing: u32,
    pub(super) fault: FaultState,
    /// How many faults began.
    pub(super) faults: u32,
    /// Until when the time is credited. Never before the first use, so that time counts from there.
    pub(super) credited: Stamp,
    pub(super) pause_end: Option<Stamp>,
    /// A number that no other cell has, by which a test scope knows it. Drawn at the first use. An address cannot be the
    /// number, because addresses are reused.
    // Not in a `OnceLock` beside it, which rustc would check again for each annotated function.
    pub(super) id: Option<u64>,
}

/// How far the clock reading of one thread may lie behind that of another: a thread can be suspended between the
/// reading and the update. Our choice.
const LATE: Duration = Duration::from_secs(1);

impl Balance {
    /// A budget from which this amount is missing.
    pub(super) const fn new(missing: u32, credited: Stamp) -> Self {
        Self {
            missing,
            fault: FaultState::None,
            faults: 0,
            credited,
            pause_end: None,
            id: None,
        }
    }

    /// Whether the budget is full, and has neither a fault nor a pause, so that a success does not change it.
    pub(super) const fn is_at_rest(&self) -> bool {
        self.missing == 0 && matches!(self.fault, FaultState::None) && self.pause_end.is_none()
    }

    pub(super) fn add(&mut self, amount: u32) {
        self.missing = self.missing.saturating_sub(amount);
    }

    /// Begins a fault, or makes the present one serious.
    pub(super) fn begin(&mut self, fault: FaultState) {
        if self.fault == FaultState::None {
            self.faults = self.faults.wrapping_add(1);
        }
        self.fault = fault;
    }
}

impl BudgetConfig {
    /// The largest number of tokens. Our choice: sums of amounts fit 32 bits.
    pub(crate) const MOST: u32 = 268_435;

    /// The numbers of `Budget::new`. Our choice in the simulation of `docs/LOAD.md`.
    pub(crate) const DEFAULT: Self = Self {
        start: Self::tokens(200),
        capacity: Self::tokens(200),
        failure: Self::tokens(2),
        throttled: Self::tokens(4),
        timeout: Self::tokens(6),
        reward: 200,
        each_call_gives: false,
        refill: Self::tokens(2),
        first_wave_is_free: true,
        pauses: false,
    };

    /// The numbers of `Budget::aws`. Source: AWS SDKs and Tools Reference Guide, *Retry behavior*, standard mode, 2026.
    pub(super) const AWS: Self = Self {
        start: Self::tokens(500),
        capacity: Self::tokens(500),
        failure: Self::tokens(14),
        throttled: Self::tokens(5),
        timeout: Self::tokens(14),
        reward: Self::tokens(1),
        refill: 0,
        first_wave_is_free: false,
        ..Self::DEFAULT
    };

    /// The numbers of `Budget::ratio`, which sets the ratio as the reward.
    pub(super) const RATIO: Self = Self {
        start: Self::tokens(1),
        capacity: Self::tokens(10),
        failure: Self::tokens(1),
        throttled: Self::tokens(1),
        timeout: Self::tokens(1),
        each_call_gives: true,
        ..Self::AWS
    };

    /// How many hedges a function may make: one for 16 calls, and ten saved up.
    ///
    /// It bounds the load that hedges add to a service that is slow as a whole, at any rate of calls: at most 6.25 %. Its own
    /// budget cannot, because those tokens come back with time, and a slow service does not fail. Finagle bounds its backup
    /// requests by calls too. Ten is our choice: enough for a function that is seldom called.
    pub(crate) const HEDGES: Self = Self {
        start: Self::tokens(160),
        capacity: Self::tokens(160),
        failure: Self::tokens(16),
        // A call gives a token back, as there.
        ..Self::AWS
    };

    /// Converts whole tokens, at most 268,435, to thousandths.
    pub(super) const fn tokens(tokens: u32) -> u32 {
        let fits = tokens < Self::MOST;
        1000 * if fits { tokens } else { Self::MOST }
    }

    /// The capacity in tokens.
    pub(crate) const fn capacity(&self) -> u32 {
        self.capacity / 1000
    }

    pub(super) const fn price(&self, charge: Charge) -> u32 {
        match charge {
            Charge::Free => 0,
            Charge::Failure => self.failure,
            Charge::Throttled => self.throttled,
            Charge::Timeout => self.timeout,
        }
    }

    /// Asks for the permit of a retry. Returns what it is charged, or `None` if it is refused.
    pub(super) fn take(&self, balance: &mut Balance, of: Request) -> Option<Charge> {
        if self.each_call_gives && of.number == 1 {
            // The call gives its share before the price is taken.
            balance.add(self.reward);
        }
        let price = self.price(of.charge);
        let missing = balance.missing.saturating_add(price);
        let fits = missing <= self.capacity;
        let may_be_free = self.first_wave_is_free
            && of.had_begun
            && of.number <= FREE_RETRIES
            && price <= self.capacity;
        // If too few tokens are left for this retry, its fault is serious too.
        if may_be_free && (balance.fault == FaultState::Serious || !fits) {
            balance.begin(FaultState::Serious);
            return Some(Charge::Free);
        }
        if !fits {
            return None;
        }
        balance.missing = missing;
        if price > 0 && self.is_serious(missing) {
            balance.begin(FaultState::Serious);
        } else if price > 0
            && self.first_wave_is_free
            && !of.at_once
            && balance.fault == FaultState::None
        {
            balance.begin(FaultState::Slight);
        }
        Some(of.charge)
    }

    /// Records a call that succeeded. `last_retry` is the charge of its last retry.
    pub(super) fn succeed(&self, balance: &mut Balance, last_retry: Option<Charge>) {
        balance.add(match last_retry {
            None => self.reward,
            // This call gave its share when it asked for its first retry.
            Some(_) if self.each_call_gives => 0,
            Some(charge) => self.price(charge),
        });
        if balance.fault != FaultState::Serious || balance.missing == 0 {
            balance.fault = FaultState::None;
        }
    }

    /// Whether a fault is serious in a budget from which this amount is missing.
    pub(super) const fn is_serious(&self, missing: u32) -> bool {
        self.first_wave_is_free && missing > self.capacity / 3
    }

    pub(super) fn level(&self, balance: &Balance) -> u32 {
        self.capacity.saturating_sub(balance.missing)
    }

    /// Credits the time until `now`.
    ///
    /// If `now` is a little early, another thread read the clock later and was faster. If it is far too early, this is the first
    /// use, or the clock was set back (in a test with a paused clock), and time counts from there.
    pub(super) fn credit(&self, balance: &mut Balance, now: Stamp) {
        let late = balance.credited.since(now);
        if late.is_zero() || late > LATE {
            // The difference of two sums loses nothing by rounding in the long run.
            let refill = u128::from(self.refill);
            let sum_before = u128::from(balance.credited.as_nanos()) * refill / 1_000_000_000;
            let sum = u128::from(now.as_nanos()) * refill / 1_000_000_000;
            let earned = sum.saturating_sub(sum_before);
            balance.add(u32::try_from(earned).unwrap_or(u32::MAX));
            balance.credited = now;
        }
    }
}

/// Converts a number, such as one of tokens, to thousandths, rounded, in `[0, 268_435_000]`. Only 0, less and NaN give 0.
pub(crate) const fn thousandths(number: f64) -> u32 {
    // The larger of NaN and 0 is 0.
    let number = number.max(0.0).min(BudgetConfig::MOST as f64);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "at most 268_435_000"
    )]
    let thousandths = (number * 1000.0 + 0.5) as u32;
    if thousandths == 0 && number > 0.0 {
        1
    } else {
        thousandths
    }
}
