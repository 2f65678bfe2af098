//! The messages for arguments that the next attempt could not have.

/// The type that a refusal bounds, as in `Each: ForEachAttempt<T>`. It implements none of these traits, so each such
/// bound is an error. The bound is not on `T`, so rustc does not propose to add it to the user's function. rustc quotes
/// the lines of the method below its message, so the method has one line.
#[derive(Debug)]
pub struct Each;

/// Each attempt can own a value of type `T`.
#[diagnostic::on_unimplemented(
    message = "`{T}` is used up by the first attempt, and it is not `Clone`",
    label = "value used more than once: every attempt starts from this argument",
    note = "borrow it (`&{T}` or `&mut {T}`), share it (`Arc<{T}>`), or make it `Clone`: derive that on your types in it, or add it as a bound",
    note = "make an iterator, a receiver or the body of a request inside the function; take a pool, a `&mut` or an `impl Executor<'_> + Copy` for a connection, and an `FnMut` for a closure",
    note = "before a `move` block or closure that takes it, write `let x = &x;`; in a handler, annotate the function that it calls"
)]
pub trait ForEachAttempt<T> {}

/// Each attempt has a `self` of type `T`, although the body moves it.
#[diagnostic::on_unimplemented(
    message = "`self` is moved, and each attempt needs it again: `{T}` is not `Clone`",
    label = "gone after the first attempt",
    note = "make `{T}` `Clone`, or take `&self`",
    note = "to retry only what comes before, move that into an async function of its own"
)]
pub trait FindsSelfAgain<T> {}

/// Each attempt can change its own `self` of type `T`.
#[diagnostic::on_unimplemented(
    message = "`mut self` would carry the changes of a failed attempt into the next",
    label = "`{T}` is not `Clone`, so each attempt would have the same `self`",
    note = "make `{T}` `Clone`, or take `&mut self`",
    note = "a method that ends what it takes, such as `close` or `commit`, is not retried by itself: annotate its caller, which can begin again"
)]
pub trait StartsAnew<T> {}

/// Attempts that run on different threads can borrow a value of type `T`.
#[diagnostic::on_unimplemented(
    message = "`{T}` is lent to each attempt and is not `Sync`, so the future would not be `Send`",
    label = "every attempt starts from this argument, which is not `Clone`",
    note = "add `+ Sync` to its bounds, make it `Clone`, share it (`Arc<Mutex<{T}>>`), or take it by reference"
)]
pub trait LentAcrossThreads<T> {}
