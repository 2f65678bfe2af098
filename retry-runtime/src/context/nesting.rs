//! The rule for nested retries: the failed retries of an operation are subtracted in later attempts of the calls
//! around it.
//!
//! Retries *failed* if their call failed or was dropped. Each call remembers, by operation, how many failed
//! retries the calls inside its attempts had. In its **later** attempts that operation has that many fewer attempts, and
//! never fewer than one.
//!
//! - An operation is a call of a function, counted within the attempt around it: the second call in one attempt is the same
//!   operation as the second call in another. A call further inside is found by its path: the call of one function within
//!   the call of another.
//! - A call that succeeds takes its own retries back.
//! - A call tells the call around it what it remembers. So any chain of calls runs the innermost body at most 1 + the
//!   sum of all retries times: 7 for 4 × 4 attempts, and 10 for 4 × 4 × 4.
//! - Retries are forgotten after the `max_delay` of the policy that made them.
//!
//! This file is pure: it uses no clock, frame or thread. What calls that ended left is merged, so there is one entry for
//! each operation and attempt, and one for each retried call that is still running.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Weak;

use crate::clock::Stamp;

/// Identifies a function by the address of its own `static`, or the calls of one place by their name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FunctionId(usize, &'static str);

impl FunctionId {
    pub(crate) fn of<T>(only: &'static T, name: &'static str) -> Self {
        Self(std::ptr::from_ref(only).addr(), name)
    }

    /// Returns one of eight bits. It depends on the name only, because each process has other addresses.
    pub(crate) fn bit(self) -> u8 {
        let Self(_, name) = self;
        let end = name.bytes().rev().take(8);
        let mixed = end
            .fold(0_u64, |all, byte| (all << 8) | u64::from(byte))
            .wrapping_mul(0x9E37_79B9_7F4A_7C15);
        1 << (mixed >> 61)
    }
}

/// What a call does within an attempt of the call around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Operation {
    function: FunctionId,
    ordinal: Ordinal,
    /// Whether any number of layers may lie around it.
    further_in: bool,
}

/// A path has at most this many operations. Further in, operations are told apart by function and number alone.
const MOST_LAYERS: usize = 8;

impl Operation {
    pub(crate) const fn new(function: FunctionId, ordinal: Ordinal) -> Self {
        Self {
            function,
            ordinal,
            further_in: false,
        }
    }
}

/// Which of the calls of its function a call is, within one attempt or one `before_retry`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Ordinal {
    prepares: bool,
    number: u32,
}

impl Default for Ordinal {
    fn default() -> Self {
        Self::FIRST
    }
}

impl Ordinal {
    /// The first call of its function within an attempt.
    pub(crate) const FIRST: Self = Self::first(false);

    /// The first call of its function within an attempt, or within a `before_retry`.
    pub(crate) const fn first(prepares: bool) -> Self {
        Self {
            prepares,
            number: 1,
        }
    }

    /// Calls from this one on have the same number, so that a loop without end does not fill the memory.
    const LAST: u32 = 1000;
}

/// The calls inside the present attempts of one call, by function. A call whose function has a [bit](FunctionId::bit) that no
/// call before it had in the attempt is the first one of its function, and need not be here.
#[derive(Debug, Default)]
pub(crate) struct CallsInside(Vec<Called>);

#[derive(Debug)]
struct Called {
    attempt: u32,
    function: FunctionId,
    last: Ordinal,
}

impl CallsInside {
    /// Counts a call of `function` within this `attempt`, or within the `before_retry` after it, in which its bit was
    /// seen before.
    pub(crate) fn count(&mut self, attempt: u32, prepares: bool, function: FunctionId) -> Ordinal {
        // The attempt before this one may still run, if this one is a hedge.
        self.0.retain(|called| called.attempt + 1 >= attempt);
        let of = |called: &Called| (called.attempt, called.last.prepares, called.function);
        let same = |called: &&mut Called| of(called) == (attempt, prepares, function);
        if let Some(Called { last, .. }) = self.0.iter_mut().find(same) {
            last.number = Ordinal::LAST.min(last.number + 1);
            return *last;
        }
        let last = Ordinal {
            prepares,
            number: 2,
        };
        self.0.push(Called {
            attempt,
            function,
            last,
        });
        last
    }
}

/// The known failed retries of one operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FailedRetries {
    /// From the outermost of the calls that are meant to the one that made the retries.
    path: Vec<Operation>,
    retries: u32,
    /// When the retries are forgotten.
    until: Stamp,
}

impl FailedRetries {
    /// The retries of one operation itself.
    pub(crate) fn of(operation: Operation, retries: u32, until: Stamp) -> Self {
        Self {
            path: vec![operation],
            retries,
            until,
        }
    }
}

/// What one call remembers of the operations inside it.
///
/// `K` identifies a call. An entry holds a `Weak` pointer to it. The pointer tells a call that ended from a call that
/// is still running, and keeps the address from being reused.
#[derive(Debug)]
pub(crate) struct RetriesInside<K>(BTreeMap<Vec<Operation>, Vec<RetryInside<K>>>);

#[derive(Debug)]
struct RetryInside<K> {
    /// The attempt of the remembering call in which the retries were made. 0 marks retries that the call around
    /// remembers from before.
    attempt: u32,
    /// The inner call that made these retries or told of them. The pointer dangles if the call no longer matters.
    call: Weak<K>,
    retries: u32,
    until: Stamp,
}

impl<K> RetryInside<K> {
    /// Whether the entry counts in this `attempt`. It never counts for the call that made the retries.
    fn is_taken(&self, attempt: u32, call: Option<&Weak<K>>, now: Stamp) -> bool {
        self.attempt < attempt
            && self.until > now
            && call.is_none_or(|call| !self.call.ptr_eq(call))
    }
}

impl<K> Default for RetriesInside<K> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<K> RetriesInside<K> {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

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
        self.retain(|entry| {
            entry.until > now && (entry.attempt != attempt || !entry.call.ptr_eq(call))
        });
        for FailedRetries {
            path,
            retries,
            until,
        } in failed
        {
            let entries = self.0.entry(path).or_default();
            let earlier = entries
                .iter()
                .filter(|entry| entry.call.ptr_eq(call))
                .fold(0_u32, |sum, entry| sum.saturating_add(entry.retries));
            entries.push(RetryInside {
                attempt,
                call: call.clone(),
                retries: retries.saturating_sub(earlier),
                until,
            });
            merge_ended(entries);
        }
        self.retain(|entry| entry.retries > 0);
    }

    /// Takes over what the call around remembers from before this call's current attempt.
    pub(crate) fn inherit(&mut self, failed: impl IntoIterator<Item = FailedRetries>) {
        self.retain(|entry| entry.attempt != 0);
        for failed in failed {
            self.0.entry(failed.path).or_default().push(RetryInside {
                attempt: 0,
                call: Weak::new(),
                retries: failed.retries,
                until: failed.until,
            });
        }
    }

    fn retain(&mut self, keeps: impl Fn(&RetryInside<K>) -> bool) {
        self.0.retain(|_, entries| {
            entries.retain(&keeps);
            !entries.is_empty()
        });
    }

    /// How many retries of the `operation` failed before this `attempt`, except those of `call` itself.
    pub(crate) fn taken(
        &self,
        operation: Operation,
        attempt: u32,
        call: Option<&Weak<K>>,
        now: Stamp,
    ) -> u32 {
        let further_in = Operation {
            further_in: true,
            ..operation
        };
        let entries = [operation, further_in].map(|last| self.0.get(&[last][..]));
        let entries = entries.into_iter().flatten().flatten();
        sum_of_attempts(entries.filter(|entry| entry.is_taken(attempt, call, now)))
            .map_or(0, |(retries, _)| retries)
    }

    /// As [`taken`](Self::taken), for each operation within this one.
    pub(crate) fn all_taken(
        &self,
        operation: Operation,
        attempt: u32,
        call: Option<&Weak<K>>,
        now: Stamp,
    ) -> Vec<FailedRetries> {
        let path_within = |path: &[Operation]| match path {
            [last] => last.further_in.then(|| path.to_vec()),
            [first, rest @ ..] => (*first == operation).then(|| rest.to_vec()),
            [] => None,
        };
        self.failed(path_within, |entry| entry.is_taken(attempt, call, now))
    }

    /// All failed retries inside the remembering call, which is this `operation` within the call around it.
    pub(crate) fn totals(&self, operation: Operation, now: Stamp) -> Vec<FailedRetries> {
        let path_from = |path: &[Operation]| {
            let mut path = [&[operation], path].concat();
            if path.len() > MOST_LAYERS {
                path.remove(MOST_LAYERS - 1);
                path[MOST_LAYERS - 1].further_in = true;
            }
            Some(path)
        };
        self.failed(path_from, |entry| entry.attempt != 0 && entry.until > now)
    }

    fn failed(
        &self,
        path: impl Fn(&[Operation]) -> Option<Vec<Operation>>,
        counts: impl Fn(&RetryInside<K>) -> bool,
    ) -> Vec<FailedRetries> {
        let mut all = BTreeMap::<_, (u32, Stamp)>::new();
        for (known_as, entries) in &self.0 {
            let sum = sum_of_attempts(entries.iter().filter(|entry| counts(entry)));
            if let Some((path, (retries, until))) = path(known_as).zip(sum) {
                let most = all.entry(path).or_insert((retries, until));
                *most = (most.0.max(retries), most.1.max(until));
            }
        }
        let failed = |(path, (retries, until))| FailedRetries {
            path,
            retries,
            until,
        };
        all.into_iter().map(failed).collect()
    }
}

/// For each attempt takes the call with most retries. Returns the sum of these retries, and when they are forgotten.
fn sum_of_attempts<'e, K: 'e>(
    entries: impl Iterator<Item = &'e RetryInside<K>>,
) -> Option<(u32, Stamp)> {
    let mut attempts: Vec<(u32, u32)> = Vec::new();
    let mut until = None;
    for entry in entries {
        until = until.max(Some(entry.until));
        match attempts
            .iter_mut()
            .find(|(attempt, _)| *attempt == entry.attempt)
        {
            Some((_, most)) => *most = entry.retries.max(*most),
            None => attempts.push((entry.attempt, entry.retries)),
        }
    }
    let retries = attempts
        .iter()
        .fold(0_u32, |sum, (_, most)| sum.saturating_add(*most));
    until.map(|until| (retries, until))
}

/// Merges the calls that ended: keeps the most retries for each attempt.
fn merge_ended<K>(entries: &mut Vec<RetryInside<K>>) {
    let (mut merged, ended): (Vec<_>, Vec<_>) = entries
        .drain(..)
        .partition(|entry| entry.call.strong_count() > 0);
    let running = merged.len();
    for entry in ended {
        let same = merged[running..]
            .iter_mut()
            .find(|other| other.attempt == entry.attempt);
        match same {
            Some(other) => {
                other.retries = other.retries.max(entry.retries);
                other.until = other.until.max(entry.until);
            }
            None => merged.push(entry),
        }
    }
    *entries = merged;
}
