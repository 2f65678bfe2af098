//! Arguments, fields, statements and arms with a `#[cfg]`. Of two, one is left out: what it names does not exist.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;

use async_trait::async_trait;
use reattempt::retry;

use crate::{cases, take, Calls};

#[derive(Clone, Default)]
struct Letter {
    body: String,
    #[cfg(not(any()))]
    there: String,
    #[cfg(any())]
    gone: Missing,
}

/// Not `Clone`.
#[derive(Default)]
struct Count {
    number: u8,
    #[cfg(not(any()))]
    there: u8,
    #[cfg(any())]
    gone: Missing,
}

#[derive(Default)]
struct Pair {
    left: Letter,
    #[cfg(any())]
    gone: (Missing, Missing),
    #[cfg(not(any()))]
    right: Letter,
}

struct Sent {
    #[cfg(not(any()))]
    there: String,
    #[cfg(any())]
    gone: Missing,
}

struct Counted {
    #[cfg(not(any()))]
    there: u8,
    #[cfg(any())]
    gone: Missing,
}

#[retry]
async fn argument(
    calls: &Calls,
    #[cfg(any())] gone: Missing,
    #[cfg(not(any()))] there: Letter,
    #[cfg(any())] mut own: Missing,
    #[cfg(any())] list: Option<&mut Missing>,
    #[cfg(any())] (one, Two { two }): Missing,
) -> io::Result<usize> {
    #[cfg(any())]
    {
        take(gone.body);
        take(gone);
        own += take(list);
        take((one, two));
    }
    #[cfg(not(any()))]
    let there = take(there.there);
    calls.fail::<()>()?;
    Ok(there.len())
}

#[retry]
async fn argument_by_cfg_attr(
    calls: &Calls,
    #[cfg_attr(not(any()), cfg(any()))] gone: Missing,
    #[cfg_attr(
        not(any()),
        cfg(not(any())),
        allow(unused_mut, reason = "what is tested")
    )]
    mut there: Letter,
) -> io::Result<usize> {
    #[cfg_attr(not(any()), cfg(any()))]
    take(gone);
    let size = take(there).there.len();
    calls.fail::<()>()?;
    Ok(size)
}

#[retry]
async fn one_of_two_arguments(
    calls: &Calls,
    #[cfg(any())] text: Missing,
    #[cfg(not(any()))] text: String,
) -> io::Result<usize> {
    let size = take(text).len();
    calls.fail::<()>()?;
    Ok(size)
}

#[retry]
async fn handed_over_or_gone<#[cfg(any())] G: Missing, #[cfg(not(any()))] T: AsRef<str> + Clone>(
    calls: &Calls,
    #[cfg(any())] gone: G,
    #[cfg(not(any()))] there: T,
) -> io::Result<usize> {
    #[cfg(any())]
    take(gone);
    let size = take(there).as_ref().len();
    calls.fail::<()>()?;
    Ok(size)
}

#[retry]
async fn field_of_a_pattern(
    calls: &Calls,
    Pair {
        left,
        #[cfg(any())]
            gone: (mut one, two),
        #[cfg(not(any()))]
        mut right,
    }: Pair,
) -> io::Result<usize> {
    #[cfg(any())]
    {
        one += 1;
        take((one, two));
    }
    assert_eq!(
        right.body, "",
        "an attempt starts from what the caller passed"
    );
    right.body.push('x');
    let size = left.body.len() + take(right).body.len();
    calls.fail::<()>()?;
    Ok(size)
}

#[retry]
async fn field_of_a_pattern_by_cfg_attr(
    calls: &Calls,
    Pair {
        left,
        #[cfg_attr(not(any()), cfg(any()))]
        gone,
        #[cfg_attr(not(any()), cfg(not(any())))]
        right,
    }: Pair,
) -> io::Result<usize> {
    #[cfg_attr(not(any()), cfg(any()))]
    take(gone);
    let size = take(left).body.len() + right.body.len();
    calls.fail::<()>()?;
    Ok(size)
}

/// The lint is reported where each attempt binds the field.
#[retry]
async fn lint_of_a_field(
    calls: &Calls,
    Pair {
        left,
        #[cfg(not(any()))]
        #[expect(unused_mut, reason = "what is tested")]
        mut right,
        ..
    }: Pair,
) -> io::Result<usize> {
    let size = take(left).body.len() + take(right).body.len();
    calls.fail::<()>()?;
    Ok(size)
}

#[retry]
async fn field_of_a_literal(calls: &Calls, letter: Letter) -> io::Result<usize> {
    let sent = Sent {
        #[cfg(not(any()))]
        there: letter.there,
        #[cfg(any())]
        gone: letter.gone,
    };
    calls.fail::<()>()?;
    Ok(sent.there.len())
}

/// The argument is not `Clone`, and each attempt copies the field.
#[retry]
async fn field_of_a_literal_that_is_copied(calls: &Calls, count: Count) -> io::Result<u8> {
    let counted = Counted {
        #[cfg(not(any()))]
        there: count.there,
        #[cfg(any())]
        gone: count.gone,
    };
    calls.fail::<()>()?;
    Ok(counted.there + count.number)
}

impl Count {
    #[retry]
    async fn field_of_self(self, calls: &Calls) -> io::Result<u8> {
        let counted = Counted {
            #[cfg(not(any()))]
            there: self.there,
            #[cfg(any())]
            gone: self.gone,
        };
        calls.fail::<()>()?;
        Ok(counted.there + self.number)
    }

    #[retry]
    async fn without_self(#[cfg(any())] &mut self, calls: &Calls) -> io::Result<u8> {
        #[cfg(any())]
        take(self.gone);
        calls.fail()
    }

    #[retry]
    async fn with_self(#[cfg(not(any()))] self: Arc<Self>, calls: &Calls) -> io::Result<usize> {
        let count = Arc::strong_count(&take(self));
        calls.fail::<()>()?;
        Ok(count)
    }
}

#[retry]
async fn statements_and_arms(calls: &Calls, letter: Letter, kind: u8) -> io::Result<usize> {
    #[cfg(any())]
    if take(letter.gone) {
        take(letter.gone.one)
    } else {
        take(letter.gone.two)
    }
    #[cfg(any())]
    let letter: Missing<A, B> = letter.gone;
    let sizes = [
        1,
        #[cfg(any())]
        take(letter.gone),
        #[cfg(not(any()))]
        2,
    ];
    let text = match kind {
        #[cfg(any())]
        1 => take(letter.gone),
        #[cfg(any())]
        Missing { two } if take(letter.gone) => {
            take(letter.gone);
        }
        #[cfg(not(any()))]
        _ => take(letter.there),
    };
    let add = |#[cfg(any())] gone: Missing, size: usize| size + sizes.len();
    let size = add(text.len());
    calls.fail::<()>()?;
    Ok(size + take(letter.body).len())
}

/// The argument is not `Clone` behind the `let` that is left out.
#[retry]
async fn bound_anew_under_a_cfg(calls: &Calls, letter: Letter) -> io::Result<usize> {
    #[cfg(any())]
    let letter = 1;
    let size = take(letter).body.len();
    calls.fail::<()>()?;
    Ok(size)
}

#[retry(blocking)]
fn blocking(
    calls: &Calls,
    #[cfg(any())] gone: Missing,
    letter: Letter,
    Pair {
        left,
        #[cfg(any())]
        gone,
        #[cfg(not(any()))]
        right,
    }: Pair,
) -> io::Result<usize> {
    #[cfg(any())]
    take(gone);
    let sent = Sent {
        #[cfg(not(any()))]
        there: letter.there,
        #[cfg(any())]
        gone: letter.gone,
    };
    let size = sent.there.len() + take(left).body.len() + right.body.len();
    calls.fail::<()>()?;
    Ok(size)
}

#[retry]
fn before_the_future<'a>(
    calls: &'a Calls,
    letter: &Letter,
) -> Pin<Box<dyn Future<Output = io::Result<usize>> + Send + 'a>> {
    #[cfg(any())]
    let gone = letter.gone;
    #[cfg(not(any()))]
    let there = letter.there.clone();
    Box::pin(async move {
        #[cfg(any())]
        take(gone);
        let size = take(there).len();
        calls.fail::<()>()?;
        Ok(size)
    })
}

#[async_trait]
trait Store {
    async fn put(
        &self,
        calls: &Calls,
        #[cfg(any())] gone: Missing,
        #[cfg(not(any()))] there: String,
        pair: Pair,
    ) -> io::Result<usize>;
}

#[async_trait]
impl Store for () {
    #[retry]
    async fn put(
        &self,
        calls: &Calls,
        #[cfg(any())] mut gone: Missing,
        #[cfg(not(any()))] mut there: String,
        Pair {
            left,
            #[cfg(any())]
            gone,
            #[cfg(not(any()))]
            right,
        }: Pair,
    ) -> io::Result<usize> {
        #[cfg(any())]
        take(gone);
        there.push('x');
        let size = take(left).body.len() + take(right).body.len() + take(there).len();
        calls.fail::<()>()?;
        Ok(size)
    }
}

cases! {
    argument: |calls| argument(calls, Letter::default());
    argument_by_cfg_attr: |calls| argument_by_cfg_attr(calls, Letter::default());
    one_of_two_arguments: |calls| one_of_two_arguments(calls, String::new());
    handed_over_or_gone: |calls| handed_over_or_gone(calls, String::new());
    field_of_a_pattern: |calls| field_of_a_pattern(calls, Pair::default());
    field_of_a_pattern_by_cfg_attr: |calls| field_of_a_pattern_by_cfg_attr(calls, Pair::default());
    lint_of_a_field: |calls| lint_of_a_field(calls, Pair::default());
    field_of_a_literal: |calls| field_of_a_literal(calls, Letter::default());
    field_of_a_literal_that_is_copied: |calls| field_of_a_literal_that_is_copied(calls, Count::default());
    field_of_self: |calls| Count::default().field_of_self(calls);
    without_self: |calls| Count::without_self(calls);
    with_self: |calls| Arc::new(Count::default()).with_self(calls);
    statements_and_arms: |calls| statements_and_arms(calls, Letter::default(), 1);
    bound_anew_under_a_cfg: |calls| bound_anew_under_a_cfg(calls, Letter::default());
    blocking: |calls| async { blocking(calls, Letter::default(), Pair::default()) };
    before_the_future: |calls| before_the_future(calls, &Letter::default());
    put: |calls| ().put(calls, String::new(), Pair::default());
}
