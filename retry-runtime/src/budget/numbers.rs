//! The numbers of a budget, and how they change its level: pure arithmetic on one packed word.

/// The kind of failure before a retry, which sets the price of the retry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Charge {
    /// After any other failure.
    Failure,
    /// After an error with the verdict `Throttled`.
    Throttled,
    /// After an attempt that its timeout cut. The service may still be working on that attempt.
    Timeout,
}

/// The numbers of a budget; amounts in thousandths of a token.
#[derive(Debug, Clone, Copy)]
pub(super) struct BudgetNumbers {
    pub(super) start: u32,
    pub(super) capacity: u32,
    pub(super) failure: u32,
    pub(super) throttled: u32,
    pub(super) timeout: u32,
    /// What a call gives. [`BudgetNumbers::earning`] says when.
    pub(super) reward: u32,
    pub(super) earning: Earning,
    /// The amount that comes back each second.
    pub(super) refill: u32,
}

/// What fills a budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Earning {
    /// A call that succeeds gives the price of its last retry, or the reward if it made no retry.
    Success,
    /// Every call that succeeds or asks for a retry gives the reward once. So retries are a share of the calls.
    Call,
}

/// The amount missing from a full budget, and the time. Both are in one word, so one compare-and-swap changes both.
///
/// ```text
/// bit 63                           28 27                         0
///     | tick, milliseconds mod 2^36 | missing, 1/1000 of a token |
/// ```
///
/// The word holds the missing amount and not the level, so a full budget is 0 with any capacity.
///
/// Bounds: at most 268,435.455 tokens are missing. A tick repeats every 2.18 years, and differences up to half of that
/// time are exact; see [`BudgetNumbers::earned_since`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LedgerState {
    pub(super) missing: u32,
    pub(super) tick: u64,
}

const MISSING_BITS: u32 = 28;
const MISSING_MAX: u32 = (1 << MISSING_BITS) - 1;
const TICK_BITS: u32 = 64 - MISSING_BITS;
const TICK_MASK: u64 = (1 << TICK_BITS) - 1;

/// How far the clock reading of one thread may lie behind that of another: a thread can be suspended between the
/// reading and the update. Chosen by us: about one second.
const LATE_TICKS: u64 = 1 << 10;

impl LedgerState {
    pub(super) const fn pack(self) -> u64 {
        ((self.tick & TICK_MASK) << MISSING_BITS) | self.missing as u64
    }

    /// Returns the state after `amount` came in.
    pub(super) fn add(self, amount: u32) -> Self {
        Self {
            missing: self.missing.saturating_sub(amount),
            ..self
        }
    }

    pub(super) const fn unpack(word: u64) -> Self {
        #[expect(clippy::cast_possible_truncation, reason = "28 bits after the mask")]
        let missing = (word & MISSING_MAX as u64) as u32;
        Self {
            missing,
            tick: word >> MISSING_BITS,
        }
    }
}

impl BudgetNumbers {
    /// The numbers of `Budget::new`. Chosen by us in the simulation of `docs/LOAD.md`.
    pub(super) const DEFAULT: Self = Self {
        start: Self::tokens(500),
        capacity: Self::tokens(500),
        failure: Self::tokens(2),
        throttled: Self::tokens(5),
        timeout: Self::tokens(14),
        reward: 200,
        earning: Earning::Success,
        refill: Self::tokens(5),
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
    };

    /// Converts whole tokens to thousandths.
    ///
    /// # Panics
    ///
    /// - If the number does not fit the packed word.
    pub(super) const fn tokens(tokens: u32) -> u32 {
        assert!(
            tokens <= MISSING_MAX / 1000,
            "a number of tokens is at most 268_435"
        );
        tokens * 1000
    }

    pub(super) const fn first_word(self) -> u64 {
        LedgerState {
            missing: self.capacity - self.start,
            tick: 0,
        }
        .pack()
    }

    /// Returns how many retries a full budget allows at once, or `None` for no limit.
    pub(super) const fn retries_when_full(&self, charge: Charge) -> Option<u32> {
        self.capacity.checked_div(self.price(charge))
    }

    pub(super) const fn price(&self, charge: Charge) -> u32 {
        match charge {
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

    /// Returns what a call gives when it asks for a retry, before the price is taken.
    pub(super) const fn share(&self, first: bool) -> u32 {
        match (self.earning, first) {
            (Earning::Call, true) => self.reward,
            _ => 0,
        }
    }

    /// Returns the state after `amount` was taken, or `None` if the level is lower.
    pub(super) fn take(&self, state: LedgerState, amount: u32) -> Option<LedgerState> {
        let missing = state.missing.checked_add(amount)?;
        (missing <= self.capacity).then_some(LedgerState { missing, ..state })
    }

    /// Returns the level in this state.
    pub(super) fn level(&self, state: LedgerState) -> u32 {
        self.capacity.saturating_sub(state.missing)
    }

    /// Returns the state at the time `now`, with the amount that came back since the tick of `state`.
    pub(super) fn refill(&self, state: LedgerState, now: u64) -> LedgerState {
        if self.refill == 0 {
            return state;
        }
        let (earned, tick) = self.earned_since(state.tick, now);
        LedgerState { tick, ..state }.add(earned)
    }

    /// Returns the amount that came back from the tick `last` to `now`, and the tick to remember.
    ///
    /// It is computed in closed form, so a year without calls costs as much as a millisecond. It is the difference of
    /// two sums since tick 0, so that rounding loses nothing in the long run.
    ///
    /// - `now` is ahead of `last` by less than half the range of a tick: that much time has passed.
    /// - `now` is a little behind: another thread read the clock later and updated first. Nothing comes back.
    /// - `now` is further behind: the clock was set back (in a test with a paused clock), or no call asked for a retry
    ///   in over a year. Nothing comes back for that time, and counting starts again at `now`.
    fn earned_since(&self, last: u64, now: u64) -> (u32, u64) {
        let ahead = now.wrapping_sub(last) & TICK_MASK;
        let behind = last.wrapping_sub(now) & TICK_MASK;
        if ahead <= TICK_MASK / 2 {
            let earned = self
                .sum(now)
                .saturating_sub(self.sum(now.saturating_sub(ahead)));
            (u32::try_from(earned).unwrap_or(u32::MAX), now & TICK_MASK)
        } else if behind <= LATE_TICKS {
            (0, last)
        } else {
            (0, now & TICK_MASK)
        }
    }

    /// Returns the amount that comes back from tick 0 to `ticks`.
    ///
    /// Bound: fewer than 2^64 ticks times fewer than 2^28 thousandths a second give less than 2^92.
    fn sum(&self, ticks: u64) -> u128 {
        u128::from(ticks) * u128::from(self.refill) / 1000
    }
}

/// Converts a number of tokens to thousandths, rounded.
///
/// # Panics
///
/// - If the number is negative, is NaN, or does not fit the packed word.
pub(super) const fn thousandths(number: f64) -> u32 {
    assert!(
        number >= 0.0 && number <= (MISSING_MAX / 1000) as f64,
        "a number of tokens is in `0.0..=268_435.0`"
    );
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "at most 268_435_000"
    )]
    let thousandths = (number * 1000.0 + 0.5) as u32;
    thousandths
}
