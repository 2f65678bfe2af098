//! Names: arguments with the names of generated code, and shadowed names of the standard library.

use std::io;

use crate::{cases, Calls};

/// Arguments and locals with the names of the expansion.
#[reattempt::retry(timeout = "1s")]
async fn named_like_ours(
    __call: &Calls,
    __error: String,
    call: u8,
    attempt: u8,
    error: u8,
    result: u8,
    wait: u8,
) -> io::Result<usize> {
    let __at = usize::from(call + attempt + error + result + wait);
    let __ended = std::convert::identity(__error).len();
    let __kept = __call.fail::<()>();
    __kept?;
    Ok(__at + __ended)
}

/// A raw identifier for the function and for its argument.
#[reattempt::retry]
async fn r#match(calls: &Calls, r#type: String) -> io::Result<usize> {
    let held = std::convert::identity(r#type);
    calls.fail::<()>()?;
    Ok(held.len())
}

/// Here every short name that the expansion could use means something else.
mod shadowed {
    #![allow(
        dead_code,
        non_camel_case_types,
        non_snake_case,
        reason = "shadows on purpose"
    )]

    use crate::Calls;

    pub(super) struct Ok;
    pub(super) struct Err;
    pub(super) struct Some;
    pub(super) struct None;
    pub(super) struct Option;
    pub(super) struct Result;
    pub(super) struct Box;
    pub(super) struct Duration;
    pub(super) mod core {}
    pub(super) mod std {}
    pub(super) mod tokio {}
    pub(super) mod reattempt_runtime {}
    pub(super) struct Policy;
    pub(super) struct Call;

    #[::reattempt::retry(timeout = "1s", on = "::std::io::Error", when = |_| true)]
    pub(super) async fn everything(calls: &Calls) -> ::std::io::Result<u8> {
        calls.fail()
    }
}

#[reattempt::retry]
async fn sound(calls: &Calls) -> io::Result<u8> {
    calls.fail()
}

macro_rules! annotated {
    ($name:ident, $limit:expr, $error:ty, $attempts:literal) => {
        #[reattempt::retry(timeout = $limit, attempts = $attempts)]
        async fn $name(calls: &Calls) -> Result<u8, $error> {
            calls.fail()
        }
    };
}
annotated!(
    from_a_macro,
    std::time::Duration::from_secs(1),
    io::Error,
    3
);

mod renamed {
    pub(super) use reattempt as inner;
}

#[reattempt::retry(crate = "crate::hygiene::renamed::inner", timeout = "1s")]
async fn by_another_path(calls: &Calls) -> io::Result<u8> {
    calls.fail()
}

cases! {
    named_like_ours: |calls| named_like_ours(calls, String::new(), 1, 2, 3, 4, 5);
    raw: |calls| r#match(calls, String::new());
    shadowed: |calls| shadowed::everything(calls);
    sound: |calls| sound(calls);
    from_a_macro: |calls| from_a_macro(calls);
    by_another_path: |calls| by_another_path(calls);
}
