//! The numbers of a budget, and what they make of the level: pure arithmetic on one packed word.

/// Why a retry is asked for, as far as its price depends on that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Charge {
    /// After an ordinary failure.
    Retry,
    /// After an error which says that the service had too many requests.
    Throttled,
}

/// The numbers of a budget; amounts in thousandths of a token.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rule {
    pub(super) start: u32,
    pub(super) capacity: u32,
    pub(super) retry: u32,
    pub(super) throttled: u32,
    /// What a call gives; when, and whether a retry's price comes back, is [`Rule::earning`].
    pub(super) reward: u32,
    pub(super) earning: Earning,
    /// Thousandths of a retry earned in a second.
    pub(super) floor: u32,
}

/// What fills a budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Earning {
    /// Success: the price of the call's last retry, or the reward where there was none.
    Success,
    /// Every call, once, whatever becomes of it, so that retries are a share of the calls.
    Call,
}

/// Level and time in one word, so that one compare-and-swap changes both.
///
/// ```text
/// bit 63                           28 27                       0
///     | tick, milliseconds mod 2^36 | level, 1/1000 of a token |
/// ```
///
/// Bounds: a level is at most 268,435.455 tokens. A tick comes round again every 2.18 years, and
/// differences are told right up to half of that; see [`Rule::earned_since`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct State {
    pub(super) level: u32,
    pub(super) tick: u64,
}

const LEVEL_BITS: u32 = 28;
const LEVEL_MAX: u32 = (1 << LEVEL_BITS) - 1;
const TICK_BITS: u32 = 64 - LEVEL_BITS;
const TICK_MASK: u64 = (1 << TICK_BITS) - 1;

/// How far one thread's clock reading may lie behind another's when it gets here: a thread can be
/// set aside between the two steps. Chosen by us: a second and a bit.
const LATE_TICKS: u64 = 1 << 10;

impl State {
    pub(super) const fn pack(self) -> u64 {
        ((self.tick & TICK_MASK) << LEVEL_BITS) | self.level as u64
    }

    pub(super) const fn unpack(word: u64) -> Self {
        #[expect(clippy::cast_possible_truncation, reason = "28 bits after the mask")]
        let level = (word & LEVEL_MAX as u64) as u32;
        Self {
            level,
            tick: word >> LEVEL_BITS,
        }
    }
}

impl Rule {
    /// AWS SDKs and Tools Reference Guide, *Retry behavior*, standard mode, 2026.
    pub(super) const AWS: Self = Self {
        start: Self::tokens(500),
        capacity: Self::tokens(500),
        retry: Self::tokens(14),
        throttled: Self::tokens(5),
        reward: Self::tokens(1),
        earning: Earning::Success,
        floor: 0,
    };

    /// A share of the calls; the share itself is the reward.
    pub(super) const RATIO: Self = Self {
        start: Self::tokens(1),
        capacity: Self::tokens(10),
        retry: Self::tokens(1),
        throttled: Self::tokens(1),
        reward: 0,
        earning: Earning::Call,
        floor: 0,
    };

    /// So many whole tokens.
    ///
    /// # Panics
    ///
    /// - If they do not fit the packed level.
    pub(super) const fn tokens(tokens: u32) -> u32 {
        assert!(
            tokens <= LEVEL_MAX / 1000,
            "a number of tokens is at most 268_435"
        );
        tokens * 1000
    }

    pub(super) const fn first_word(self) -> u64 {
        State {
            level: self.start,
            tick: 0,
        }
        .pack()
    }

    pub(super) const fn price(&self, charge: Charge) -> u32 {
        match charge {
            Charge::Retry => self.retry,
            Charge::Throttled => self.throttled,
        }
    }

    /// What a success adds, given what the call's last retry was asked for as.
    pub(super) const fn gain(&self, last_retry: Option<Charge>) -> u32 {
        match (self.earning, last_retry) {
            (_, None) => self.reward,
            (Earning::Success, Some(charge)) => self.price(charge),
            // Such a call gave its share when it asked for its first retry.
            (Earning::Call, Some(_)) => 0,
        }
    }

    /// What asking adds, before anything is taken.
    pub(super) const fn share(&self, first: bool) -> u32 {
        match (self.earning, first) {
            (Earning::Call, true) => self.reward,
            _ => 0,
        }
    }

    /// The state after `amount` came in.
    pub(super) fn add(&self, state: State, amount: u32) -> State {
        State {
            level: state.level.saturating_add(amount).min(self.capacity),
            ..state
        }
    }

    /// The state at the time `now`, with what the floor earned since the last look.
    pub(super) fn refill(&self, state: State, now: u64) -> State {
        if self.floor == 0 {
            return state;
        }
        let (earned, tick) = self.earned_since(state.tick, now);
        self.add(State { tick, ..state }, earned)
    }

    /// What the floor earned from the tick `last` to `now`, and the tick to remember.
    ///
    /// In closed form, so a year of idling costs what a millisecond does. It is the difference of
    /// two sums since tick 0, so that what is lost to rounding at one look comes back at the next.
    ///
    /// - Ahead by less than half the range of a tick: that much time went by.
    /// - Behind by a little: another thread read the clock later and came first. Nothing to do.
    /// - Behind by more: the clock was set back (a test's paused one), or nobody asked for over a
    ///   year. The time between is not paid for; counting begins afresh.
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

    /// What the floor earns from tick 0 to `ticks`.
    ///
    /// Bound: 2^64 ticks, a floor of 10^7 and a price below 2^28 make less than 2^116.
    fn sum(&self, ticks: u64) -> u128 {
        u128::from(ticks) * u128::from(self.floor) * u128::from(self.retry) / 1_000_000
    }
}

/// A number in thousandths, rounded.
pub(super) const fn thousandths(number: f64) -> u32 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the callers allow numbers in [0, 10_000]"
    )]
    let thousandths = (number * 1000.0 + 0.5) as u32;
    thousandths
}
