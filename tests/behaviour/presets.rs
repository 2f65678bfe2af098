//! Presets: policies with a name.

use reattempt::{Outcome, Policy, Preset, with_report};

use crate::script::{RESET, Script, Step, ending, ms};

static SEARCH: Preset = Preset::new(
    "search",
    Policy::new().with_attempts(4).with_timeout(ms(50)),
);

plays!(find(policy = SEARCH));

plays!(find_soon(policy = &SEARCH, attempts = 2));

plays!(find_within(policy = SEARCH, attempts = *most, base = "0ms"), most: &u32);

#[tokio::test(start_paused = true)]
async fn a_function_uses_the_policy_of_its_preset() {
    let script = Script::new([RESET, RESET, RESET, Step::Succeed]);
    assert_eq!(find(&script).await.unwrap(), 4);

    let script = Script::new([Step::Hang]);
    let error = find(&script).await.unwrap_err();
    assert_eq!(ending(&error), (Outcome::Timeout, 4, None));
}

#[tokio::test(start_paused = true)]
async fn keys_of_the_attribute_override_the_preset() {
    let script = Script::new([Step::Hang]);
    let error = find_soon(&script).await.unwrap_err();
    assert_eq!(ending(&error), (Outcome::Timeout, 2, None));
    let script = Script::new([Step::Hang]);
    let error = find_within(&script, &3).await.unwrap_err();
    assert_eq!(ending(&error), (Outcome::Timeout, 3, None));
}

mod named {
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

    use reattempt::{Policy, Preset, WithoutLimits, retry};

    use super::SEARCH;

    static BEHIND: &Preset = &SEARCH;
    static TWICE: Policy = Policy::new().with_attempts(2);
    const BORROWED: &Policy = &TWICE;
    const STORED: WithoutLimits = Policy::new()
        .with_timeout(super::ms(1))
        .with_attempts(3)
        .without_limits();

    const fn search() -> &'static Preset {
        &SEARCH
    }

    /// It cannot hold a `Stopped`.
    type Failed = std::num::ParseIntError;
    type Result<E> = std::result::Result<u8, E>;

    fn fail(calls: &AtomicU32) -> std::io::Result<u8> {
        calls.fetch_add(1, Relaxed);
        Err(std::io::ErrorKind::ConnectionReset.into())
    }

    fn misread(calls: &AtomicU32) -> Result<Failed> {
        calls.fetch_add(1, Relaxed);
        "x".parse()
    }

    struct Shop {
        preset: &'static Preset,
        own: Preset,
    }

    impl Shop {
        #[retry(policy = self.preset)]
        async fn of_field(&self, calls: &AtomicU32) -> Result<std::io::Error> {
            fail(calls)
        }

        #[retry(policy = self.own)]
        async fn of_own_field(&self, calls: &AtomicU32) -> Result<std::io::Error> {
            fail(calls)
        }

        #[retry(policy = SEARCH, sensitive, budget = "none", delays = ["1ms"])]
        async fn of_static(&self, calls: &AtomicU32) -> Result<std::io::Error> {
            fail(calls)
        }
    }

    #[retry(policy = search())]
    async fn of_function(calls: &AtomicU32) -> Result<std::io::Error> {
        fail(calls)
    }

    #[retry(policy = BEHIND)]
    async fn behind(calls: &AtomicU32) -> Result<std::io::Error> {
        fail(calls)
    }

    #[retry(policy = SEARCH, base = "0ms", blocking)]
    fn blocking(calls: &AtomicU32) -> Result<std::io::Error> {
        fail(calls)
    }

    #[retry(policy = BORROWED, when = |_| true)]
    async fn borrowed(calls: &AtomicU32) -> Result<Failed> {
        misread(calls)
    }

    #[retry(policy = STORED, when = |_| true)]
    async fn stored(calls: &AtomicU32) -> Result<Failed> {
        misread(calls)
    }

    #[retry(policy = TWICE, when = |_| true, base = *base)]
    async fn evaluated(calls: &AtomicU32, base: &std::time::Duration) -> Result<Failed> {
        misread(calls)
    }

    #[tokio::test(start_paused = true)]
    async fn no_type_and_no_place_needs_a_reference() {
        let shop = Shop {
            preset: &SEARCH,
            own: Preset::new("own", TWICE.clone()),
        };
        let calls = AtomicU32::new(0);
        let made = || calls.swap(0, Relaxed);
        shop.of_field(&calls).await.unwrap_err();
        assert_eq!(made(), 4);
        shop.of_own_field(&calls).await.unwrap_err();
        assert_eq!(made(), 2);
        shop.of_static(&calls).await.unwrap_err();
        assert_eq!(made(), 2, "one delay");
        of_function(&calls).await.unwrap_err();
        assert_eq!(made(), 4);
        behind(&calls).await.unwrap_err();
        assert_eq!(made(), 4);
        blocking(&calls).unwrap_err();
        assert_eq!(made(), 4);
        borrowed(&calls).await.unwrap_err();
        assert_eq!(made(), 2);
        stored(&calls).await.unwrap_err();
        assert_eq!(made(), 3);
        evaluated(&calls, &super::ms(5)).await.unwrap_err();
        assert_eq!(made(), 2);
    }
}

#[tokio::test(start_paused = true)]
async fn a_preset_runs_a_closure_and_the_call_is_named_after_this_file() {
    let script = Script::new([RESET, Step::Succeed]);
    let (result, report) = with_report(SEARCH.run(|| script.play())).await;
    assert_eq!(result.unwrap(), 2);
    let function = report.unwrap().function();
    assert!(function.contains("presets.rs"), "{function}");
}
