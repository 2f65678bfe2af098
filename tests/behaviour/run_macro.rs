//! `run!`: the attribute on a closure.

use std::cell::Cell;
use std::error::Error as _;
use std::io;
use std::num::ParseIntError;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use reattempt::{Outcome, Policy, WithoutLimits, run};
use tokio::time::sleep;

use crate::script::{RESET, Script, Step, ms};

const POLICY: Policy = Policy::new().with_attempts(3).with_timeout(ms(200));

struct Writer(Vec<u8>, u32);

impl Writer {
    async fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.1 += 1;
        tokio::task::yield_now().await;
        if self.1 < 3 {
            return Err(io::ErrorKind::ConnectionReset.into());
        }
        self.0.extend(bytes);
        Ok(bytes.len())
    }
}

#[tokio::test(start_paused = true)]
async fn each_attempt_borrows_what_is_lent_to_the_closure() {
    let mut writer = Writer(Vec::new(), 0);
    let bytes = vec![1, 2];
    let w = &mut writer;
    let written = run!(policy = POLICY, async || w.write(&bytes).await)
        .await
        .unwrap();
    assert_eq!((written, writer.0, writer.1), (2, vec![1, 2], 3));

    // In a task.
    let task = tokio::spawn(async {
        let (mut writer, bytes) = (Writer(Vec::new(), 0), vec![7]);
        let mut refreshed = 0;
        let sum = run!(
            attempts = 5,
            timeout = "1s",
            base = "10ms",
            on(io::Error),
            before_retry = async || refreshed += 1,
            async || -> io::Result<usize> {
                let n = writer.write(&bytes).await?;
                Ok(n + 1)
            }
        );
        (sum.await.unwrap(), refreshed)
    });
    assert_eq!(task.await.unwrap(), (2, 2));
}

#[derive(Debug, PartialEq)]
struct Plain;

#[tokio::test(start_paused = true)]
async fn an_error_of_any_type_comes_back_and_the_rules_see_it() {
    // Nothing can stop the call.
    let mut calls = 0;
    let error = run!(attempts = 3, when = |_| true, async || {
        calls += 1;
        Err::<(), _>(Plain)
    });
    assert_eq!((error.await.unwrap_err(), calls), (Plain, 3));
    let free = const { Policy::new().with_attempts(2) };
    let error: Plain = run!(policy = FREE, when = |_| true, async || Err::<(), _>(Plain))
        .await
        .unwrap_err();
    assert_eq!((error, free.attempts()), (Plain, Some(2)));
    // A timeout can.
    let seen = Mutex::new(Vec::new());
    let error: reattempt::Error<ParseIntError> = run!(
        attempts = 3,
        timeout = "1s",
        when = |error: &ParseIntError| !error.to_string().is_empty(),
        unless = |error| error.to_string() == "no",
        retry_after = |error| error.source().map(|_| ms(7)),
        on_retry = |event| seen
            .lock()
            .unwrap()
            .push(event.error().map(ParseIntError::to_string)),
        async || "x".parse::<u8>()
    )
    .await
    .unwrap_err();
    let text = "invalid digit found in string".to_owned();
    assert_eq!(*seen.lock().unwrap(), [Some(text.clone()), Some(text)]);
    assert!(matches!(error, reattempt::Error::Failed(_)));
    let error = run!(policy = POLICY, when = |_| true, async || {
        sleep(ms(500)).await;
        Err::<(), _>(Plain)
    });
    let stopped = error.await.unwrap_err().into_failed().unwrap_err();
    assert_eq!(stopped.outcome(), Outcome::Timeout);
    // The error of an earlier attempt is its source, without anything around it.
    let calls = AtomicU32::new(0);
    let error = run!(policy = POLICY, when = |_| true, async || {
        if calls.fetch_add(1, Ordering::Relaxed) > 0 {
            sleep(ms(500)).await;
        }
        "x".parse::<u8>()
    });
    let stopped = error.await.unwrap_err().into_failed().unwrap_err();
    assert!(
        stopped
            .source()
            .is_some_and(<dyn std::error::Error>::is::<ParseIntError>)
    );
    // One that can hold a `Stopped`, or is an `Error`, stays what it is.
    let error: io::Error = run!(
        timeout = "1s",
        attempts = 1,
        async || io::Result::<()>::Err(io::ErrorKind::NotFound.into())
    )
    .await
    .unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::NotFound);
    let error: reattempt::Error<Plain> = run!(
        timeout = "1s",
        when = |error: &reattempt::Error<Plain>| matches!(error, reattempt::Error::Stopped(_)),
        async || Err::<(), _>(reattempt::Error::Failed(Plain))
    )
    .await
    .unwrap_err();
    assert!(matches!(error, reattempt::Error::Failed(Plain)));
}

const FREE: Policy = Policy::new().with_attempts(2);

#[test]
fn a_closure_may_block() {
    let calls = Cell::new(0);
    let parse = |text: &str| {
        calls.set(calls.get() + 1);
        text.parse::<u8>()
    };
    let error = run!(
        blocking,
        attempts = 3,
        base = "1ms",
        when = |_| true,
        || parse("x")
    );
    assert!(error.unwrap_err().source().is_none());
    assert_eq!(calls.get(), 3);
    let stopped = run!(
        blocking,
        deadline = "1s",
        base = "1ms",
        attempts = 2,
        when = |_| true,
        || {
            let n = parse("7")?;
            if n == 7 {
                return parse("x");
            }
            Ok(n)
        }
    );
    assert!(matches!(stopped, Err(reattempt::Error::Failed(_))));
    assert_eq!(calls.get(), 7);
    let cancelled = run!(
        blocking,
        when = |_| true,
        delays = [std::time::Duration::from_secs(60)],
        cancel_waits = std::future::ready(()),
        || parse("x")
    );
    assert!(matches!(cancelled, Err(reattempt::Error::Stopped(_))));
    assert_eq!(calls.get(), 7);
}

#[tokio::test(start_paused = true)]
async fn all_else_is_as_above_a_function() {
    let ended = Mutex::new(Vec::new());
    let hook = |report: &reattempt::Report| ended.lock().unwrap().push(report.to_string());
    let script = Script::new([RESET, Step::Succeed]);
    let done = run!(attempts = 2, on_end = hook, async || script.play().await);
    done.await.unwrap();
    let line = ended.lock().unwrap().pop().unwrap();
    assert!(line.contains("run_macro.rs:"), "{line}");
    // A signal lets an attempt end.
    let script = Script::new([Step::SucceedAfter(ms(500))]);
    run!(attempts = 2, cancel_waits = sleep(ms(100)), async || script
        .play()
        .await)
    .await
    .unwrap();
    // A hedge.
    let calls = AtomicU32::new(0);
    let error = run!(
        attempts = 2,
        hedge = "20ms",
        timeout = "1s",
        when = |_| true,
        async || {
            match calls.fetch_add(1, Ordering::Relaxed) {
                0 => {
                    sleep(ms(500)).await;
                    Ok(1)
                }
                _ => "2".parse::<u8>(),
            }
        }
    );
    assert_eq!(error.await.unwrap(), 2);
    // One within another.
    let script = Script::new([RESET, RESET, Step::Succeed]);
    run!(attempts = 2, async || run!(attempts = 2, async || script
        .play()
        .await)
    .await)
    .await
    .unwrap();
    assert_eq!(script.calls(), 3);
}

#[derive(Debug, thiserror::Error, reattempt::Retryable)]
enum Api {
    #[error("the token expired")]
    #[retryable(transient)]
    Expired,
    #[error("reset")]
    #[retryable(transient)]
    Reset,
    #[error(transparent)]
    #[retryable(forward)]
    Stopped(#[from] reattempt::Stopped),
}

struct Client {
    token: u32,
    asked: Vec<u32>,
}

impl Client {
    async fn refresh(&mut self) -> Result<(), Api> {
        tokio::task::yield_now().await;
        self.token += 1;
        Ok(())
    }

    #[reattempt::retry(
        attempts = 5, base = "10ms", timeout = "1s",
        before_retry = async |error| match error {
            Some(Api::Expired) => self.refresh().await,
            _ => Ok(()),
        },
    )]
    async fn ask(&mut self) -> Result<u32, Api> {
        self.asked.push(self.token);
        match self.asked.len() {
            1 => Err(Api::Expired),
            2 => Err(Api::Reset),
            3 => std::future::pending().await,
            _ => Ok(self.token),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn before_retry_sees_the_error_of_the_last_attempt() {
    let task = tokio::spawn(async {
        let mut client = Client {
            token: 1,
            asked: Vec::new(),
        };
        let token = client.ask().await.unwrap();
        (token, client.asked)
    });
    assert_eq!(task.await.unwrap(), (2, vec![1, 2, 2, 2]));
    let seen = Mutex::new(Vec::new());
    let script = Script::new([RESET, Step::Hang, Step::Succeed]);
    let run = run!(
        policy = POLICY,
        before_retry = async |error| seen.lock().unwrap().push(error.map(io::Error::kind)),
        async || script.play().await
    );
    run.await.unwrap();
    let kinds = [Some(io::ErrorKind::ConnectionReset), None];
    assert_eq!(*seen.lock().unwrap(), kinds);
    // The error of a call that nothing stops, an `Ok` that means failure, and one that ends the call.
    let mut seen = Vec::new();
    let mut answers = [Err(Plain), Ok(1), Ok(2)].into_iter();
    let run = run!(
        attempts = 5,
        when = |_| true,
        when_ok = |n| *n < 2,
        before_retry = async |error: Option<&Plain>| -> Result<(), Plain> {
            seen.push(error.is_some());
            if seen.len() == 2 { Err(Plain) } else { Ok(()) }
        },
        async || answers.next().unwrap()
    );
    assert_eq!((run.await, seen), (Err(Plain), vec![true, false]));
    // A policy that has no limits, which only rustc knows.
    const UNLIMITED: WithoutLimits = Policy::new().with_attempts(2).without_limits();
    let mut kinds = Vec::new();
    let run = run!(
        policy = UNLIMITED,
        before_retry = async |error| kinds.push(error.map(io::Error::kind)),
        async || io::Result::<()>::Err(io::ErrorKind::ConnectionReset.into())
    );
    assert!(run.await.is_err());
    assert_eq!(kinds, [Some(io::ErrorKind::ConnectionReset)]);
    // With a limit that an error around it holds, also in a closure that blocks, or that is hedged.
    let mut seen = 0;
    let run = run!(
        blocking,
        attempts = 3,
        base = "1ms",
        deadline = "9s",
        when = |_| true,
        before_retry = |error| seen += u32::from(error == Some(&Plain)),
        || Err::<(), _>(Plain)
    );
    assert!(matches!(run, Err(reattempt::Error::Failed(Plain))));
    let run = run!(
        attempts = 3,
        hedge = "1s",
        timeout = "9s",
        when = |_| true,
        before_retry = async |error| seen += u32::from(error == Some(&Plain)),
        async || Err::<(), _>(Plain)
    );
    assert!(matches!(run.await, Err(reattempt::Error::Failed(Plain))));
    assert_eq!(seen, 4);
}

macro_rules! twice {
    ($operation:expr) => {
        run!(attempts = 2, $operation)
    };
    (body $body:expr) => {
        run!(attempts = 2, async || $body)
    };
}

trait Store {
    async fn get(&self) -> io::Result<u8>;

    async fn get_again(&self) -> io::Result<u8> {
        run!(attempts = 3, async || self.get().await).await
    }
}

impl Store for Script {
    async fn get(&self) -> io::Result<u8> {
        self.play().await.map(|_| 1)
    }
}

async fn all<S: Store>(stores: &[S]) -> Vec<io::Result<u8>> {
    use futures::StreamExt as _;
    let runs = stores
        .iter()
        .map(|store| run!(attempts = 3, async move || store.get().await));
    futures::stream::iter(runs)
        .buffer_unordered(8)
        .collect()
        .await
}

#[tokio::test(start_paused = true)]
async fn it_may_stand_anywhere() {
    let script = Script::new([RESET, Step::Succeed, RESET, Step::Succeed]);
    twice!(async || script.play().await).await.unwrap();
    twice!(body script.play().await).await.unwrap();
    assert_eq!(script.calls(), 4);
    let stores = [(); 3].map(|()| Script::new([RESET, RESET, Step::Succeed]));
    assert_eq!(stores[0].get_again().await.unwrap(), 1);
    let stores = [(); 3].map(|()| Script::new([RESET, Step::Succeed]));
    assert!(all(&stores).await.iter().all(Result::is_ok));
}
