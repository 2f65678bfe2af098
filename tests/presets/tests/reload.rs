//! Real threads reload while others read, and while calls begin. No reader sees half of a reload.

use std::cell::RefCell;
use std::io;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

use reattempt::{Jitter, Policy, Preset, Settings, configure, retry, with_report};

const RELOADS: u32 = 5_000;

fn apply(preset: &'static Preset, text: &str) -> Result<(), Box<dyn std::error::Error>> {
    let settings: Settings = toml::from_str(text)?;
    Ok(configure([(preset, settings)])?)
}

/// The policy number `n` has `n` in all of its keys.
fn text(n: u32) -> String {
    format!(
        "attempts = {n}\ntimeout = '{n}ms'\ndeadline = '{n}s'\nbase = '{n}us'\nmax_delay = '{n}s'\n\
         max_retry_after = '{n}s'"
    )
}

fn number(policy: &Policy) -> u32 {
    let n = policy.attempts().unwrap();
    let whole = Policy::new()
        .with_attempts(n)
        .with_timeout(Duration::from_millis(n.into()))
        .with_deadline(Duration::from_secs(n.into()))
        .with_base(Duration::from_micros(n.into()))
        .with_max_delay(Duration::from_secs(n.into()))
        .with_max_retry_after(Duration::from_secs(n.into()));
    assert_eq!(*policy, whole);
    n
}

#[test]
fn readers_see_whole_policies_while_others_are_applied() {
    const CODE: Policy = Policy::new()
        .with_attempts(1)
        .with_timeout(Duration::from_millis(1))
        .with_deadline(Duration::from_secs(1))
        .with_base(Duration::from_micros(1))
        .with_max_delay(Duration::from_secs(1))
        .with_max_retry_after(Duration::from_secs(1));
    static SHARED: Preset = Preset::new("shared", CODE);
    let (done, reads) = (AtomicBool::new(false), AtomicU64::new(0));
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let mut last = None;
                while !done.load(Relaxed) {
                    let n = number(&SHARED.policy());
                    if last.replace(n) != Some(n) {
                        reads.fetch_add(1, Relaxed);
                    }
                }
            });
        }
        // Two writers must not mix their reloads.
        let writers = [0, 1].map(|odd| {
            let reads = &reads;
            scope.spawn(move || {
                let numbers = (2..RELOADS).filter(|n| n % 2 == odd);
                let rounds = numbers.clone().count();
                for (made, n) in numbers.cycle().take(100 * rounds).enumerate() {
                    // On a busy machine the readers may come late.
                    if made >= rounds && reads.load(Relaxed) > 3 {
                        break;
                    }
                    // Some reloads return to the code, and some have a mistake and change nothing.
                    let (text, right) = match n % 10 {
                        3 => (String::new(), true),
                        7 => (text(n) + "\nhedge = '1h'", false),
                        _ => (text(n), true),
                    };
                    assert_eq!(apply(&SHARED, &text).is_ok(), right);
                }
            })
        });
        for writer in writers {
            writer.join().unwrap();
        }
        done.store(true, Relaxed);
    });
    assert!(reads.load(Relaxed) > 3, "readers saw reloads");
}

/// The policy number `n` makes `n` attempts, each `n` ms after the attempt before.
#[test]
fn a_call_makes_attempts_and_waits_by_one_policy_while_others_are_applied() {
    static CALLED: Preset = Preset::new("called", Policy::new().with_jitter(Jitter::None));
    const MOST: u32 = 9;

    #[retry(policy = CALLED, budget = "none", on_retry = |event| delays.borrow_mut().push(event.delay()))]
    async fn fails(delays: &RefCell<Vec<Duration>>) -> io::Result<()> {
        Err(io::ErrorKind::ConnectionReset.into())
    }

    let apply = |n: u32| {
        let text = format!("attempts = {n}\nbase = '{n}ms'\nmax_delay = '{n}ms'\njitter = 'none'");
        apply(&CALLED, &text).unwrap();
    };
    apply(2);
    let (done, met) = (AtomicBool::new(false), AtomicU64::new(0));
    thread::scope(|scope| {
        let callers = [(); 2].map(|()| {
            scope.spawn(|| {
                let runtime = tokio::runtime::Builder::new_current_thread()
                    .enable_time()
                    .start_paused(true)
                    .build()
                    .unwrap();
                let mut first = None;
                let mut has_met = false;
                while !done.load(Relaxed) {
                    let delays = RefCell::default();
                    let (_, report) = runtime.block_on(with_report(fails(&delays)));
                    let n = report.unwrap().attempts();
                    let expected = vec![Duration::from_millis(n.into()); n as usize - 1];
                    assert_eq!(delays.take(), expected);
                    if *first.get_or_insert(n) != n && !std::mem::replace(&mut has_met, true) {
                        met.fetch_add(1, Relaxed);
                    }
                }
            })
        });
        for (made, n) in (2..=MOST).cycle().enumerate() {
            // On a busy machine the callers may come late. Calls of each must begin during reloads.
            let ended = callers.iter().any(thread::ScopedJoinHandle::is_finished);
            if ended || made >= 4_000 && met.load(Relaxed) == 2 {
                break;
            }
            apply(n);
        }
        done.store(true, Relaxed);
        for caller in callers {
            caller.join().unwrap();
        }
    });
}

/// Each thread gives all presets a number of its own. The many presets make a configuration take long enough to meet another.
#[test]
fn two_threads_that_configure_at_once_never_mix() {
    const ROUNDS: u32 = 500;
    static PRESETS: [Preset; 200] = [const { Preset::new("of_many", Policy::new()) }; 200];
    let at_once = Barrier::new(2);
    thread::scope(|scope| {
        for odd in [0, 1] {
            let at_once = &at_once;
            scope.spawn(move || {
                for round in 1..=ROUNDS {
                    let settings: Settings =
                        toml::from_str(&format!("attempts = {}", 2 * round + odd)).unwrap();
                    at_once.wait();
                    configure(PRESETS.each_ref().map(|preset| (preset, settings))).unwrap();
                    at_once.wait();
                    let first = PRESETS[0].policy();
                    assert!(
                        PRESETS.iter().all(|preset| preset.policy() == first),
                        "{round}"
                    );
                }
            });
        }
    });
}
