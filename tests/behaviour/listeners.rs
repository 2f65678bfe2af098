//! Subscribers to events: one panics, one calls the function of the event, and all receive the elapsed time.

use std::cell::{Cell, RefCell};
use std::io::{self, ErrorKind};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use reattempt::{RetryEvent, retry};
use tracing::span::{Attributes, Record};
use tracing::subscriber::{Interest, Subscriber};
use tracing::{Event, Id, Level, Metadata};

use crate::script::{RESET, Script, Step, listen_on_all_threads, ms, run};

/// A subscriber that calls a function at each event of the crate with this level.
struct Listener<F> {
    level: Level,
    hear: F,
}

impl<F: Fn(&Event<'_>) + 'static> Subscriber for Listener<F>
where
    Self: Send + Sync,
{
    fn register_callsite(&self, _: &'static Metadata<'static>) -> Interest {
        Interest::sometimes()
    }
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "reattempt" && *metadata.level() == self.level
    }
    fn event(&self, event: &Event<'_>) {
        (self.hear)(event);
    }
    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

/// The event of level info is about an inner function with fewer attempts. The crate logs it once.
#[test]
fn a_listener_that_panics_does_not_affect_later_calls() {
    #[retry(attempts = 3, base = "0ms", budget = "none")]
    async fn inner(calls: &Cell<u32>) -> io::Result<()> {
        calls.set(calls.get() + 1);
        Err(ErrorKind::ConnectionReset.into())
    }
    #[retry(attempts = 3, base = "0ms", budget = "none")]
    async fn outer(calls: &Cell<u32>) -> io::Result<()> {
        inner(calls).await
    }
    listen_on_all_threads();
    let heard = Arc::new(AtomicU32::new(0));
    let listener = Listener {
        level: Level::INFO,
        hear: {
            let heard = Arc::clone(&heard);
            move |_: &Event<'_>| {
                heard.fetch_add(1, Ordering::Relaxed);
                panic!("out of luck")
            }
        },
    };
    tracing::subscriber::with_default(listener, || {
        let calls = Cell::new(0);
        let ended = catch_unwind(AssertUnwindSafe(|| run(outer(&calls))));
        assert!(ended.is_err(), "the listener got the report and panicked");
        assert_eq!(heard.load(Ordering::Relaxed), 1);
        for _ in 0..3 {
            let calls = Cell::new(0);
            let ended = catch_unwind(AssertUnwindSafe(|| run(outer(&calls))));
            let ended = ended.expect("the event is logged only once");
            assert_eq!(ended.unwrap_err().kind(), ErrorKind::ConnectionReset);
            assert_eq!(calls.get(), 5);
        }
    });
    assert_eq!(heard.load(Ordering::Relaxed), 1);
}

/// The calls run on their own thread, so that the test ends even if they hang.
#[test]
fn a_listener_may_call_the_function_of_the_event() {
    #[retry(attempts = 3, base = "0ms", budget = "none")]
    async fn inner(calls: &AtomicU32) -> io::Result<()> {
        calls.fetch_add(1, Ordering::Relaxed);
        Err(ErrorKind::ConnectionReset.into())
    }
    #[retry(attempts = 3, base = "0ms", budget = "none")]
    async fn outer(calls: &AtomicU32) -> io::Result<()> {
        inner(calls).await
    }
    listen_on_all_threads();
    let (tell, told) = mpsc::channel();
    std::thread::spawn(move || {
        let within = Arc::new(AtomicU32::new(0));
        let listener = Listener {
            level: Level::INFO,
            hear: {
                let within = Arc::clone(&within);
                move |_: &Event<'_>| {
                    let _ = run(outer(&within));
                    let _ = run(inner(&within));
                }
            },
        };
        tracing::subscriber::with_default(listener, || {
            let calls = AtomicU32::new(0);
            let ended = run(outer(&calls));
            assert!(ended.is_err());
            let counts = [&calls, &within].map(|calls| calls.load(Ordering::Relaxed));
            tell.send(counts).unwrap();
        });
    });
    let told = told.recv_timeout(Duration::from_mins(1));
    let [calls, within] = told.expect("the call hangs in its own event");
    assert_eq!(calls, 5);
    assert!(within > 0, "the listener got the report");
}

/// The first attempt and the waits take time.
const SLOW: [Step; 3] = [Step::FailAfter(ms(700)), RESET, Step::SucceedAfter(ms(50))];

fn elapsed<E>(event: &RetryEvent<'_, E>, told: &RefCell<Vec<Duration>>) {
    told.borrow_mut().push(event.elapsed());
}

#[tokio::test(start_paused = true)]
async fn on_retry_receives_the_elapsed_time_of_the_call() {
    #[retry(jitter = "none", budget = "none", on_retry = |event| elapsed(event, told))]
    async fn without_limits(script: &Script, told: &RefCell<Vec<Duration>>) -> io::Result<usize> {
        script.play().await
    }
    plays! {
        limited(jitter = "none", budget = "none", timeout = "60s", deadline = "60s",
            on_retry = |event| elapsed(event, told)), told: &RefCell<Vec<Duration>>
    }
    plays! {
        cancellable(jitter = "none", budget = "none", cancel = std::future::pending::<()>(),
            on_retry = |event| elapsed(event, told)), told: &RefCell<Vec<Duration>>
    }
    let told = RefCell::default();
    without_limits(&Script::new(SLOW), &told).await.unwrap();
    assert_eq!(told.take(), [ms(700), ms(800)]);
    limited(&Script::new(SLOW), &told).await.unwrap();
    assert_eq!(told.take(), [ms(700), ms(800)]);
    cancellable(&Script::new(SLOW), &told).await.unwrap();
    assert_eq!(told.take(), [ms(700), ms(800)]);
}

/// Reads the field of an event.
struct Elapsed(Option<String>);

impl tracing::field::Visit for Elapsed {
    fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn std::fmt::Debug) {
        if field.name() == "elapsed_ms" {
            self.0 = Some(format!("{value:?}"));
        }
    }
}

/// The elapsed time in each event of a level.
async fn heard(level: Level, call: impl Future<Output = io::Result<usize>>) -> Vec<Option<String>> {
    listen_on_all_threads();
    let heard = Arc::new(Mutex::new(Vec::new()));
    let listener = Listener {
        level,
        hear: {
            let heard = Arc::clone(&heard);
            move |event: &Event<'_>| {
                let mut elapsed = Elapsed(None);
                event.record(&mut elapsed);
                heard.lock().unwrap().push(elapsed.0);
            }
        },
    };
    let guard = tracing::subscriber::set_default(listener);
    let _ = call.await;
    drop(guard);
    let heard = heard.lock().unwrap();
    heard.clone()
}

/// A function without limits may omit the time, because it would have to read the clock.
#[tokio::test(start_paused = true)]
async fn events_have_the_elapsed_time_of_the_call_or_omit_it() {
    plays!(without_limits(jitter = "none", budget = "none"));
    plays!(limited(jitter = "none", budget = "none", timeout = "60s"));
    for (level, script, times) in [
        (Level::DEBUG, &SLOW[..], &["700.0", "800.0"][..]),
        (Level::INFO, &SLOW[..], &["1050.0"][..]),
        (Level::WARN, &SLOW[..1], &["2400.0"][..]),
    ] {
        let said = |times: &[&str]| times.iter().map(|time| Some((*time).to_owned())).collect();
        let all: Vec<_> = said(times);
        let script = || Script::new(script.iter().copied());
        assert_eq!(heard(level, limited(&script())).await, all, "{level}");
        let events = heard(level, without_limits(&script())).await;
        if events.iter().any(Option::is_some) {
            assert_eq!(events, all, "{level}");
        }
    }
}
