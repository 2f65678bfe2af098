//! Stands for `test_scope.rs` without the feature `testing`: no call is ever in a test scope.

use std::sync::Arc;
use std::time::Duration;

use crate::atomics::Switch;
use crate::budget::{BudgetOfCall, BudgetWord, Share};
use crate::classify::Verdict;
use crate::fit::DelayRange;
use crate::policy::Policy;
use crate::report::Report;

#[derive(Debug, Clone)]
pub(crate) enum TestScope {}

#[derive(Debug)]
pub(crate) enum CallInScope {}

/// Does not look.
#[inline]
pub(crate) fn find<T>(_: impl FnOnce() -> Option<T>) -> Option<T> {
    None
}

/// Methods of a type that has no value.
macro_rules! never {
    ($($type:ident { $($method:ident($($argument:ty),*) $(-> $output:ty)?;)* })*) => {$(
        impl $type {$(
            pub(crate) fn $method(&self $(, _: $argument)*) $(-> $output)? {
                match *self {}
            }
        )*}
    )*};
}

never! {
    TestScope {
        enabled() -> &Switch;
        enter(&'static str, &mut Option<CallInScope>);
        policy(usize) -> Option<Policy>;
    }
    CallInScope {
        enabled() -> &Switch;
        attempts() -> Option<u32>;
        waits() -> bool;
        fresh_word(BudgetOfCall<'_>) -> Arc<BudgetWord>;
        fresh_share(&'static Share) -> Arc<Share>;
        note(Verdict);
        draw(u32, &DelayRange) -> Duration;
        end(Report);
    }
}

#[cfg(feature = "config")]
pub(crate) type OffBy = std::sync::Mutex<Option<Vec<usize>>>;

#[cfg(feature = "config")]
never! {
    TestScope {
        off_by() -> &OffBy;
        set_policy(usize, Option<Policy>);
    }
}
