//! A key of the attribute that overrides one of the configuration is logged once for a function and a key.

use std::io::{self, Write};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use reattempt::testing::Scope;
use reattempt::{Budget, Policy, Preset, Settings, configure, retry};
use tracing::subscriber::{DefaultGuard, NoSubscriber};
use tracing::{Dispatch, Level};

const FAST: Policy = Policy::new().with_base(Duration::ZERO);

fn apply(preset: &'static Preset, text: &str) {
    let settings: Settings = toml::from_str(text).unwrap();
    configure([(preset, settings)]).unwrap();
}

/// The warnings of this thread.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    fn listen() -> (Self, DefaultGuard) {
        // With one subscriber alone, `tracing` takes what another thread without one says for the answer of all.
        static SECOND: LazyLock<Dispatch> = LazyLock::new(|| Dispatch::new(NoSubscriber::new()));
        LazyLock::force(&SECOND);
        let log = Self::default();
        let writer = log.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_max_level(Level::WARN)
            .with_ansi(false)
            .without_time()
            .with_writer(move || writer.clone())
            .finish();
        (log, tracing::subscriber::set_default(subscriber))
    }

    /// The new lines.
    fn lines(&self) -> Vec<String> {
        let text = std::mem::take(&mut *self.0.lock().unwrap());
        let text = String::from_utf8(text).unwrap();
        text.lines().map(|line| line.trim().to_owned()).collect()
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn line(function: &str, preset: &str, keys: &str) -> String {
    format!(
        "WARN reattempt: keys of the attribute override the configuration of its preset \
         function=\"{function}\" preset=\"{preset}\" keys=\"{keys}\""
    )
}

#[tokio::test]
async fn a_key_that_has_no_effect_is_logged_once_with_the_function_and_the_preset() {
    static PAYMENTS: Preset = Preset::new("payments", FAST);

    #[retry(policy = PAYMENTS, attempts = 5, name = "pay")]
    async fn pay() -> io::Result<()> {
        Ok(())
    }

    #[retry(policy = &PAYMENTS, attempts = 5, name = "refund")]
    async fn refund() -> io::Result<()> {
        Ok(())
    }

    let (log, _guard) = Log::listen();
    pay().await.unwrap();
    assert_eq!(log.lines(), [""; 0], "nothing is configured");
    apply(&PAYMENTS, "timeout = '1s'\nattempts = 5");
    pay().await.unwrap();
    assert_eq!(log.lines(), [""; 0], "it has the same effect");
    apply(&PAYMENTS, "timeout = '1s'\nattempts = 2");
    for _ in 0..3 {
        pay().await.unwrap();
    }
    refund().await.unwrap();
    let expected = ["pay", "refund"].map(|function| line(function, "payments", "attempts"));
    assert_eq!(log.lines(), expected);
    apply(&PAYMENTS, "attempts = 3");
    pay().await.unwrap();
    assert_eq!(log.lines(), [""; 0]);
}

#[tokio::test]
async fn a_key_that_a_reload_adds_is_logged_once_too() {
    static STOCK: Preset = Preset::new("stock", FAST);

    #[retry(policy = STOCK, attempts = 5, timeout = "1s", factor = 3, name = "stock")]
    async fn stock() -> io::Result<()> {
        Ok(())
    }

    let (log, _guard) = Log::listen();
    for (settings, new) in [
        ("attempts = 2", Some("attempts")),
        ("attempts = 2\ntimeout = '2s'", Some("timeout")),
        ("attempts = 3\ntimeout = '3s'\nfactor = 4", Some("factor")),
        ("attempts = 2\ntimeout = '2s'\nfactor = 5", None),
    ] {
        apply(&STOCK, settings);
        for _ in 0..3 {
            stock().await.unwrap();
        }
        let expected: Vec<_> = new
            .map(|key| line("stock", "stock", key))
            .into_iter()
            .collect();
        assert_eq!(log.lines(), expected, "{settings}");
    }
}

#[tokio::test]
async fn each_key_that_has_no_effect_is_named() {
    const ALL: &str = "attempts = 9\ntimeout = '9s'\ndeadline = '90s'\nbackoff = 'linear'\nbase = '9ms'\n\
        throttled_base = '99ms'\nmin_delay = '1ms'\nmax_delay = '9s'\nfactor = 9\njitter = 'equal'\n\
        max_retry_after = '9s'\nhedge = '5s'\nbudget.capacity = 9";
    static DB: Preset = Preset::new("db", FAST);
    static BUDGET: Budget = Budget::new();

    #[retry(
        policy = DB, name = "all", attempts = 5, timeout = "1s", deadline = "1m", backoff = "exponential", base = "1ms",
        throttled_base = "2ms", min_delay = "0s", max_delay = "1s", factor = 3, jitter = "full",
        max_retry_after = "1s", hedge = "500ms", budget = BUDGET
    )]
    async fn all() -> io::Result<()> {
        Ok(())
    }

    #[retry(policy = DB, name = "list", delays = delays, attempts = attempts, budget = budget)]
    async fn list(delays: &[Duration], attempts: u32, budget: &Budget) -> io::Result<()> {
        Ok(())
    }

    #[retry(policy = db, name = "constant_list", delays = ["1ms"])]
    async fn constant_list(db: &'static Preset) -> io::Result<()> {
        Ok(())
    }

    #[retry(policy = DB, name = "none", blocking)]
    fn none() -> io::Result<()> {
        Ok(())
    }

    let (log, _guard) = Log::listen();
    apply(&DB, ALL);
    all().await.unwrap();
    let keys = "attempts, timeout, deadline, backoff, base, throttled_base, min_delay, max_delay, factor, jitter, \
                max_retry_after, hedge, budget";
    assert_eq!(log.lines(), [line("all", "db", keys)]);
    list(&[Duration::ZERO], 4, &Budget::new()).await.unwrap();
    let keys = "attempts, backoff, jitter, budget";
    assert_eq!(log.lines(), [line("list", "db", keys)]);
    constant_list(&DB).await.unwrap();
    let keys = "attempts, backoff, jitter";
    assert_eq!(log.lines(), [line("constant_list", "db", keys)]);
    none().unwrap();
    assert_eq!(log.lines(), [""; 0]);
}

#[tokio::test]
async fn a_silent_function_and_a_call_in_a_test_scope_log_nothing() {
    static SEARCH: Preset = Preset::new("search", FAST);

    #[retry(policy = SEARCH, attempts = 5)]
    async fn find() -> io::Result<()> {
        Ok(())
    }

    #[retry(policy = SEARCH, attempts = 5, silent)]
    async fn quiet() -> io::Result<()> {
        Ok(())
    }

    let (log, _guard) = Log::listen();
    apply(&SEARCH, "attempts = 2");
    quiet().await.unwrap();
    Scope::new().run(find()).await.0.unwrap();
    assert_eq!(log.lines(), [""; 0]);
    find().await.unwrap();
    assert_eq!(log.lines().len(), 1);
}
