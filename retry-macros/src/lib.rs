//! The attribute and the derive of the `reattempt` crate. Their documentation is at the re-exports of the facade.

#![cfg_attr(
    not(test),
    warn(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing
    )
)]
#![cfg_attr(
    as_library,
    allow(
        clippy::useless_conversion,
        clippy::must_use_candidate,
        reason = "these functions are those of a procedural macro"
    )
)]

mod arguments;
mod attribute;
mod classifier;
mod closure;
mod conditions;
mod constant;
mod derive;
mod duration;
mod editor;
mod errors;
mod expand;
mod future;
mod given;
mod item;
mod keys;
mod lower;
mod model;
mod operand;
mod paths;
mod site;
mod syntax;
#[cfg(test)]
mod tests;
mod text;
mod tokens;
mod usage;

#[cfg(not(as_library))]
use proc_macro::TokenStream;
// `tests/fuzz` builds the same code as a library, because only rustc can call a procedural macro.
#[cfg(as_library)]
use proc_macro2::TokenStream;

/// Retries a function until it succeeds, or until there is a reason to stop.
#[cfg_attr(
    rust_analyzer,
    doc = r##"

```ignore
#[retry(attempts = 4, timeout = "1.5s", jitter = "full", on(io::Error), deadline = "5s")]
async fn fetch(addr: SocketAddr) -> io::Result<String> { … }
```

| key | meaning |
|---|---|
| `attempts` | the maximum number of times the body runs, including the first |
| `timeout` | limit of one attempt |
| `deadline` | limit of the whole call, waits included |
| `jitter` | how the delay is drawn below its upper bound |
| `on` | retries an error that is or contains one of these |
| `blocking` | for a function that is not async |

Hover over a key to read what it means. [All keys](https://docs.rs/reattempt/latest/reattempt/attr.retry.html) are in the
reference.
"##
)]
#[cfg_attr(not(as_library), proc_macro_attribute)]
pub fn retry(args: TokenStream, item: TokenStream) -> TokenStream {
    attribute::retry(args.into(), &item.into()).into()
}

/// Retries a closure: the keys of the attribute, and then the closure.
#[cfg_attr(
    rust_analyzer,
    doc = r##"

```ignore
let answer = run!(attempts = 4, timeout = "1s", async || client.ask().await).await?;
```

Hover over a key to read what it means. [All keys](https://docs.rs/reattempt/latest/reattempt/attr.retry.html) are in the
reference.
"##
)]
#[cfg_attr(not(as_library), proc_macro)]
pub fn run(input: TokenStream) -> TokenStream {
    closure::run(&input.into()).into()
}

/// Implements `Retryable` for your own error type: each case says whether another attempt could help.
#[cfg_attr(
    rust_analyzer,
    doc = r##"

```ignore
#[derive(Debug, thiserror::Error, Retryable)]
enum StoreError {
    #[error("the store is closing")]
    #[retryable(transient)]
    Closing,
    #[error(transparent)]
    #[retryable(forward)]
    Io(#[from] io::Error),
}
```

Hover over a word to read what it means. [All words](https://docs.rs/reattempt/latest/reattempt/derive.Retryable.html) are in
the reference.
"##
)]
#[cfg_attr(not(as_library), proc_macro_derive(Retryable, attributes(retryable)))]
pub fn retryable(input: TokenStream) -> TokenStream {
    derive::derive(input.into()).into()
}

/// Writes what the expansions for rust-analyzer name. The facade calls it.
#[doc(hidden)]
#[cfg_attr(not(as_library), proc_macro)]
pub fn editor(_: TokenStream) -> TokenStream {
    editor::items(derive::WORDS).into()
}
