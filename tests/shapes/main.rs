//! Every shape of function compiles, retries, and is `Send` if the plain function is.
//!
//! Each case is a function whose body counts its calls and always fails. The test calls each function of the table
//! and checks the exact number of calls, so that each shape really retries.

mod arguments;
mod blocking;
mod bodies;
mod boxed;
mod by_value;
mod captured;
mod conditional;
mod converted;
mod generic;
mod hedged;
mod hygiene;
mod lent;
mod methods;
mod operands;
mod results;
mod traced;
mod written;

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering};

/// How often a body ran. Every case has its own counter.
#[derive(Debug, Default)]
pub(crate) struct Calls(AtomicU32);

impl Calls {
    pub(crate) fn up(&self) -> u32 {
        self.0.fetch_add(1, Ordering::Relaxed) + 1
    }

    pub(crate) fn count(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }

    /// Counts a call, and fails with a retryable error.
    pub(crate) fn fail<T>(&self) -> io::Result<T> {
        self.up();
        Err(io::ErrorKind::ConnectionReset.into())
    }
}

/// The number of attempts of every case.
pub(crate) const ATTEMPTS: u32 = 3;

type Running<'c> = Pin<Box<dyn Future<Output = ()> + Send + 'c>>;

/// A case: a name, and a call whose body counts in `Calls`. The future must be `Send`.
#[derive(Clone, Copy)]
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) run: for<'c> fn(&'c Calls) -> Running<'c>,
}

/// Makes a table of cases from `name: |calls| future`.
macro_rules! cases {
    ($($name:ident: |$calls:ident| $call:expr;)*) => {
        pub(crate) const CASES: &[crate::Case] = &[$(crate::Case {
            name: concat!(module_path!(), "::", stringify!($name)),
            run: |$calls| Box::pin(async move { let _ = $call.await; }),
        }),*];
    };
}
pub(crate) use cases;

#[tokio::test(start_paused = true)]
async fn every_shape_makes_all_its_attempts() {
    let tables = [
        arguments::CASES,
        blocking::CASES,
        bodies::CASES,
        boxed::CASES,
        by_value::CASES,
        captured::CASES,
        conditional::CASES,
        converted::CASES,
        generic::CASES,
        hedged::CASES,
        hygiene::CASES,
        lent::CASES,
        methods::CASES,
        operands::CASES,
        results::CASES,
        traced::CASES,
        written::CASES,
    ];
    let mut wrong = Vec::new();
    for case in tables.concat() {
        let calls = Calls::default();
        (case.run)(&calls).await;
        if calls.count() != ATTEMPTS {
            wrong.push(format!("{}: {} calls", case.name, calls.count()));
        }
    }
    assert!(
        wrong.is_empty(),
        "expected {ATTEMPTS} calls of each:\n{}",
        wrong.join("\n")
    );
}
