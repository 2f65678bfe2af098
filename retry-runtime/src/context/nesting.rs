//! The rule for nested retries: the failed retries of a function are subtracted in later attempts of the calls
//! around it.
//!
//! Retries *failed* if their call failed or was dropped. Each call remembers, by function, how many failed
//! retries the calls inside its attempts had. In its **later** attempts that function's
//! calls have that many fewer attempts, and never fewer than one.
//!
//! - Calls inside the same attempt do not reduce each other's attempts. If several calls of one function ran in that
//!   attempt, later attempts subtract only the retries of the call with most retries.
//! - A call that succeeds takes its own retries back.
//! - A call tells the call around it what it remembers. So any chain of calls runs the innermost body at most 1 + the
//!   sum of all retries times: 7 for 4 × 4 attempts, and 10 for 4 × 4 × 4.
//! - Retries are forgotten after the `max_delay` of the policy that made them.
//!
//! This file is pure: it uses no clock, frame or thread. It works on a short list. Calls that ended are merged, so the
//! list has one entry for each function and attempt, and one for each retried call that is still running.

#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Weak;

use crate::clock::Stamp;

/// How the retries of a function combine with those of the annotated functions around it.
///
/// If retries multiplied, three layers of four attempts would run the innermost body 64 times, while its service is
/// failing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Nested {
    /// Retries add: the failed retries of the function in earlier attempts of the calls around it are
    /// subtracted in later ones. Two layers of four attempts run the body at most 7 times, three layers at most 10
    /// times. The default.
    #[default]
    Add,
    /// Retries multiply, as if there were no calls around: two layers of four attempts run the body up to 16 times.
    Multiply,
    /// Only the outermost call retries. Within another call, this function makes one attempt.
    Outermost,
}

impl Nested {
    /// Returns the word used in the attribute and in logs.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Multiply => "multiply",
            Self::Outermost => "outermost",
        }
    }
}

/// Identifies an annotated function, by the address of its own `static`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FunctionId(usize);

impl FunctionId {
    pub(crate) fn of<T>(only: &'static T) -> Self {
        Self(std::ptr::from_ref(only).addr())
    }
}

/// The known failed retries of one function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FailedRetries {
    pub(crate) function: FunctionId,
    pub(crate) retries: u32,
    /// When the retries are forgotten.
    pub(crate) until: Stamp,
}

/// What one call remembers of the functions inside it.
///
/// `K` identifies a call. An entry holds a `Weak` pointer to it. The pointer tells a call that ended from a call that
/// is still running, and keeps the address from being reused.
#[derive(Debug)]
pub(crate) struct Remembered<K> {
    entries: Vec<RememberedEntry<K>>,
}

#[derive(Debug)]
struct RememberedEntry<K> {
    /// The attempt of the remembering call in which the retries were made. 0 marks retries that the call around
    /// remembers from before.
    attempt: u32,
    /// The inner call that made these retries or told of them. The pointer dangles if the call no longer matters.
    call: Weak<K>,
    failed: FailedRetries,
}

impl FailedRetries {
    fn is_remembered(&self, now: Stamp) -> bool {
        self.until > now
    }

    /// Merges two calls in the same attempt: the call with more retries counts.
    pub(crate) fn raise_to(&mut self, other: Self) {
        self.retries = self.retries.max(other.retries);
        self.until = self.until.max(other.until);
    }
}

impl<K> RememberedEntry<K> {
    /// Whether the entry counts in this `attempt`. It never counts for the call that made the retries.
    fn is_taken(&self, attempt: u32, call: Option<&Weak<K>>, now: Stamp) -> bool {
        self.attempt < attempt
            && self.failed.is_remembered(now)
            && call.is_none_or(|call| !self.call.ptr_eq(call))
    }
}

impl<K> Default for Remembered<K> {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
        }
    }
}

impl<K> Remembered<K> {
    /// Sets the failed retries of the inner `call` so far, up to this `attempt` of the remembering call.
    ///
    /// Entries of the same call in earlier attempts stay. Their retries are not counted again.
    pub(crate) fn set(
        &mut self,
        attempt: u32,
        call: &Weak<K>,
        failed: impl IntoIterator<Item = FailedRetries>,
        now: Stamp,
    ) {
        self.entries.retain(|entry| {
            entry.failed.is_remembered(now)
                && (entry.attempt != attempt || !entry.call.ptr_eq(call))
        });
        for made in failed {
            let earlier = self
                .entries
                .iter()
                .filter(|entry| entry.call.ptr_eq(call) && entry.failed.function == made.function)
                .fold(0_u32, |sum, entry| sum.saturating_add(entry.failed.retries));
            let retries = made.retries.saturating_sub(earlier);
            if retries > 0 {
                self.entries.push(RememberedEntry {
                    attempt,
                    call: call.clone(),
                    failed: FailedRetries { retries, ..made },
                });
            }
        }
        self.merge_ended();
    }

    /// Takes over what the call around remembers from before this call's current attempt.
    pub(crate) fn inherit(&mut self, failed: impl IntoIterator<Item = FailedRetries>) {
        self.entries.retain(|entry| entry.attempt != 0);
        self.entries
            .extend(failed.into_iter().map(|failed| RememberedEntry {
                attempt: 0,
                call: Weak::new(),
                failed,
            }));
    }

    /// How many retries of `function` failed before this `attempt`, except those of `call` itself.
    pub(crate) fn taken(
        &self,
        function: FunctionId,
        attempt: u32,
        call: Option<&Weak<K>>,
        now: Stamp,
    ) -> u32 {
        self.sum_of_attempts(function, |entry| entry.is_taken(attempt, call, now))
            .map_or(0, |failed| failed.retries)
    }

    /// As [`taken`](Self::taken), for each function.
    pub(crate) fn all_taken(
        &self,
        attempt: u32,
        call: Option<&Weak<K>>,
        now: Stamp,
    ) -> Vec<FailedRetries> {
        self.each_function(|entry| entry.is_taken(attempt, call, now))
    }

    /// All failed retries inside the remembering call.
    pub(crate) fn totals(&self, now: Stamp) -> Vec<FailedRetries> {
        self.each_function(|entry| entry.attempt != 0 && entry.failed.is_remembered(now))
    }

    fn each_function(&self, counts: impl Fn(&RememberedEntry<K>) -> bool) -> Vec<FailedRetries> {
        let mut all: Vec<FailedRetries> = Vec::new();
        for entry in &self.entries {
            let function = entry.failed.function;
            if all.iter().all(|known| known.function != function) {
                all.extend(self.sum_of_attempts(function, &counts));
            }
        }
        all
    }

    /// For each attempt takes the call with most retries, and returns the sum of these retries.
    fn sum_of_attempts(
        &self,
        function: FunctionId,
        counts: impl Fn(&RememberedEntry<K>) -> bool,
    ) -> Option<FailedRetries> {
        let mut attempts: Vec<(u32, u32)> = Vec::new();
        let mut until = None;
        for entry in &self.entries {
            let FailedRetries {
                function: made_by,
                retries,
                until: forgotten,
            } = entry.failed;
            if made_by != function || !counts(entry) {
                continue;
            }
            until = until.max(Some(forgotten));
            match attempts
                .iter_mut()
                .find(|(attempt, _)| *attempt == entry.attempt)
            {
                Some((_, most)) => *most = retries.max(*most),
                None => attempts.push((entry.attempt, retries)),
            }
        }
        let retries = attempts
            .iter()
            .fold(0_u32, |sum, (_, most)| sum.saturating_add(*most));
        until.map(|until| FailedRetries {
            function,
            retries,
            until,
        })
    }

    /// Merges the calls that ended: keeps the most retries for each function and attempt.
    fn merge_ended(&mut self) {
        let (running, ended): (Vec<_>, Vec<_>) = self
            .entries
            .drain(..)
            .partition(|entry| entry.call.strong_count() > 0);
        self.entries = running;
        let mut merged: Vec<RememberedEntry<K>> = Vec::new();
        for entry in ended {
            let same = merged.iter_mut().find(|other| {
                (other.attempt, other.failed.function) == (entry.attempt, entry.failed.function)
            });
            match same {
                Some(other) => other.failed.raise_to(entry.failed),
                None => merged.push(entry),
            }
        }
        self.entries.append(&mut merged);
    }
}

impl fmt::Display for Nested {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
