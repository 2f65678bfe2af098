//! `Attempt::record_progress`: failures count in a row, without progress.

use std::cell::{Cell, RefCell};
use std::io::{self, Cursor};
use std::sync::Arc;
use std::time::Duration;

use reattempt::{Attempt, Budget, Outcome, Policy, propagate, retry, with_report};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncSeekExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep};

use crate::script::ms;

/// Fails each time. An attempt makes progress if its number is in this list.
struct Steps {
    began: Instant,
    progress: Vec<u32>,
    times: RefCell<Vec<Duration>>,
}

impl Steps {
    fn new(progress: impl IntoIterator<Item = u32>) -> Self {
        Self {
            began: Instant::now(),
            progress: progress.into_iter().collect(),
            times: RefCell::default(),
        }
    }

    fn step(&self) -> io::Result<()> {
        self.times.borrow_mut().push(self.began.elapsed());
        let attempt = Attempt::current().expect("in an attempt");
        if self.progress.contains(&attempt.number()) {
            Attempt::record_progress();
        }
        Err(io::ErrorKind::ConnectionReset.into())
    }

    fn times(&self) -> Vec<Duration> {
        self.times.take()
    }
}

#[retry(attempts = 3, base = "100ms", jitter = "none", budget = "none")]
async fn call(steps: &Steps) -> io::Result<()> {
    steps.step()
}

#[tokio::test(start_paused = true)]
async fn attempts_and_delays_begin_anew_after_progress() {
    for (progress, times) in [
        (vec![], vec![0, 100, 300]),
        // The first attempt is the first of a row anyway.
        (vec![1], vec![0, 100, 300]),
        (vec![2], vec![0, 100, 200, 400]),
        (vec![3], vec![0, 100, 300, 400, 600]),
        (vec![2, 3], vec![0, 100, 200, 300, 500]),
        (vec![3, 5], vec![0, 100, 300, 400, 600, 700, 900]),
    ] {
        let steps = Steps::new(progress);
        let (result, report) = with_report(call(&steps)).await;
        result.unwrap_err();
        let asked = steps.times();
        assert_eq!(
            asked,
            times.into_iter().map(ms).collect::<Vec<_>>(),
            "{:?}",
            steps.progress
        );
        let report = report.expect("the call ended");
        assert_eq!(report.outcome(), Outcome::AttemptsExhausted);
        assert_eq!(report.attempts() as usize, asked.len());
    }
}

#[tokio::test(start_paused = true)]
async fn an_attempt_sees_its_number_and_how_many_may_follow() {
    #[retry(attempts = 3, base = "0s", jitter = "none", budget = "none")]
    async fn call(seen: &RefCell<Vec<(u32, Option<u32>)>>) -> io::Result<()> {
        let attempt = Attempt::current().expect("in an attempt");
        if attempt.number() == 3 {
            Attempt::record_progress();
            Attempt::record_progress();
        }
        let attempt = Attempt::current().expect("in an attempt");
        seen.borrow_mut()
            .push((attempt.number(), attempt.attempts()));
        Err(io::ErrorKind::ConnectionReset.into())
    }
    let seen = RefCell::default();
    call(&seen).await.unwrap_err();
    let three = [
        (1, Some(3)),
        (2, Some(3)),
        (3, Some(5)),
        (4, Some(5)),
        (5, Some(5)),
    ];
    assert_eq!(seen.take(), three);
    Attempt::record_progress(); // outside of an attempt
}

#[tokio::test(start_paused = true)]
async fn decorrelated_delays_begin_at_the_base_again() {
    const LONG: Policy = Policy::new()
        .with_attempts(30)
        .with_jitter(reattempt::Jitter::Decorrelated)
        .with_base(ms(10))
        .with_max_delay(Duration::from_secs(600));
    let (failed, last) = (Cell::new(0), Cell::new(Instant::now()));
    let waited = RefCell::new(Vec::new());
    let step = async || {
        waited
            .borrow_mut()
            .push(last.replace(Instant::now()).elapsed());
        failed.set(failed.get() + 1);
        Attempt::record_progress();
        if failed.get() > 200 {
            Ok(())
        } else {
            Err(io::Error::from(io::ErrorKind::ConnectionReset))
        }
    };
    LONG.run(step).without_budget().unboxed().await.unwrap();
    // At most three times the base, and a step of the timer.
    assert!(waited.take().iter().all(|waited| *waited <= ms(31)));
}

#[tokio::test(start_paused = true)]
async fn budget_and_deadline_go_on() {
    #[retry(attempts = 3, base = "0s", jitter = "none", budget = budget)]
    async fn within_budget(budget: &Budget, calls: &Cell<u32>) -> io::Result<()> {
        calls.set(calls.get() + 1);
        Attempt::record_progress();
        Err(io::ErrorKind::ConnectionReset.into())
    }
    #[retry(base = "100ms", jitter = "none", deadline = "1s", budget = "none")]
    async fn within_deadline(calls: &Cell<u32>) -> io::Result<()> {
        calls.set(calls.get() + 1);
        sleep(ms(50)).await;
        Attempt::record_progress();
        Err(io::ErrorKind::ConnectionReset.into())
    }
    let (budget, calls) = (Budget::aws(), Cell::new(0));
    let (result, report) = with_report(within_budget(&budget, &calls)).await;
    result.unwrap_err();
    assert_eq!(calls.take(), 36);
    assert_eq!(report.map(|report| report.outcome()), Some(Outcome::Budget));
    let began = Instant::now();
    within_deadline(&calls).await.unwrap_err();
    assert_eq!(calls.get(), 7);
    assert!(began.elapsed() <= ms(1_000));
}

#[tokio::test(start_paused = true)]
async fn a_worker_that_ran_for_hours_waits_its_first_delay() {
    #[retry(base = "1s", jitter = "none", max_delay = "30s", budget = "none")]
    async fn work(runs: &RefCell<Vec<Instant>>) -> io::Result<()> {
        runs.borrow_mut().push(Instant::now());
        if runs.borrow().len() == 20 {
            return Ok(());
        }
        sleep(Duration::from_secs(6 * 3_600)).await;
        Attempt::record_progress();
        Err(io::ErrorKind::ConnectionReset.into())
    }
    let runs = RefCell::default();
    work(&runs).await.unwrap();
    let runs = runs.take();
    for pair in runs.windows(2) {
        assert_eq!(pair[1] - pair[0], Duration::from_secs(6 * 3_600 + 1));
    }
}

#[tokio::test(start_paused = true)]
async fn retries_of_calls_inside_before_progress_were_not_in_vain() {
    #[retry(attempts = 3, base = "0s", jitter = "none", budget = "none")]
    async fn inner(calls: &Cell<u32>) -> io::Result<()> {
        calls.set(calls.get() + 1);
        Err(io::ErrorKind::ConnectionReset.into())
    }
    #[retry(attempts = 3, base = "0s", jitter = "none", budget = "none")]
    async fn outer(calls: &Cell<u32>, progress: bool) -> io::Result<()> {
        let second = Attempt::current().is_some_and(|attempt| attempt.number() == 2);
        if second && progress {
            Attempt::record_progress();
        }
        inner(calls).await
    }
    let calls = Cell::new(0);
    outer(&calls, false).await.unwrap_err();
    assert_eq!(calls.take(), 3 + 1 + 1);
    outer(&calls, true).await.unwrap_err();
    // The second attempt is the first of a row of three, and its call has all its attempts.
    assert_eq!(calls.take(), 3 + 3 + 1 + 1);
}

#[tokio::test(start_paused = true)]
async fn a_call_inside_that_made_progress_leaves_its_attempts_to_the_next() {
    #[retry(attempts = 3, base = "0s", jitter = "none", budget = "none")]
    async fn inner(calls: &Cell<u32>) -> io::Result<()> {
        calls.set(calls.get() + 1);
        if calls.get() == 3 {
            Attempt::record_progress();
        }
        if calls.get() == 3 {
            // The last failure of the row: nothing is retried after it.
            return Err(io::ErrorKind::InvalidInput.into());
        }
        Err(io::ErrorKind::ConnectionReset.into())
    }
    #[retry(attempts = 2, base = "0s", jitter = "none", budget = "none", when = |_| true)]
    async fn outer(calls: &Cell<u32>) -> io::Result<()> {
        inner(calls).await
    }
    let calls = Cell::new(0);
    outer(&calls).await.unwrap_err();
    assert_eq!(calls.get(), 3 + 3);
}

#[tokio::test(start_paused = true)]
async fn a_call_inside_that_is_dropped_after_its_progress_leaves_its_attempts_to_the_next() {
    #[retry(attempts = 3, base = "0s", jitter = "none", budget = "none")]
    async fn inner(calls: &Cell<u32>) -> io::Result<()> {
        calls.set(calls.get() + 1);
        if calls.get() == 3 {
            Attempt::record_progress();
            // The timeout of the outer call cuts it here.
            std::future::pending::<()>().await;
        }
        Err(io::ErrorKind::ConnectionReset.into())
    }
    #[retry(
        attempts = 2,
        base = "0s",
        jitter = "none",
        budget = "none",
        timeout = "1s"
    )]
    async fn outer(calls: &Cell<u32>) -> io::Result<()> {
        inner(calls).await
    }
    let calls = Cell::new(0);
    outer(&calls).await.unwrap_err();
    assert_eq!(calls.get(), 3 + 3);
}

#[tokio::test(start_paused = true)]
async fn a_task_that_carries_the_attempt_makes_progress_for_it() {
    #[retry(attempts = 2, base = "0s", jitter = "none", budget = "none")]
    async fn call(calls: &Cell<u32>) -> io::Result<()> {
        calls.set(calls.get() + 1);
        let attempt = Attempt::current().expect("in an attempt");
        assert!(attempt.attempts() >= Some(attempt.number()), "{attempt:?}");
        if calls.get() < 5 {
            tokio::spawn(propagate(async { Attempt::record_progress() }))
                .await
                .unwrap();
        }
        Err(io::ErrorKind::ConnectionReset.into())
    }
    let calls = Cell::new(0);
    call(&calls).await.unwrap_err();
    assert_eq!(calls.get(), 5);
}

#[tokio::test(start_paused = true)]
async fn a_task_that_carries_an_earlier_attempt_changes_nothing() {
    #[retry(attempts = 3, base = "0s", jitter = "none", budget = "none")]
    async fn call(calls: &Cell<u32>, go: &Arc<Notify>, gone: &Arc<Notify>) -> io::Result<()> {
        calls.set(calls.get() + 1);
        match calls.get() {
            1 => {
                let (go, gone) = (Arc::clone(go), Arc::clone(gone));
                tokio::spawn(propagate(async move {
                    go.notified().await;
                    Attempt::record_progress();
                    gone.notify_one();
                }));
            }
            2 => Attempt::record_progress(),
            3 => {
                go.notify_one();
                gone.notified().await;
            }
            _ => {}
        }
        Err(io::ErrorKind::ConnectionReset.into())
    }
    let (calls, notify) = (Cell::new(0), <[Arc<Notify>; 2]>::default());
    call(&calls, &notify[0], &notify[1]).await.unwrap_err();
    assert_eq!(calls.get(), 4);
}

#[test]
fn a_blocking_function_makes_progress_too() {
    const POLICY: Policy = Policy::new().with_timeout(Duration::from_secs(60));
    #[retry(blocking, policy = POLICY, attempts = 2, base = "0s", jitter = "none", budget = "none")]
    fn call(calls: &Cell<u32>) -> io::Result<()> {
        calls.set(calls.get() + 1);
        if calls.get() < 5 {
            let remaining = || Attempt::current().unwrap().remaining().unwrap();
            let before = remaining();
            std::thread::yield_now();
            Attempt::record_progress();
            // Nothing cuts the body, so its limit stays.
            assert!(remaining() <= before);
        }
        Err(io::ErrorKind::ConnectionReset.into())
    }
    let calls = Cell::new(0);
    call(&calls).unwrap_err();
    assert_eq!(calls.get(), 5);
}

/// What a body does, one after another.
#[derive(Debug, Clone, Copy)]
enum Does {
    /// Is pending for so many milliseconds.
    Waits(u64),
    /// Makes progress, itself or in a task.
    Progresses,
    Spawns,
    /// Calls the same with the rest, without a timeout of its own.
    Calls,
    /// Has this much time left, in milliseconds.
    Has(u64),
}

#[tokio::test(start_paused = true)]
async fn progress_begins_the_timeout_again() {
    use Does::{Calls, Has, Progresses, Spawns, Waits};
    #[retry(attempts = 1, timeout = "100ms", deadline = "400ms")]
    async fn call(does: &[Does]) -> io::Result<()> {
        play(does).await
    }
    #[retry(attempts = 2, base = "0s")]
    async fn inner(does: &[Does]) -> io::Result<()> {
        Box::pin(play(does)).await
    }
    async fn play(does: &[Does]) -> io::Result<()> {
        for (at, step) in does.iter().enumerate() {
            match step {
                Waits(millis) => sleep(ms(*millis)).await,
                Progresses => Attempt::record_progress(),
                Spawns => {
                    let progress = propagate(async { Attempt::record_progress() });
                    tokio::spawn(progress).await.unwrap();
                }
                Calls => return inner(&does[at + 1..]).await,
                Has(left) => {
                    let remaining = Attempt::current().unwrap().remaining();
                    assert_eq!(remaining, Some(ms(*left)));
                    assert_eq!(reattempt::deadline::remaining(), remaining);
                }
            }
        }
        Ok(())
    }
    #[rustfmt::skip]
    let cases = [
        (vec![Waits(60), Waits(60)], 100, Some(Outcome::Timeout)),
        (vec![Waits(60), Progresses, Has(100), Waits(60)], 120, None),
        (vec![Waits(60), Spawns, Waits(60), Has(40), Spawns, Has(100), Waits(90)], 210, None),
        (vec![Waits(60), Progresses, Waits(1_000)], 160, Some(Outcome::Timeout)),
        (vec![Waits(60), Progresses, Calls, Has(100), Waits(90)], 150, None),
        // The progress of an inner call is none of the outer one.
        (vec![Waits(60), Calls, Progresses, Has(40), Waits(60)], 100, Some(Outcome::Timeout)),
        ([[Waits(90), Progresses]; 5].concat(), 400, Some(Outcome::Deadline)),
        ([&[Waits(90), Progresses][..]; 4].concat(), 360, None),
    ];
    for (does, took, ended) in cases {
        let began = Instant::now();
        let stopped = call(&does).await.err();
        let outcome = stopped.map(|error| stopped_by(&error));
        assert_eq!((began.elapsed(), outcome), (ms(took), ended), "{does:?}");
    }
}

fn stopped_by(error: &io::Error) -> Outcome {
    crate::script::stopped(error).outcome()
}

/// A task of an earlier attempt does not renew the timeout of this one, and the renewed timeout of one does not hold in the next.
#[tokio::test(start_paused = true)]
async fn only_progress_of_the_present_attempt_begins_its_timeout_again() {
    #[retry(attempts = 2, timeout = "100ms", delays = [Duration::ZERO], budget = "none")]
    async fn call() -> io::Result<()> {
        if Attempt::current().unwrap().number() == 1 {
            Attempt::record_progress();
            tokio::spawn(propagate(async {
                sleep(ms(150)).await;
                Attempt::record_progress();
            }));
        }
        sleep(ms(1_000)).await;
        Ok(())
    }
    let began = Instant::now();
    call().await.unwrap_err();
    assert_eq!(began.elapsed(), ms(200));
}

/// A server that sends at most ten bytes to a connection, from the place that the client asks for.
#[tokio::test]
async fn a_download_resumes_where_the_last_attempt_ended() {
    const FILE: usize = 1_000;
    #[retry(attempts = 3, base = "0s", jitter = "none", budget = "none")]
    async fn download(address: std::net::SocketAddr, file: &mut Vec<u8>) -> io::Result<()> {
        let mut stream = TcpStream::connect(address).await?;
        stream
            .write_u32(u32::try_from(file.len()).expect("short"))
            .await?;
        let before = file.len();
        let read = stream.read_to_end(file).await;
        if file.len() > before {
            Attempt::record_progress();
        }
        read?;
        if file.len() < FILE {
            Err(io::ErrorKind::UnexpectedEof.into())
        } else {
            Ok(())
        }
    }
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let content: Vec<u8> = (0..FILE)
        .map(|at| u8::try_from(at % 251).expect("small"))
        .collect();
    let sent = content.clone();
    let server = tokio::spawn(async move {
        let mut connections = 0;
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            connections += 1;
            let from = stream.read_u32().await.unwrap() as usize;
            // Every third connection breaks before the first byte.
            if connections % 3 != 0 {
                let part = &sent[from..(from + 10).min(FILE)];
                stream.write_all(part).await.unwrap();
            }
            drop(stream);
        }
    });
    let mut file = Vec::new();
    let (result, report) = with_report(download(address, &mut file)).await;
    result.unwrap();
    assert_eq!(file, content);
    let report = report.expect("the call ended");
    assert!(report.attempts() >= 149, "{report}");
    server.abort();
}

/// A server that hangs up after the first upload, and answers each further one with the length that it got.
async fn uploads() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    tokio::spawn(async move {
        for upload in 0.. {
            let (mut stream, _) = listener.accept().await.unwrap();
            let length = stream.read_to_end(&mut Vec::new()).await.unwrap();
            if upload > 0 {
                stream.write_u64(length as u64).await.unwrap();
            }
        }
    });
    address
}

async fn send(address: &str, reader: &mut (impl AsyncRead + Unpin)) -> io::Result<u64> {
    let mut stream = TcpStream::connect(address).await?;
    tokio::io::copy(reader, &mut stream).await?;
    stream.shutdown().await?;
    stream.read_u64().await
}

/// As the guide warns: the second attempt sends nothing, and the server says that all is well.
#[tokio::test]
async fn a_reader_is_where_the_failed_attempt_left_it_until_the_body_rewinds_it() {
    #[retry(attempts = 2, delays = [Duration::ZERO])]
    async fn upload(address: &str, reader: &mut Cursor<&[u8]>) -> io::Result<u64> {
        send(address, reader).await
    }
    #[retry(attempts = 2, delays = [Duration::ZERO])]
    async fn upload_whole(address: &str, reader: &mut Cursor<&[u8]>) -> io::Result<u64> {
        reader.rewind().await?;
        send(address, reader).await
    }
    let file = || Cursor::new(&b"the whole file"[..]);
    assert_eq!(upload(&uploads().await, &mut file()).await.unwrap(), 0);
    let whole = upload_whole(&uploads().await, &mut file()).await;
    assert_eq!(whole.unwrap(), 14);
}

/// The outer attempt makes progress while the inner call waits.
#[tokio::test(start_paused = true)]
async fn a_later_attempt_of_an_inner_call_has_the_time_that_progress_of_the_outer_one_gave() {
    #[retry(attempts = 1, timeout = "100ms")]
    async fn outer() -> io::Result<()> {
        let progress = async {
            sleep(ms(50)).await;
            Attempt::record_progress();
        };
        tokio::join!(inner(), progress).0
    }
    #[retry(attempts = 2, delays = ["60ms"])]
    async fn inner() -> io::Result<()> {
        let attempt = Attempt::current().unwrap();
        if attempt.number() == 1 {
            return Err(io::ErrorKind::ConnectionReset.into());
        }
        assert_eq!(attempt.remaining(), Some(ms(90)));
        Ok(())
    }
    outer().await.unwrap();
}
