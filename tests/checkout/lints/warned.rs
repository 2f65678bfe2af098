//! Annotated functions that deserve warnings. Each has the warnings of the plain function, on the same
//! characters, and no others. `tests/checkout/lints.rs` compiles this file with and without `#[retry]`.
//!
//! Not formatted: some of it is wrong on purpose.

// `warns:` names a lint that fires before the next empty line. `lost:` names a lint that fires only on the
// plain function, with the reason above it.

use std::io;

async fn send(text: &str) -> io::Result<usize> {
    tokio::task::yield_now().await;
    Ok(text.len())
}

#[deprecated]
pub fn old() {}

#[must_use]
pub fn number() -> u8 {
    1
}

// warns: unused_variables
#[reattempt::retry(timeout = "1s")]
pub async fn unused_argument(text: &str, unused: String) -> io::Result<usize> {
    send(text).await
}

#[reattempt::retry]
pub async fn unused_mut_argument_name(text: &str, mut unused: String) -> io::Result<usize> {
    send(text).await
}

// warns: unused_mut
#[reattempt::retry]
pub async fn unused_mut_argument(mut text: String) -> io::Result<usize> {
    send(&text).await
}

#[reattempt::retry]
pub async fn unused_mut_handed_over(mut text: String) -> io::Result<usize> {
    send(&std::convert::identity(text)).await
}

#[reattempt::retry]
pub async fn unused_mut_reference(mut text: &str) -> io::Result<usize> {
    send(text).await
}

#[reattempt::retry]
pub async fn unused_mut_of_mut_reference(mut list: &mut Vec<u8>) -> io::Result<usize> {
    list.push(1);
    send("").await
}

#[reattempt::retry]
pub async fn unused_mut_in_a_pattern((mut left, _right): (String, u8)) -> io::Result<usize> {
    send(&left).await
}

#[reattempt::retry]
pub async fn unused_in_a_pattern((left, right): (String, u8)) -> io::Result<usize> {
    send(&left).await
}

// warns: unused_assignments
#[reattempt::retry]
pub async fn assigned_and_not_read(mut count: usize, text: &str) -> io::Result<usize> {
    count = 1;
    send(text).await
}

// The attempt starts from a clone that the user did not write, so rustc is silent about its lost value.
// lost: unused_assignments
#[reattempt::retry]
pub async fn assigned_before_it_is_read(mut count: usize, text: &str) -> io::Result<usize> {
    count = send(text).await?;
    Ok(count)
}

#[reattempt::retry]
pub async fn local_assigned_and_not_read(text: &str) -> io::Result<usize> {
    let mut count = 1;
    count = 2;
    send(text).await
}

#[reattempt::retry]
pub async fn local_unused(text: &str) -> io::Result<usize> {
    let unused = 5;
    let mut not_changed = text.len();
    send(text).await.map(|size| size + not_changed)
}

// warns: unused_must_use
#[reattempt::retry]
pub async fn unused_result(text: &str) -> io::Result<usize> {
    send(text).await;
    send(text);
    number();
    Ok(0)
}

// warns: unreachable_code
#[reattempt::retry]
pub async fn unreachable(text: &str) -> io::Result<usize> {
    return send(text).await;
    println!("never");
}

#[reattempt::retry]
pub async fn unreachable_tail(text: &str) -> io::Result<usize> {
    loop {
        send(text).await?;
    }
    Ok(1)
}

// Each attempt gets a `&mut F`. A body that calls it needs no `mut` for that, unlike the plain function.
// lost: unused_mut
#[reattempt::retry]
pub async fn unused_mut_function(mut next: impl FnMut(u8) -> u8) -> io::Result<Vec<u8>> {
    tokio::task::yield_now().await;
    Ok([1, 2].into_iter().map(next).collect())
}

// The block of the attempt captures `text`, though no code uses it.
// lost: unused_variables
#[reattempt::retry]
pub async fn panics_first(text: &str) -> io::Result<usize> {
    panic!("first");
    send(text).await
}

// warns: deprecated
#[reattempt::retry]
pub async fn uses_deprecated(text: &str) -> io::Result<usize> {
    old();
    send(text).await
}

// warns: unused_imports
#[reattempt::retry]
pub async fn unused_import(text: &str) -> io::Result<usize> {
    use std::collections::HashMap;
    send(text).await
}

// warns: dead_code
#[reattempt::retry]
async fn never_called(text: &str) -> io::Result<usize> {
    send(text).await
}

#[reattempt::retry]
pub async fn item_not_used(text: &str) -> io::Result<usize> {
    fn inner() {}
    struct Inner;
    send(text).await
}

#[derive(Debug)]
pub struct Client {
    never_read: String,
}

impl Client {
    #[reattempt::retry]
    async fn method_never_called(&self) -> io::Result<usize> {
        send("").await
    }

    #[reattempt::retry]
    pub async fn shadowed_self(&self, unused: u8) -> io::Result<usize> {
        let this = self;
        send("").await
    }
}

// warns: non_snake_case
#[reattempt::retry]
pub async fn NotSnake(Text: &str) -> io::Result<usize> {
    let Size = send(Text).await?;
    Ok(Size)
}

// warns: unused_parens
#[reattempt::retry]
pub async fn parentheses(text: &str) -> io::Result<usize> {
    if (text.is_empty()) {
        return (Ok(0));
    }
    let size = (send(text).await?);
    Ok(size)
}

// warns: unused_braces
#[reattempt::retry]
pub async fn braces(text: &str) -> io::Result<usize> {
    let size = { 1 };
    { send(text).await }
}

#[reattempt::retry]
pub async fn braces_on_one_line(text: &str) -> io::Result<usize> { { send(text).await } }

// warns: unused_labels
#[reattempt::retry]
pub async fn label(text: &str) -> io::Result<usize> {
    'unused: loop {
        return send(text).await;
    }
}

// warns: unused_comparisons
#[reattempt::retry]
pub async fn comparison(count: u8) -> io::Result<usize> {
    if count < 0 {
        return Ok(0);
    }
    send("").await
}

// warns: path_statements
#[reattempt::retry]
pub async fn path_statement(text: &str) -> io::Result<usize> {
    text;
    send(text).await
}

// warns: unused_attributes
#[reattempt::retry]
#[inline]
#[inline]
pub async fn twice_inline(text: &str) -> io::Result<usize> {
    send(text).await
}

// warns: unreachable_patterns
#[reattempt::retry]
pub async fn pattern(count: u8) -> io::Result<usize> {
    match count {
        _ => send("").await,
        1 => Ok(1),
    }
}

// warns: redundant_semicolons
#[reattempt::retry]
pub async fn semicolons(text: &str) -> io::Result<usize> {
    ;;
    send(text).await
}

#[reattempt::retry]
pub async fn needless_return(text: &str) -> io::Result<usize> {
    return send(text).await;
}

#[reattempt::retry]
pub async fn needless_return_at_the_end(text: &str) -> io::Result<usize> {
    let size = send(text).await?;
    return Ok(size);
}

#[reattempt::retry]
pub async fn passed_by_value(text: String) -> io::Result<usize> {
    send(&text).await
}

// warns: clippy::needless_borrow
#[reattempt::retry]
pub async fn needless_borrow(text: &str) -> io::Result<usize> {
    send(&text).await
}

// warns: clippy::let_and_return
#[reattempt::retry]
pub async fn let_and_return(text: &str) -> io::Result<usize> {
    let result = send(text).await;
    result
}

#[reattempt::retry]
pub async fn by_hand(text: &str) -> io::Result<usize> {
    let size = match send(text).await {
        Ok(size) => size,
        Err(error) => return Err(error),
    };
    Ok(size)
}

// warns: clippy::needless_question_mark
#[reattempt::retry]
pub async fn needless_question_mark(text: &str) -> io::Result<usize> {
    Ok(send(text).await?)
}

#[reattempt::retry]
pub async fn redundant_clone(text: &str) -> io::Result<usize> {
    let owned = text.to_owned();
    let again = owned.clone();
    send(&again).await
}

// warns: clippy::ptr_arg
#[reattempt::retry]
pub async fn pointer(text: &String) -> io::Result<usize> {
    send(text).await
}

// warns: clippy::items_after_statements
#[reattempt::retry]
pub async fn item_after_statement(text: &str) -> io::Result<usize> {
    let size = send(text).await?;
    const MORE: usize = 1;
    Ok(size + MORE)
}

// warns: clippy::too_many_arguments
#[reattempt::retry]
pub async fn many(_a: u8, _b: u8, _c: u8, _d: u8, _e: u8, _f: u8, _g: u8, _h: u8) -> io::Result<usize> {
    send("").await
}

// warns: clippy::missing_errors_doc
/// Has no section on errors.
#[reattempt::retry]
pub async fn no_section(text: &str) -> io::Result<usize> {
    send(text).await
}

// warns: clippy::await_holding_lock
#[reattempt::retry]
pub async fn holds_a_lock(lock: &std::sync::Mutex<u8>) -> io::Result<usize> {
    let guard = lock.lock().unwrap();
    send("").await.map(|size| size + usize::from(*guard))
}

#[reattempt::retry]
pub async fn unit() -> Result<(), io::Error> {
    send("").await?;
    let _nothing = ();
    Ok(())
}

// warns: clippy::shadow_unrelated
#[reattempt::retry]
pub async fn shadows(text: &str) -> io::Result<usize> {
    let size = send(text).await?;
    let text = "another";
    Ok(text.len() + size)
}

#[reattempt::retry]
pub async fn unwraps(text: Option<&str>) -> io::Result<usize> {
    // warns: clippy::unwrap_used
    send(text.unwrap()).await
}

#[expect(dead_code, reason = "fulfilled")]
#[reattempt::retry]
async fn expected_dead(text: &str) -> io::Result<usize> {
    send(text).await
}

#[reattempt::retry]
#[expect(dead_code, reason = "fulfilled, below the attribute")]
async fn expected_dead_below(text: &str) -> io::Result<usize> {
    send(text).await
}

#[reattempt::retry]
#[expect(unused_variables, reason = "fulfilled")]
pub async fn expected_unused(text: &str, unused: String) -> io::Result<usize> {
    let unused_too = 1;
    send(text).await
}

#[reattempt::retry]
#[expect(unused_mut, reason = "fulfilled")]
pub async fn expected_unused_mut(mut text: String) -> io::Result<usize> {
    send(&text).await
}

#[reattempt::retry]
#[expect(unused_must_use, reason = "fulfilled")]
pub async fn expected_unused_result(text: &str) -> io::Result<usize> {
    send(text).await;
    Ok(0)
}

#[reattempt::retry]
#[expect(deprecated, reason = "fulfilled")]
pub async fn expected_deprecated(text: &str) -> io::Result<usize> {
    old();
    send(text).await
}

#[reattempt::retry]
#[expect(unreachable_code, clippy::needless_return, reason = "fulfilled")]
pub async fn expected_unreachable(text: &str) -> io::Result<usize> {
    return send(text).await;
    println!("never");
}

#[reattempt::retry]
pub async fn expected_within(#[expect(unused_variables, reason = "fulfilled")] unused: u8) -> io::Result<usize> {
    #![expect(unused_assignments, reason = "fulfilled")]
    let mut count = 1;
    count = 2;
    #[expect(unused_must_use, reason = "fulfilled")]
    send("");
    send("").await
}

// warns: unfulfilled_lint_expectations
#[reattempt::retry]
#[expect(unused_variables, reason = "not fulfilled")]
pub async fn expected_in_vain(text: &str) -> io::Result<usize> {
    send(text).await
}

#[reattempt::retry]
#[allow(unused_variables, reason = "nothing is said")]
pub async fn allowed(text: &str, unused: String) -> io::Result<usize> {
    send(text).await
}

#[reattempt::retry]
#[must_use = "it is of use"]
#[deprecated(note = "ask another")]
#[doc(hidden)]
#[inline]
pub async fn attributes(text: &str) -> io::Result<usize> {
    send(text).await
}

#[reattempt::retry]
#[cfg(any())]
pub async fn left_out(text: &Missing) -> io::Result<usize> {
    send(text).await
}

#[cfg(any())]
#[reattempt::retry]
pub async fn left_out_above(text: &Missing) -> io::Result<usize> {
    send(text).await
}

// Its attributes are kept: it is deprecated, and it must be used.
pub async fn calls_attributes() {
    attributes("");
}

fn put(text: String) -> io::Result<usize> {
    Ok(text.into_bytes().len())
}

// warns: clippy::needless_pass_by_value
#[reattempt::retry(blocking)]
pub fn blocking_borrows(text: String) -> io::Result<usize> {
    put(text.to_uppercase())
}

// warns: unused_variables
#[reattempt::retry(blocking)]
pub fn blocking_unused(text: String, unused: u8) -> io::Result<usize> {
    put(text)
}

// warns: unused_mut
#[reattempt::retry(blocking)]
pub fn blocking_unused_mut(mut text: String) -> io::Result<usize> {
    put(text)
}

// warns: clippy::needless_return
#[reattempt::retry(blocking)]
pub fn blocking_needless_return(text: String) -> io::Result<usize> {
    return put(text);
}

// warns: unreachable_code
#[reattempt::retry(blocking)]
pub fn blocking_unreachable(text: String) -> io::Result<usize> {
    return put(text);
    old();
}

// warns: unused_must_use
#[reattempt::retry(blocking)]
pub fn blocking_unused_result(text: String) -> io::Result<usize> {
    number();
    put(text)
}

// warns: dead_code
#[reattempt::retry(blocking)]
fn blocking_dead(text: String) -> io::Result<usize> {
    put(text)
}
