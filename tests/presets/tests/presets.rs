//! Settings override presets, at the start and at a reload, all or none.

use std::io;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Duration;

use reattempt::{Jitter, Policy, Preset, Settings, SettingsError, configure, retry, with_report};

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn read(text: &str) -> Settings {
    toml::from_str(text).unwrap()
}

fn apply(preset: &'static Preset, text: &str) -> Result<(), SettingsError> {
    configure([(preset, read(text))])
}

#[test]
fn settings_override_the_code_key_by_key_and_a_key_that_is_gone_returns_to_it() {
    const CODE: Policy = Policy::new().with_attempts(4).with_timeout(ms(100));
    static PAYMENTS: Preset = Preset::new("payments", CODE);
    apply(&PAYMENTS, "attempts = 2\njitter = 'equal'").unwrap();
    assert_eq!(
        PAYMENTS.policy(),
        CODE.with_attempts(2).with_jitter(Jitter::Equal)
    );
    apply(&PAYMENTS, "timeout = '200ms'").unwrap();
    assert_eq!(PAYMENTS.policy(), CODE.with_timeout(ms(200)));
    apply(&PAYMENTS, "").unwrap();
    assert_eq!(PAYMENTS.policy(), CODE);
}

#[test]
fn a_mistake_changes_no_preset_and_each_preset_with_one_is_named() {
    static PAYMENTS: Preset = Preset::new("payments", Policy::new().with_deadline(ms(3000)));
    static SEARCH: Preset = Preset::new("search", Policy::new().with_delays(&[Duration::ZERO]));
    static DB: Preset = Preset::new("db", Policy::new());
    let all = |texts: [&str; 3]| {
        let [payments, search, db] = texts.map(read);
        configure([(&PAYMENTS, payments), (&SEARCH, search), (&DB, db)])
    };
    all(["attempts = 9", "", "attempts = 8"]).unwrap();
    let error = all(["timeout = '5s'", "base = '5ms'", "attempts = 7"]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "payments: `timeout` (5s in the settings) is above `deadline` (3s in the code)\n\
         search: `base` has no effect beside the list of delays in the code: set `backoff` too"
    );
    let attempts = [&PAYMENTS, &SEARCH, &DB].map(|preset| preset.policy().attempts());
    assert_eq!(attempts, [Some(9), Some(2), Some(8)]);
}

#[test]
fn a_preset_that_is_given_twice_is_refused() {
    static TWICE: Preset = Preset::new("twice", Policy::new());
    let settings = ["attempts = 2", "attempts = 5"].map(read);
    let error = configure(settings.map(|settings| (&TWICE, settings))).unwrap_err();
    assert_eq!(error.to_string(), "twice: the preset is given twice");
    assert_eq!(TWICE.policy(), Policy::new());
}

#[test]
fn a_contradiction_within_the_code_is_not_reported() {
    static ODD: Preset = Preset::new(
        "odd",
        Policy::new().with_timeout(ms(9)).with_deadline(ms(5)),
    );
    apply(&ODD, "attempts = 2").unwrap();
    assert_eq!(ODD.policy().attempts(), Some(2));
}

#[test]
fn a_backoff_replaces_the_delays_of_the_code() {
    const DELAYS: Policy = Policy::new().with_delays(&[Duration::ZERO]);
    static LIST: Preset = Preset::new("list", DELAYS);
    apply(&LIST, "backoff = 'constant'\nbase = '1s'\njitter = 'none'").unwrap();
    let policy = LIST.policy();
    assert_eq!(policy.attempts(), Some(2));
    assert_eq!(policy.delay_range(0, None), ms(1000)..=ms(1000));
    apply(&LIST, "timeout = '1s'").unwrap();
    assert_eq!(LIST.policy(), DELAYS.with_timeout(ms(1000)));
}

#[tokio::test(start_paused = true)]
async fn calls_take_their_policy_when_they_begin_and_keys_of_the_attribute_win() {
    static CALLS: Preset = Preset::new("calls", Policy::new().with_attempts(2));

    #[retry(policy = CALLS, budget = "none")]
    async fn fails(calls: &AtomicU32, load: impl Fn(u32)) -> io::Result<()> {
        load(calls.fetch_add(1, Relaxed));
        Err(io::ErrorKind::ConnectionReset.into())
    }

    #[retry(policy = &CALLS, attempts = 3, budget = "none")]
    async fn thrice(calls: &AtomicU32) -> io::Result<()> {
        calls.fetch_add(1, Relaxed);
        Err(io::ErrorKind::ConnectionReset.into())
    }

    let calls = AtomicU32::new(0);
    // The reload happens in the middle of the call.
    fails(&calls, |_| apply(&CALLS, "attempts = 5").unwrap())
        .await
        .unwrap_err();
    assert_eq!(calls.swap(0, Relaxed), 2);
    fails(&calls, |_| ()).await.unwrap_err();
    assert_eq!(calls.swap(0, Relaxed), 5);
    thrice(&calls).await.unwrap_err();
    assert_eq!(calls.swap(0, Relaxed), 3);
    let run = CALLS.run(async || Err::<(), _>(io::Error::from(io::ErrorKind::ConnectionReset)));
    let (_, report) = with_report(run).await;
    assert_eq!(report.unwrap().attempts(), 5);
}
