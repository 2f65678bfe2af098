//! What may be said of the function.

use proc_macro2::Ident;

use crate::keys;

pub(crate) fn not_a_function(found: &str) -> String {
    format!(
        "found `{found}`, expected an async function\nhelp: put `#[retry]` on the function that does the call"
    )
}

pub(crate) fn unreadable_function(error: &syn::Error) -> String {
    format!("this function cannot be read: {error}")
}

pub(crate) fn const_function() -> String {
    "a `const fn` cannot be retried, expected an async function\nhelp: write `async fn` instead of `const fn`".into()
}

pub(crate) fn extern_function() -> String {
    "an `extern` function cannot be async, expected an async function\nhelp: remove `extern`".into()
}

pub(crate) fn function_without_body() -> String {
    "this function has no body, so there is nothing to retry\n\
     help: put `#[retry]` on each implementation, or give the method a default body"
        .into()
}

pub(crate) fn returns_nothing() -> String {
    "this function returns nothing, expected a `Result`\n\
     help: a function can be retried when it can say that it failed: `-> Result<(), Error>`"
        .into()
}

pub(crate) fn not_async() -> String {
    "this function is not async, expected `async fn` or a function that returns a future\n\
     help: write `async fn`, or return `impl Future<Output = Result<_, _>>` or a boxed future"
        .into()
}

pub(crate) fn returns_no_result(found: &str) -> String {
    format!(
        "this function returns `{found}`, expected a `Result`\nhelp: write `-> Result<{found}, Error>`"
    )
}

pub(crate) fn mutable_self() -> String {
    "`mut self` would carry the changes of a failed attempt into the next\n\
     help: take `&mut self`, or write `clone()` in the attribute to allow it"
        .into()
}

pub(crate) fn clone_of_self() -> String {
    "`self` cannot be cloned for each attempt\nhelp: take `&self` or `self: Arc<Self>`".into()
}

pub(crate) fn clone_of_unknown(name: &Ident, known: &[String], function: &Ident) -> String {
    let near = keys::nearest(&name.to_string(), known.iter().map(String::as_str));
    let known = match (near, known) {
        (Some(near), _) => format!("did you mean `{near}`?"),
        (None, []) => "it has none".to_owned(),
        (None, names) => format!("its arguments are `{}`", names.join("`, `")),
    };
    format!("`{function}` has no argument `{name}`\nhelp: {known}")
}
