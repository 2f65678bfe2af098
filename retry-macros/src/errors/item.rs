//! Wording: the annotated function.

use proc_macro2::Ident;
use quote::quote;

messages! {
    not_a_function(found: &Ident) {
        "found `{found}`, expected an async function";
        help "put `#[retry]` on the function that does the call";
    }

    closure() {
        "found a closure, expected an async function";
        help "write `run!(attempts = 4, async || …).await`, with your keys";
        note "or put `#[retry]` on an `async fn` with this body";
    }

    no_closure(found: &str, write: &str) {
        "found {found}, expected a closure";
        help "write it last: `run!({write})`";
    }

    closure_with_argument(head: &str) {
        "nothing gives this closure an argument";
        help "use the variables around it: `{head} …`";
    }

    closure_not_async(body: &str) {
        "this closure is not async, expected `async ||`, or the key `blocking`";
        help "write `async || {body}`; or, if it blocks its thread, `run!(blocking, …)`";
    }

    closure_of_block(future: &syn::ExprAsync) {
        "this closure is not async, expected `async ||`";
        help "write `{}`", {
            let (capture, block) = (future.capture, &future.block);
            super::typed(&quote!(async #capture || #block))
        };
    }

    after_closure() {
        "the closure comes last";
        help "write these keys in front of it";
    }

    untyped_ok(head: &str) {
        "the closure ends in nothing but `Ok(…)`, so its error type is not known";
        help "write it before the body: `{head} -> std::io::Result<_> {{ … }}`";
        note "or in the `Ok`: `Ok::<_, std::io::Error>(…)`";
    }

    unreadable_function(error: &syn::Error) {
        "this function cannot be read: {error}";
    }

    const_function() {
        "a `const fn` cannot be retried, expected an async function";
        help "write `async fn` instead of `const fn`, or `fn` with the key `blocking`";
    }

    extern_function() {
        "an `extern` function cannot be retried";
        help "remove `extern`";
    }

    function_without_body() {
        "this function has no body, so there is nothing to retry";
        help "put `#[retry]` on each implementation, or give the method a default body";
    }

    returns_nothing() {
        "this function returns nothing, expected a `Result`";
        help "write `-> Result<(), Error>`: without an error there is nothing to retry";
    }

    not_async() {
        "this function is not async, expected `async fn`, or `blocking` in the attribute";
        help "write `async fn`; or, if the body blocks its thread, add `blocking` to your keys: `#[retry(blocking, …)]`";
        note "nothing can stop a body that blocks: leave out `timeout`, `hedge` and `cancel`";
    }

    runs_in_a_runtime() {
        "this function is not async any more: an attribute above, such as `#[tokio::main]`, has put it into a runtime";
        help "write `#[retry]` above that attribute";
    }

    blocking_and_async(what: &str) {
        "`blocking` is for {what} that are not async, and this one returns a future";
        help "remove `blocking`";
    }

    returns_no_result(what: &str, found: &str) {
        "this {what} returns `{found}`, expected a `Result`";
        help "write `-> Result<{found}, Error>`";
    }

    dropped(name: &str) {
        "`drop({name})` drops no more than a clone: the next attempt needs `{name}`";
        help "take `{name}` by reference, and let the caller drop it";
        note "or write `drop({name}.clone())`, if it does not matter when the last one is dropped";
    }

    /// A `&mut`, or a closure that changes what it captures, in a function with `hedge`.
    hedged_mutably(name: &str, shared: &str) {
        "with `hedge` two attempts run at once, and they cannot both borrow `{name}` mutably";
        help "take `{shared}`, and a lock or an atomic for what changes, or remove `hedge`";
    }

    /// A result that is, or contains, a `&mut` to an argument.
    returns_a_loan(name: &str) {
        "this result borrows `{name}` mutably, so after a failed attempt the next one could not borrow it again";
        help "return an owned value, or let the caller borrow from `{name}` after the call";
        note "or retry only what can fail, in an async function of its own whose result borrows nothing";
    }

    on_retry_changes_self() {
        "`on_retry` changes `self`, and `&self` cannot be changed";
        help "take `&mut self`, or make the field an atomic: `self.retries.fetch_add(1, Ordering::Relaxed)`";
    }

    on_end_changes_self() {
        "`on_end` changes `self`, which the attempts borrow";
        help "make the field an atomic: `self.calls.fetch_add(1, Ordering::Relaxed)`";
    }
}
