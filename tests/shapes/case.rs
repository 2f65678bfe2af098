//! A case of the table, and what counts its calls.

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

/// Uses a value up.
pub(crate) fn take<T>(value: T) -> T {
    value
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

/// Makes the calls of these tables, and names each case with another number of attempts.
pub(crate) async fn check(tables: &[&[Case]]) {
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
