//! The expansion in a hostile crate: there is no prelude, names that it could use mean something else, the facade
//! has another name, attributes come out of macros, and identifiers are raw.

#![no_implicit_prelude]
#![allow(
    clippy::ignored_unit_patterns,
    clippy::unused_self,
    reason = "only what the expansion does counts here"
)]

extern crate reattempt as elsewhere;

use ::std::clone::Clone;
use ::std::convert::From;
use ::std::string::String;
use ::std::sync::atomic::{AtomicU32, Ordering};
use ::std::{assert_eq, concat};

/// Runs a future on a paused clock.
fn run<T>(future: impl ::std::future::Future<Output = T>) -> T {
    let runtime = ::tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build();
    match runtime {
        ::std::result::Result::Ok(runtime) => runtime.block_on(future),
        ::std::result::Result::Err(error) => ::std::panic!("{error}"),
    }
}

fn fail<T>(calls: &AtomicU32) -> ::std::io::Result<T> {
    calls.fetch_add(1, Ordering::Relaxed);
    ::std::result::Result::Err(::std::convert::From::from(
        ::std::io::ErrorKind::ConnectionReset,
    ))
}

/// How often a call ran its body.
fn count<F: ::std::future::Future>(call: impl ::std::ops::FnOnce(&'static AtomicU32) -> F) -> u32 {
    let calls: &'static AtomicU32 =
        ::std::boxed::Box::leak(::std::boxed::Box::new(AtomicU32::new(0)));
    ::std::mem::drop(run(call(calls)));
    calls.load(Ordering::Relaxed)
}

mod without_prelude {
    use ::std::assert_eq;
    use ::std::sync::atomic::AtomicU32;

    #[::reattempt::retry(attempts = 3, timeout = "1s", deadline = "1m", on = "::std::io::Error")]
    pub(crate) async fn function(
        calls: &AtomicU32,
        text: ::std::string::String,
    ) -> ::std::io::Result<()> {
        ::std::mem::drop([text]);
        super::fail(calls)
    }

    pub(crate) async fn closure(calls: &AtomicU32) -> ::std::io::Result<()> {
        ::reattempt::run!(
            attempts = 3,
            timeout = "1s",
            unless = |_| false,
            before_retry = async |_| (),
            async || super::fail(calls)
        )
        .await
    }

    pub(crate) struct Client;

    impl Client {
        #[::reattempt::retry(when = |_| true, on_retry = |_| (), before_retry = async || ())]
        pub(crate) async fn method(
            &self,
            calls: &AtomicU32,
            mut count: u8,
        ) -> ::std::io::Result<()> {
            count += 1;
            assert_eq!(count, 2);
            super::fail(calls)
        }

        #[::reattempt::retry(unless = "left_out", cancel = ::std::future::pending::<()>())]
        #[cfg(any())]
        pub(crate) async fn left_out(&self) {}

        #[::reattempt::retry(
            silent,
            nested = "outermost",
            budget = "none",
            cancel_waits = ::std::future::pending::<()>()
        )]
        pub(crate) async fn bounded(&self, calls: &AtomicU32) -> ::std::io::Result<()> {
            super::fail(calls)
        }

        #[::reattempt::retry(base = base, unless = |_| false, name = "boxed")]
        pub(crate) fn boxed<'a>(
            &'a self,
            calls: &'a AtomicU32,
            base: ::std::time::Duration,
        ) -> ::std::pin::Pin<
            ::std::boxed::Box<dyn ::std::future::Future<Output = ::std::io::Result<()>> + 'a>,
        > {
            ::std::boxed::Box::pin(async move { super::fail(calls) })
        }

        #[::reattempt::retry(
            delays = [first, "0s"],
            policy = ::reattempt::FAST_IO,
            budget = ::std::option::Option::None::<::reattempt::Budget>,
            idempotent = first.is_zero(),
            on_end = |_| ()
        )]
        pub(crate) async fn of_the_call(
            &self,
            calls: &AtomicU32,
            first: ::std::time::Duration,
        ) -> ::std::io::Result<()> {
            super::fail(calls)
        }

        #[::reattempt::retry(hedge = "1s", on_retry = |_| ())]
        pub(crate) async fn hedged(
            &self,
            calls: &AtomicU32,
            text: ::std::string::String,
        ) -> ::std::io::Result<()> {
            let _text = ::std::convert::identity(text);
            super::fail(calls)
        }

        #[::reattempt::retry]
        pub(crate) fn handmade<'a>(
            &'a self,
            calls: &'a AtomicU32,
        ) -> ::std::pin::Pin<
            ::std::boxed::Box<dyn ::std::future::Future<Output = ::std::io::Result<()>> + 'a>,
        > {
            let future = async move { super::fail(calls) };
            ::std::boxed::Box::pin(future)
        }
    }

    #[derive(::reattempt::Retryable)]
    pub(crate) enum Failure {
        #[retryable(transient)]
        Busy,
        #[retryable(throttled, after = "after")]
        #[expect(dead_code, reason = "the derive is what is tested")]
        Throttled {
            after: ::std::option::Option<::std::time::Duration>,
        },
        #[retryable(forward)]
        Io(::std::io::Error),
        #[retryable(permanent)]
        #[expect(dead_code, reason = "the derive is what is tested")]
        Closed,
    }

    #[::reattempt::retry]
    pub(crate) async fn derived(calls: &AtomicU32) -> ::std::result::Result<(), Failure> {
        if let ::std::result::Result::Err(error) = super::fail::<()>(calls) {
            return ::std::result::Result::Err(Failure::Io(error));
        }
        ::std::result::Result::Err(Failure::Busy)
    }
}

#[::std::prelude::v1::test]
fn it_compiles_in_a_crate_without_a_prelude() {
    let client = without_prelude::Client;
    let text = String::from("text");
    assert_eq!(
        count(|calls| without_prelude::function(calls, text.clone())),
        3
    );
    assert_eq!(count(without_prelude::closure), 3);
    assert_eq!(count(|calls| client.method(calls, 1)), 3);
    assert_eq!(count(|calls| client.bounded(calls)), 3);
    assert_eq!(
        count(|calls| client.boxed(calls, ::std::time::Duration::ZERO)),
        3
    );
    assert_eq!(
        count(|calls| client.of_the_call(calls, ::std::time::Duration::ZERO)),
        3
    );
    assert_eq!(
        count(|calls| client.hedged(calls, ::std::string::String::new())),
        3
    );
    assert_eq!(count(|calls| client.handmade(calls)), 3);
    assert_eq!(count(without_prelude::derived), 3);
}

/// Types, modules, macros and methods with the names that a careless expansion would use.
mod shadowed {
    #![expect(
        dead_code,
        non_camel_case_types,
        unused_macros,
        reason = "shadows on purpose"
    )]

    use ::std::sync::atomic::AtomicU32;

    struct Ok;
    struct Err;
    struct Some;
    struct None;
    struct Option;
    struct Result;
    struct Box;
    struct Duration;
    struct String;
    struct Policy;
    struct Call;
    struct Site;
    struct Budget;
    struct Once;
    struct Pin;
    struct bool;
    struct u32;
    struct u64;
    struct str;
    mod core {}
    mod std {}
    mod alloc {}
    mod tokio {}
    mod reattempt {}
    mod reattempt_runtime {}
    trait Future {}
    trait Send {}
    trait From {}
    trait Into {}
    trait Clone {}
    fn drop() {}
    macro_rules! concat {
        ($($any:tt)*) => {
            compile_error!("shadowed")
        };
    }
    macro_rules! module_path {
        ($($any:tt)*) => {
            compile_error!("shadowed")
        };
    }
    macro_rules! pin {
        ($($any:tt)*) => {
            compile_error!("shadowed")
        };
    }
    macro_rules! matches {
        ($($any:tt)*) => {
            compile_error!("shadowed")
        };
    }

    /// Methods of every type, with the names of our methods. Those that borrow nothing mutably come before an inherent method that
    /// does.
    trait Everywhere {
        fn begin(&self) {}
        fn begin_with(&self) {}
        fn settings(&self) {}
        fn attempt(&self) {}
        fn when_ok(&self) {}
        fn until(&self) {}
        fn unless(&self) {}
        fn settle(&self) {}
        fn settle_with(&self) {}
        fn ask_about(&self) {}
        fn retry_after(&self) {}
        fn pass_pause(&self) {}
        fn end_preparation(&self) {}
        fn race(&self) {}
        fn wait(&self) {}
        fn prepare(&self) {}
        fn prepared(&self) {}
        fn cut_between(&self) {}
        fn err(&self) {}
        fn pin(&mut self) {}
        fn clone(&self) {}
        fn into(self)
        where
            Self: ::std::marker::Sized,
        {
        }
        fn as_mut(&mut self) {}
        fn or_else(self)
        where
            Self: ::std::marker::Sized,
        {
        }
        fn verdict(&self) {}
    }
    impl<T: ?::std::marker::Sized> Everywhere for T {}

    #[::reattempt::retry(
        attempts = 3,
        timeout = "1s",
        deadline = "1m",
        base = base,
        jitter = "equal",
        on = "::std::io::Error",
        when = |_| true,
        unless = "::std::fmt::Error",
        retry_after = |_| ::std::option::Option::None,
        when_ok = |_| false,
        on_retry = |_| (),
        before_retry = async || (),
        cancel = ::std::future::pending::<()>(),
        nested = "multiply"
    )]
    pub(crate) async fn everything(
        calls: &AtomicU32,
        mut list: ::std::vec::Vec<u8>,
        text: ::std::string::String,
        base: ::std::time::Duration,
    ) -> ::std::io::Result<()> {
        list.push(1);
        ::std::mem::drop((list, text));
        super::fail(calls)
    }

    pub(crate) async fn closure(calls: &AtomicU32) -> ::std::io::Result<()> {
        ::reattempt::run!(
            blocking,
            base = "1ns",
            deadline = "1m",
            on = "::std::io::Error",
            when = |_| true,
            when_ok = |_| false,
            on_retry = |_| (),
            before_retry = |_| (),
            || super::fail(calls)
        )
    }

    #[::reattempt::retry(verdict = |_| ::reattempt::Verdict::Transient, when = |_| true)]
    pub(crate) async fn verdict(calls: &AtomicU32) -> ::std::io::Result<()> {
        super::fail(calls)
    }

    #[::reattempt::retry(until = |_| true)]
    pub(crate) async fn until(calls: &AtomicU32) -> ::std::io::Result<()> {
        super::fail(calls)
    }

    #[::reattempt::retry]
    pub(crate) async fn bare(calls: &AtomicU32) -> ::std::io::Result<()> {
        super::fail(calls)
    }

    #[derive(::reattempt::Retryable)]
    pub(crate) struct Failure(#[retryable(forward)] pub(crate) ::std::io::Error);

    #[::reattempt::retry]
    pub(crate) async fn derived(calls: &AtomicU32) -> ::std::result::Result<(), Failure> {
        super::fail(calls).map_err(Failure)
    }
}

#[::std::prelude::v1::test]
fn it_compiles_beside_shadowed_names() {
    let everything = |calls| {
        let (list, text) = (::std::vec::Vec::new(), String::new());
        shadowed::everything(calls, list, text, ::std::time::Duration::from_millis(1))
    };
    assert_eq!(count(everything), 3);
    assert_eq!(count(shadowed::bare), 3);
    assert_eq!(count(shadowed::closure), 3);
    assert_eq!(count(shadowed::until), 3);
    assert_eq!(count(shadowed::verdict), 3);
    assert_eq!(count(shadowed::derived), 3);
}

mod inner {
    pub(crate) use ::reattempt as facade;
}

#[::reattempt::retry(crate = "crate::inner::facade", timeout = "1s")]
async fn by_a_path(calls: &AtomicU32) -> ::std::io::Result<()> {
    fail(calls)
}

#[::reattempt::retry(crate = elsewhere)]
async fn by_another_name(calls: &AtomicU32) -> ::std::io::Result<()> {
    fail(calls)
}

#[::std::prelude::v1::test]
fn the_facade_may_be_elsewhere() {
    assert_eq!(count(by_a_path), 3);
    assert_eq!(count(by_another_name), 3);
}

/// Each part of the function and of the attribute is an argument of the macro.
macro_rules! annotated {
    (
        $(#[$attribute:meta])* $visibility:vis $name:ident($calls:ident, $argument:ident: $ty:ty) -> $output:ty
        $body:block, $limit:expr, $attempts:literal, $error:ty, $pattern:pat, $ask:path, $label:literal
    ) => {
        $(#[$attribute])*
        #[::reattempt::retry(attempts = $attempts, timeout = $limit, unless = $error, name = $label)]
        $visibility async fn $name($calls: &AtomicU32, $argument: $ty) -> $output $body

        mod matching {
            use super::*;

            #[::reattempt::retry(when = |error| ::std::matches!(error, $pattern), unless = $ask)]
            pub(crate) async fn $name($calls: &AtomicU32, mut $argument: $ty) -> $output {
                $argument.push('x');
                fail($calls)
            }
        }
    };
}

fn never(_: &::std::io::Error) -> bool {
    false
}

annotated! {
    /// A macro writes this function.
    #[doc(hidden)]
    pub(crate) generated(calls, text: String) -> ::std::io::Result<()> {
        ::std::mem::drop([text]);
        fail(calls)
    },
    ::std::time::Duration::from_secs(1), 4, ::std::fmt::Error, ::std::io::Error { .. }, never, "label"
}

/// The names in the body are those of the macro. The arguments of the caller have the same names.
macro_rules! own_names {
    ($calls:ident, $call:ident) => {
        #[::reattempt::retry(timeout = "1s")]
        async fn own_names($calls: &AtomicU32, $call: u8) -> ::std::io::Result<u8> {
            let call = 1_u8;
            let attempt = $call;
            fail::<()>($calls)?;
            ::std::result::Result::Ok(call + attempt)
        }
    };
}
own_names!(calls, call);

macro_rules! method {
    ($this:ident, $name:ident, $body:expr) => {
        #[::reattempt::retry(timeout = $this.limit)]
        async fn $name(&$this, calls: &AtomicU32) -> ::std::io::Result<()> {
            assert_eq!($body, $this.limit);
            fail(calls)
        }
    };
}

struct Client {
    limit: ::std::time::Duration,
}

impl Client {
    method!(self, method, self.limit);
}

/// `$name` stands where a macro only has tokens.
macro_rules! tokens {
    ($($all:tt)*) => { $($all)* };
}
tokens! {
    #[::reattempt::retry(attempts = 2, on(::std::io::Error, ::std::fmt::Error), jitter = none)]
    async fn out_of_tokens(calls: &AtomicU32) -> ::std::io::Result<()> { fail(calls) }
}

macro_rules! whole {
    ($attribute:meta) => {
        #[$attribute]
        async fn with_a_whole_attribute(calls: &AtomicU32) -> ::std::io::Result<()> {
            fail(calls)
        }
    };
}
whole!(::reattempt::retry(attempts = 2));

#[::std::prelude::v1::test]
fn attributes_and_functions_come_out_of_macros() {
    assert_eq!(count(with_a_whole_attribute), 2);
    assert_eq!(count(|calls| generated(calls, String::new())), 4);
    assert_eq!(count(|calls| matching::generated(calls, String::new())), 3);
    assert_eq!(count(|calls| own_names(calls, 1)), 3);
    let client = Client {
        limit: ::std::time::Duration::from_secs(1),
    };
    assert_eq!(count(|calls| client.method(calls)), 3);
    assert_eq!(count(out_of_tokens), 2);
}

#[::reattempt::retry(r#attempts = 2, timeout = r#type)]
async fn r#match(
    calls: &AtomicU32,
    r#type: ::std::time::Duration,
    r#fn: String,
    mut r#loop: u8,
) -> ::std::io::Result<()> {
    r#loop += 1;
    ::std::mem::drop((
        r#fn,
        r#loop,
        ::std::format!("{type:?} {}", concat!("a", "b")),
    ));
    fail(calls)
}

#[::std::prelude::v1::test]
fn raw_identifiers_are_names() {
    let second = ::std::time::Duration::from_secs(1);
    assert_eq!(count(|calls| r#match(calls, second, String::new(), 1)), 2);
}
