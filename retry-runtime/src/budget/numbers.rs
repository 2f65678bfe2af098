//! The numbers of a budget, and how they change its level: pure arithmetic on one packed word.

use crate::clock::FIRST;

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
    /// After an attempt that its timeout cut. The service may still be working on that attempt.
    Timeout,
}

/// The numbers of a budget; amounts in thousandths of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct BudgetConfig {
    pub(super) start: u32,
    pub(crate) capacity: u32,
    pub(crate) failure: u32,
    pub(crate) throttled: u32,
    pub(crate) timeout: u32,
    /// What a call gives. [`BudgetConfig::earning`] says when.
    pub(crate) reward: u32,
    pub(super) earning: Earning,
    /// The amount that comes back each second.
    pub(crate) refill: u32,
    /// Whether calls that had begun when a fault began retry for free; see [`FaultState`].
    pub(crate) first_wave_is_free: bool,
    /// Whether the hint of a server pauses all calls.
    pub(crate) pauses: bool,
}

/// What fills a budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Earning {
    /// A call that succeeds gives the price of its last retry, or the reward if it made no retry.
    Success,
    /// Every call that succeeds or asks for a retry gives the reward once. So retries are a share of the calls.
    Call,
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

/// The amount missing from a full budget, the fault, and the time. All are in one word, so one compare-and-swap changes
/// all.
///
/// ```text
/// bit 63                     30 29   28 27                         0
///     | tick, 50 ms, mod 2^34  | fault | missing, 1/1000 of a token |
/// ```
///
/// The word holds the missing amount and not the level, so a full budget without a fault has 30 zeros with any capacity.
///
/// Bounds: at most 268,435.455 tokens are missing. A tick repeats every 27 years, and differences up to half of that
/// time are exact; see [`passed_since`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Balance {
    pub(super) missing: u32,
    pub(super) fault: FaultState,
    pub(super) tick: u64,
}

/// The milliseconds of a tick. Our choice: short beside an attempt.
pub(super) const TICK_MILLIS: u64 = 50;

const MISSING_BITS: u32 = 28;
const MISSING_MAX: u32 = (1 << MISSING_BITS) - 1;
const FAULT_BITS: u32 = 2;
const FAULT_MASK: u64 = (1 << FAULT_BITS) - 1;
const TICK_BITS: u32 = 64 - FAULT_BITS - MISSING_BITS;
const TICK_MASK: u64 = (1 << TICK_BITS) - 1;

// So a new budget counts no time from before the process.
const _: () = assert!((FIRST / (TICK_MILLIS * 1_000_000)) & TICK_MASK == 0);

/// How far the clock reading of one thread may lie behind that of another: a thread can be suspended between the
/// reading and the update. Our choice: one second.
const LATE_TICKS: u64 = 1_000 / TICK_MILLIS;

impl Balance {
    pub(super) const fn pack(self) -> u64 {
        let time = (self.tick & TICK_MASK) << FAULT_BITS;
        ((time | self.fault as u64) << MISSING_BITS) | self.missing as u64
    }

    pub(super) const fn unpack(word: u64) -> Self {
        #[expect(clippy::cast_possible_truncation, reason = "28 bits after the mask")]
        let missing = (word & MISSING_MAX as u64) as u32;
        Self {
            missing,
            fault: match (word >> MISSING_BITS) & FAULT_MASK {
                0 => FaultState::None,
                1 => FaultState::Slight,
                _ => FaultState::Serious,
            },
            tick: word >> (MISSING_BITS + FAULT_BITS),
        }
    }

    /// Whether the budget is full and has no fault, so that a success does not change it.
    #[inline]
    pub(super) fn is_at_rest(self) -> bool {
        self.missing == 0 && self.fault == FaultState::None
    }

    /// Returns the state after `amount` came in.
    pub(super) fn add(self, amount: u32) -> Self {
        Self {
            missing: self.missing.saturating_sub(amount),
            ..self
        }
    }
}

impl BudgetConfig {
    /// The largest number of tokens, which fits the packed word.
    pub(crate) const MOST: u32 = MISSING_MAX / 1000;

    /// The numbers of `Budget::new`. Our choice in the simulation of `docs/LOAD.md`.
    pub(crate) const DEFAULT: Self = Self {
        start: Self::tokens(200),
        capacity: Self::tokens(200),
        failure: Self::tokens(2),
        throttled: Self::tokens(4),
        timeout: Self::tokens(6),
        reward: 200,
        earning: Earning::Success,
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
        earning: Earning::Success,
        refill: 0,
        first_wave_is_free: false,
        pauses: false,
    };

    /// The numbers of `Budget::ratio`, which sets the ratio as the reward.
    pub(super) const RATIO: Self = Self {
        start: Self::tokens(1),
        capacity: Self::tokens(10),
        failure: Self::tokens(1),
        throttled: Self::tokens(1),
        timeout: Self::tokens(1),
        reward: 0,
        earning: Earning::Call,
        refill: 0,
        first_wave_is_free: false,
        pauses: false,
    };

    /// Converts whole tokens to thousandths.
    ///
    /// # Panics
    ///
    /// - If the number does not fit the packed word.
    pub(super) const fn tokens(tokens: u32) -> u32 {
        assert!(
            tokens <= Self::MOST,
            "a number of tokens is at most 268_435"
        );
        tokens * 1000
    }

    /// The same numbers for a budget that starts full.
    pub(super) const fn starting_full(self) -> Self {
        Self {
            start: self.capacity,
            ..self
        }
    }

    /// Whether calls earn a share of a retry each, as with `Budget::ratio`.
    #[cfg(feature = "serde")]
    pub(crate) fn is_ratio(&self) -> bool {
        self.earning == Earning::Call
    }

    /// The capacity in tokens.
    pub(crate) const fn capacity(&self) -> u32 {
        self.capacity / 1000
    }

    pub(super) const fn first_word(&self) -> u64 {
        Balance {
            missing: self.capacity - self.start,
            fault: FaultState::None,
            tick: 0,
        }
        .pack()
    }

    /// Returns the state of a budget from which this amount is missing at the time `now`.
    pub(super) fn drained(&self, missing: u32, now: u64) -> Balance {
        Balance {
            missing,
            fault: if self.is_serious(missing) {
                FaultState::Serious
            } else {
                FaultState::None
            },
            tick: now,
        }
    }

    pub(super) const fn price(&self, charge: Charge) -> u32 {
        match charge {
            Charge::Free => 0,
            Charge::Failure => self.failure,
            Charge::Throttled => self.throttled,
            Charge::Timeout => self.timeout,
        }
    }

    /// Returns what a success adds. `last_retry` is the charge of the call's last retry.
    pub(super) const fn gain(&self, last_retry: Option<Charge>) -> u32 {
        match (self.earning, last_retry) {
            (_, None) => self.reward,
            (Earning::Success, Some(charge)) => self.price(charge),
            // This call gave its share when it asked for its first retry.
            (Earning::Call, Some(_)) => 0,
        }
    }

    /// Returns the state after a retry asked for its permit, and what it is charged. `None` refuses it.
    pub(super) fn take(&self, state: Balance, of: Request) -> (Balance, Option<Charge>) {
        let state = match self.earning {
            // The call gives its share before the price is taken.
            Earning::Call if of.number == 1 => state.add(self.reward),
            _ => state,
        };
        let price = self.price(of.charge);
        let missing = state.missing.saturating_add(price);
        let fits = missing <= self.capacity;
        let may_be_free = self.first_wave_is_free
            && of.had_begun
            && of.number <= FREE_RETRIES
            && price <= self.capacity;
        // If too few tokens are left for this retry, its fault is serious too.
        if may_be_free && (state.fault == FaultState::Serious || !fits) {
            let fault = FaultState::Serious;
            return (Balance { fault, ..state }, Some(Charge::Free));
        }
        if !fits {
            return (state, None);
        }
        let fault = match state.fault {
            _ if price > 0 && self.is_serious(missing) => FaultState::Serious,
            FaultState::None if price > 0 && self.first_wave_is_free && !of.at_once => {
                FaultState::Slight
            }
            fault => fault,
        };
        (
            Balance {
                missing,
                fault,
                ..state
            },
            Some(of.charge),
        )
    }

    /// Returns the state after a call succeeded. `last_retry` is the charge of its last retry.
    pub(super) fn succeed(&self, state: Balance, last_retry: Option<Charge>) -> Balance {
        let state = state.add(self.gain(last_retry));
        match state.fault {
            FaultState::Serious if state.missing > 0 => state,
            _ => Balance {
                fault: FaultState::None,
                ..state
            },
        }
    }

    /// Whether a fault is serious in a budget from which this amount is missing.
    const fn is_serious(&self, missing: u32) -> bool {
        self.first_wave_is_free && missing > self.capacity / 3
    }

    pub(super) fn level(&self, state: Balance) -> u32 {
        self.capacity.saturating_sub(state.missing)
    }

    /// Returns the state at the time `now`, with the amount that came back since the tick of `state`.
    pub(super) fn at(&self, state: Balance, now: u64) -> Balance {
        let (ticks, tick) = passed_since(state.tick, now);
        let earned = self
            .sum(now)
            .saturating_sub(self.sum(now.saturating_sub(ticks)));
        Balance { tick, ..state }.add(u32::try_from(earned).unwrap_or(u32::MAX))
    }

    /// Returns the amount that comes back from tick 0 to `ticks`. The difference of two sums loses nothing by rounding in the
    /// long run, and a year without calls costs as much as a tick.
    ///
    /// Bound: fewer than 2^64 ticks times fewer than 2^28 thousandths a second give less than 2^92.
    fn sum(&self, ticks: u64) -> u128 {
        u128::from(ticks) * u128::from(self.refill) / u128::from(1_000 / TICK_MILLIS)
    }
}

/// Returns how many ticks passed from the tick `last` to `now`, and the tick to remember.
///
/// - `now` is ahead of `last` by less than half the range of a tick: that much time has passed.
/// - `now` is a little behind: another thread read the clock later and updated first. No time has passed.
/// - `now` is further behind: the clock was set back (in a test with a paused clock), or no call asked for a retry for
///   most of a year. No time has passed, and counting starts again at `now`.
fn passed_since(last: u64, now: u64) -> (u64, u64) {
    let ahead = now.wrapping_sub(last) & TICK_MASK;
    let behind = last.wrapping_sub(now) & TICK_MASK;
    if ahead <= TICK_MASK / 2 {
        (ahead, now & TICK_MASK)
    } else if behind <= LATE_TICKS {
        (0, last)
    } else {
        (0, now & TICK_MASK)
    }
}

/// Converts a number of tokens to thousandths, rounded. Only 0 gives 0.
///
/// # Panics
///
/// - If the number is negative, is NaN, or does not fit the packed word.
pub(super) const fn thousandths(number: f64) -> u32 {
    assert!(
        number >= 0.0 && number <= BudgetConfig::MOST as f64,
        "a number of tokens is in `0.0..=268_435.0`"
    );
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
