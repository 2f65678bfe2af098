//! The numbers of a budget, and how they change its level: pure arithmetic on one packed word.

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
pub(crate) struct BudgetNumbers {
    pub(super) start: u32,
    pub(crate) capacity: u32,
    pub(crate) failure: u32,
    pub(crate) throttled: u32,
    pub(crate) timeout: u32,
    /// What a call gives. [`BudgetNumbers::earning`] says when.
    pub(crate) reward: u32,
    pub(super) earning: Earning,
    /// The amount that comes back each second.
    pub(crate) refill: u32,
    /// Whether calls that were under way when a fault began retry for free; see [`FaultAge`].
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

/// The age of a fault of the service, as far as its budget can see.
///
/// A fault begins when fewer than half of the tokens are left, and ends when all of them are back. Calls that were under way
/// when it began retry for free in its first two seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FaultAge {
    /// There is none.
    None,
    /// It began this many ticks ago, fewer than [`FREE_TICKS`].
    Young(u64),
    /// It is older.
    Old,
}

/// For how long the first wave is free: two seconds. Chosen by us, with the closed loop of `docs/LOAD.md`: a server that
/// stops for 1.5 s fails two attempts of a second.
pub(super) const FREE_TICKS: u64 = 2_000 / TICK_MILLIS;

impl FaultAge {
    /// Returns the fault after this many ticks.
    fn after(self, ticks: u64) -> Self {
        match self {
            Self::Young(age) if age.saturating_add(ticks) < FREE_TICKS => Self::Young(age + ticks),
            Self::None => Self::None,
            _ => Self::Old,
        }
    }

    const fn code(self) -> u64 {
        match self {
            Self::None => 0,
            Self::Young(age) => age + 1,
            Self::Old => FAULT_MASK,
        }
    }

    const fn of(code: u64) -> Self {
        match code {
            0 => Self::None,
            young if young <= FREE_TICKS => Self::Young(young - 1),
            _ => Self::Old,
        }
    }
}

/// The amount missing from a full budget, the fault, and the time. All are in one word, so one compare-and-swap changes
/// all.
///
/// ```text
/// bit 63                     34 33   28 27                         0
///     | tick, 50 ms, mod 2^30  | fault | missing, 1/1000 of a token |
/// ```
///
/// The word holds the missing amount and not the level, so a full budget has 28 zeros with any capacity. A full budget has
/// no fault.
///
/// Bounds: at most 268,435.455 tokens are missing. A tick repeats every 1.7 years, and differences up to half of that
/// time are exact; see [`passed_since`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LedgerState {
    pub(super) missing: u32,
    pub(super) fault: FaultAge,
    pub(super) tick: u64,
}

/// The milliseconds of a tick. Chosen by us: short beside an attempt, and long enough that the word has room for a fault.
pub(super) const TICK_MILLIS: u64 = 50;

const MISSING_BITS: u32 = 28;
const MISSING_MAX: u32 = (1 << MISSING_BITS) - 1;
const FAULT_BITS: u32 = 6;
const FAULT_MASK: u64 = (1 << FAULT_BITS) - 1;
const TICK_BITS: u32 = 64 - FAULT_BITS - MISSING_BITS;
const TICK_MASK: u64 = (1 << TICK_BITS) - 1;

/// How far the clock reading of one thread may lie behind that of another: a thread can be suspended between the
/// reading and the update. Chosen by us: one second.
const LATE_TICKS: u64 = 1_000 / TICK_MILLIS;

impl LedgerState {
    pub(super) const fn pack(self) -> u64 {
        let time = (self.tick & TICK_MASK) << FAULT_BITS;
        ((time | self.fault.code()) << MISSING_BITS) | self.missing as u64
    }

    /// Returns the state after `amount` came in.
    pub(super) fn add(self, amount: u32) -> Self {
        match self.missing.saturating_sub(amount) {
            0 => Self {
                missing: 0,
                fault: FaultAge::None,
                ..self
            },
            missing => Self { missing, ..self },
        }
    }

    pub(super) const fn unpack(word: u64) -> Self {
        #[expect(clippy::cast_possible_truncation, reason = "28 bits after the mask")]
        let missing = (word & MISSING_MAX as u64) as u32;
        Self {
            missing,
            fault: FaultAge::of((word >> MISSING_BITS) & FAULT_MASK),
            tick: word >> (MISSING_BITS + FAULT_BITS),
        }
    }
}

impl BudgetNumbers {
    /// The largest number of tokens, which fits the packed word.
    pub(crate) const MOST: u32 = MISSING_MAX / 1000;

    /// The numbers of `Budget::new`. Chosen by us in the simulation of `docs/LOAD.md`.
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
        LedgerState {
            missing: self.capacity - self.start,
            fault: FaultAge::None,
            tick: 0,
        }
        .pack()
    }

    /// Returns the state of a budget from which this amount is missing at the time `now`. If that is a fault, it is an old
    /// one.
    pub(super) fn drained(&self, missing: u32, now: u64) -> LedgerState {
        LedgerState {
            missing,
            fault: if self.is_fault(missing) {
                FaultAge::Old
            } else {
                FaultAge::None
            },
            tick: now,
        }
    }

    /// Returns how many retries a full budget allows at once, or `None` for no limit.
    pub(super) const fn retries_when_full(&self, charge: Charge) -> Option<u32> {
        self.capacity.checked_div(self.price(charge))
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

    /// Returns what a call gives when it asks for a retry, before the price is taken.
    pub(super) const fn share(&self, first: bool) -> u32 {
        match (self.earning, first) {
            (Earning::Call, true) => self.reward,
            _ => 0,
        }
    }

    /// Returns the state after a retry asked for its permit, and what it is charged. `None` refuses it. `age` says how
    /// many ticks ago its call began, and is asked only in a fault.
    pub(super) fn take(
        &self,
        state: LedgerState,
        charge: Charge,
        age: &impl Fn() -> u64,
    ) -> (LedgerState, Option<Charge>) {
        let price = self.price(charge);
        let paid = state.missing.checked_add(price);
        let paid = paid.filter(|missing| *missing <= self.capacity);
        match (state.fault, paid) {
            (FaultAge::Young(fault), _) if price <= self.capacity && fault <= age() => {
                (state, Some(Charge::Free))
            }
            (FaultAge::None, Some(missing)) if self.is_fault(missing) => {
                let fault = FaultAge::Young(0);
                (
                    LedgerState {
                        missing,
                        fault,
                        ..state
                    },
                    Some(charge),
                )
            }
            (_, Some(missing)) => (LedgerState { missing, ..state }, Some(charge)),
            // More than half of the tokens are left, and not enough for this retry. Its call was under way.
            (FaultAge::None, None) if self.first_wave_is_free && price <= self.capacity => {
                let fault = FaultAge::Young(0);
                (LedgerState { fault, ..state }, Some(Charge::Free))
            }
            (_, None) => (state, None),
        }
    }

    /// Whether a budget from which this amount is missing is in a fault, unless it already was.
    const fn is_fault(&self, missing: u32) -> bool {
        self.first_wave_is_free && missing > self.capacity / 2
    }

    /// Returns the level in this state.
    pub(super) fn level(&self, state: LedgerState) -> u32 {
        self.capacity.saturating_sub(state.missing)
    }

    /// Returns the state at the time `now`, with the amount that came back since the tick of `state`.
    pub(super) fn at(&self, state: LedgerState, now: u64) -> LedgerState {
        let (ticks, tick) = passed_since(state.tick, now);
        let earned = self
            .sum(now)
            .saturating_sub(self.sum(now.saturating_sub(ticks)));
        LedgerState {
            tick,
            fault: state.fault.after(ticks),
            ..state
        }
        .add(u32::try_from(earned).unwrap_or(u32::MAX))
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

/// Converts a number of tokens to thousandths, rounded.
///
/// # Panics
///
/// - If the number is negative, is NaN, or does not fit the packed word.
pub(super) const fn thousandths(number: f64) -> u32 {
    assert!(
        number >= 0.0 && number <= BudgetNumbers::MOST as f64,
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
