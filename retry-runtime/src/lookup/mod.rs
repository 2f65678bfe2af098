//! What generated code asks of a type, without knowing its traits. Annotated functions need no bounds for it.
//!
//! Method lookup answers. A question is a chain of types, each behind the `Deref` of the one before. Each level has a
//! method of the same name, in an `impl` with its own bound:
//!
//! ```text
//! Probe<E>   impl<E: Retryable> { fn said(&self) }     asks the error
//!   Mute<E>  impl<E> { fn said(&self) }                has no answer
//! ```
//!
//! rustc takes the first level whose `impl` has bounds that hold. So the level that asks most comes first. The last one
//! has no bound. It has the answer for all other types, or it refuses them: a bound on the method, not on the `impl`,
//! does not send rustc to the next level, but is reported, in our words.
//!
//! - rustc chooses where the call is written. In a generic function of this crate, it would always choose the last
//!   level. So generated code has to contain the call.
//! - Method lookup ignores lifetimes, so no level can ask for `'static`. A bound that needs it is a lifetime error.
//!
//! | file | asks |
//! |---|---|
//! | `argument` | what an attempt gets of an argument: `Clone`, `Sync`, `Send` |
//! | `convert` | whether an `impl Into<X>` is converted before the first attempt: `X: Clone` |
//! | `failed` | whether the call keeps an error: `Send`, and it converts into a boxed error |
//! | `probe` | the verdict of an error: `Retryable` |
//! | `explain` | the text of an error: `Error`, or `Display` |
//! | `find` | an error of another type inside an error: `Error`, or `AsRef<dyn Error>` |
//!
//! `failed`, `probe` and `explain` are one chain: the last level of each leads to the next.

/// Puts each level in front of the next, which is its first field.
macro_rules! levels {
    ($([$($parameter:tt)+] $level:ty => $next:ty;)+) => {$(
        impl<$($parameter)+> std::ops::Deref for $level {
            type Target = $next;

            #[inline]
            fn deref(&self) -> &Self::Target {
                &self.0
            }
        }

        impl<$($parameter)+> std::fmt::Debug for $level
        where
            $next: std::fmt::Debug,
        {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }
    )+};
}

mod argument;
mod convert;
mod explain;
mod failed;
pub mod find;
pub mod probe;

pub use self::argument::{
    Argument, ArgumentAs, Broken, Each, Field, FindsAgain, FindsSelfAgain, ForEachAttempt, Gone,
    Handed, Intact, Lent, LentAcrossThreads, LentAs, LentLocally, LentParts, MadeForEachAttempt,
    Parts, Reborrowed, Spared, StartsAnew, Unshared, handed_over,
};
pub use self::convert::{Convert, ConvertWhole, Unconverted};
pub use self::explain::{Displayed, Explain, Named};
pub(crate) use self::failed::BoxedError;
pub use self::failed::{Failed, Forgets, NotKept, Remembers};
pub(crate) use self::find::find_in;
pub use self::find::{Find, Inside};
pub use self::probe::Probe;
