//! Rules that name a variable of the function.

use std::future::Future;
use std::io;

use async_trait::async_trait;
use reattempt::retry;

use crate::{cases, Calls};

#[async_trait]
trait Store {
    async fn read(&self, calls: &Calls, limit: u32) -> io::Result<u8>;
}

struct Memory {
    size: u32,
}

#[async_trait]
impl Store for Memory {
    #[retry(timeout = "1s", when = |_| self.size == limit)]
    async fn read(&self, calls: &Calls, limit: u32) -> io::Result<u8> {
        calls.fail()
    }
}

#[retry(on = "io::Error", when = |error| error.kind() == kind)]
async fn argument(calls: &Calls, kind: io::ErrorKind) -> io::Result<()> {
    calls.fail()
}

#[retry(timeout = "1s", when = |_| {
    let text = format!("{limit}");
    text.len() == 1
})]
async fn argument_in_a_text(calls: &Calls, limit: u32) -> io::Result<()> {
    assert_eq!(limit, 3);
    calls.fail()
}

#[retry(when = second)]
async fn part_of_an_argument(
    calls: &Calls,
    (first, second): (u32, fn(&io::Error) -> bool),
) -> io::Result<u32> {
    calls.fail::<()>()?;
    Ok(first)
}

/// The words of the rule are those of no argument.
#[retry(when = |_| made)]
fn variable(calls: &Calls, limit: u32) -> impl Future<Output = io::Result<u32>> + '_ {
    let made = limit == 3;
    async move {
        calls.fail::<()>()?;
        Ok(limit)
    }
}

macro_rules! function {
    ($name:ident, $limit:ident, $when:expr) => {
        #[retry(when = $when)]
        async fn $name(calls: &Calls, $limit: u32) -> io::Result<u32> {
            calls.fail::<()>()?;
            Ok($limit)
        }
    };
}

function!(argument_of_a_macro, limit, |_: &io::Error| limit == 3);

async fn closure(calls: &Calls) -> io::Result<usize> {
    let mut kept = Vec::new();
    let run = reattempt::run!(
        when = |error| error.kind() != io::ErrorKind::NotFound,
        async || {
            kept.push(1);
            calls.fail::<()>()?;
            io::Result::Ok(kept.len())
        }
    );
    run.await
}

fn blocking_closure(calls: &Calls) -> io::Result<u8> {
    reattempt::run!(blocking, base = "1ns", || calls.fail())
}

cases! {
    closure: |calls| closure(calls);
    blocking_closure: |calls| std::future::ready(blocking_closure(calls));
    field: |calls| Memory { size: 3 }.read(calls, 3);
    argument: |calls| argument(calls, io::ErrorKind::ConnectionReset);
    argument_in_a_text: |calls| argument_in_a_text(calls, 3);
    part_of_an_argument: |calls| part_of_an_argument(calls, (1, |_| true));
    variable: |calls| variable(calls, 3);
    argument_of_a_macro: |calls| argument_of_a_macro(calls, 3);
}
