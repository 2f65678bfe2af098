//! What generated code asks of a type, without knowing its traits. Annotated functions need no bounds for it.
//!
//! Method lookup answers. A question is a chain of types, each behind the `Deref` of the one before. Each level has a
//! method of the same name, in an `impl` with its own bound:
//!
//! ```text
//! Failed<E> = Level<…>     impl<E: Error> { fn words(&self) }      its text, and that of its causes
//! SyncChain<E> = Level<…>  impl<E: Display> { fn words(&self) }    its text
//! SendChain<E> = Level<…>  impl<E> { fn words(&self) }             the name of its type
//!   …                      no `words`, but methods for other questions
//! ```
//!
//! rustc takes the first level whose `impl` has bounds that hold. So the level that asks most comes first. The last one
//! with the method has no bound. It has the answer for all other types, or it refuses them: a bound on the method, not on the `impl`,
//! does not send rustc to the next level, but is reported, in our words.
//!
//! - rustc chooses where the call is written. In a generic function of this crate, it would always choose the last
//!   level. So generated code has to contain the call.
//! - Method lookup ignores lifetimes, so no level can ask for `'static`. A bound that needs it is a lifetime error.
//!
//! | file | asks |
//! |---|---|
//! | `argument` | what an attempt gets of an argument: `Clone`, `Sync`, `Send` |
//! | `client` | whether an error is that of a client, whose adapter has an error type to name in a message |
//! | `commit` | whether a value is the `COMMIT` of a client: a future with its error |
//! | `convert` | whether an `impl Into<X>` is converted before the first attempt: `X: Clone` |
//! | `failed` | whether the call keeps an error: `Send`, and it converts into a boxed error; the verdict of an error: `Retryable`; its text: `Error`, or `Display`; an error of another type inside it: `Error`, or `AsRef<dyn Error>` |

#![expect(
    clippy::must_use_candidate,
    reason = "generated code alone calls these methods, and uses what they return"
)]

use std::ops::Deref;

mod argument;
pub mod client;
mod commit;
mod convert;
mod failed;
mod response;

pub use self::argument::*;
pub use self::commit::*;
pub use self::convert::*;
pub use self::failed::*;
pub use self::response::{AnyOk, BareResponse, OkValue};

/// A level of a question, in front of the next one. The alias of the type says which level it is.
#[derive(Debug)]
pub struct Level<T>(pub(crate) T);

impl<T> Deref for Level<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}
