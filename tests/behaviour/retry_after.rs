//! `retry_after`: the delay itself, computed from the error.

use std::cell::{Cell, RefCell};
use std::time::Duration;

use reattempt::{Attempt, Outcome, Policy, Retryable, Stopped, retry, with_report};
use tokio::time::{Instant, sleep};

use crate::script::ms;

#[derive(Debug, thiserror::Error, Retryable)]
enum Failure {
    #[error("busy")]
    #[retryable(throttled, after = "hint")]
    Busy { hint: Duration },
    #[error("gone")]
    #[retryable(permanent)]
    Gone,
    #[error(transparent)]
    #[retryable(forward)]
    Stopped(#[from] Stopped),
}

const BUSY: Failure = Failure::Busy { hint: ms(70) };

/// When each request came.
struct Server {
    began: Instant,
    asked: RefCell<Vec<Duration>>,
}

impl Server {
    fn new() -> Self {
        Self {
            began: Instant::now(),
            asked: RefCell::default(),
        }
    }

    fn ask(&self, error: Failure) -> Result<(), Failure> {
        self.asked.borrow_mut().push(self.began.elapsed());
        Err(error)
    }

    fn asked(&self) -> Vec<Duration> {
        self.asked.take()
    }
}

/// Longer than `max_delay`, and shorter than the hint, without jitter.
#[tokio::test(start_paused = true)]
async fn it_is_the_wait_itself() {
    #[retry(
        attempts = 3, max_delay = "100ms", budget = "none",
        retry_after = |_| Some(unit * Attempt::current().map_or(0, |attempt| attempt.number()))
    )]
    async fn call(server: &Server, unit: Duration) -> Result<(), Failure> {
        server.ask(BUSY)
    }
    for unit in [ms(1_000), ms(10)] {
        for _ in 0..20 {
            let server = Server::new();
            call(&server, unit).await.unwrap_err();
            assert_eq!(server.asked(), [ms(0), unit, unit * 3]);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn it_is_asked_once_for_each_retry_that_it_delays() {
    #[retry(
        attempts = 3,
        budget = "none",
        idempotent = twice,
        retry_after = |_| { asked.set(asked.get() + 1); Some(ms(1)) },
    )]
    async fn call(gone: bool, twice: bool, asked: &Cell<u32>) -> Result<(), Failure> {
        Err(if gone { Failure::Gone } else { BUSY })
    }
    for (gone, twice, expected) in [(false, true, 2), (true, true, 0), (false, false, 0)] {
        let asked = Cell::new(0);
        call(gone, twice, &asked).await.unwrap_err();
        assert_eq!(asked.get(), expected, "{gone} {twice}");
    }
    // Nor if an inner call is in doubt.
    #[retry(attempts = 3, retry_after = |_| { asked.set(asked.get() + 1); Some(ms(1)) })]
    async fn outer(asked: &Cell<u32>) -> Result<(), Failure> {
        call(false, false, asked).await
    }
    let asked = Cell::new(0);
    outer(&asked).await.unwrap_err();
    assert_eq!(asked.get(), 0);
}

/// A request, the breaks of its body and the requests that resume it share their delays.
struct Download {
    delays: std::vec::IntoIter<Duration>,
}

impl Download {
    /// Each attempt ends with the next of these, or never.
    #[retry(delays = &mut self.delays, timeout = "1s", budget = "none")]
    async fn resume(
        &mut self,
        server: &Server,
        ends: &RefCell<Vec<Option<Result<(), Failure>>>>,
    ) -> Result<(), Failure> {
        let end = ends.borrow_mut().remove(0);
        let Some(Err(error)) = end else {
            server.asked.borrow_mut().push(server.began.elapsed());
            return match end {
                Some(ended) => ended,
                None => std::future::pending().await,
            };
        };
        server.ask(error)
    }
}

#[tokio::test(start_paused = true)]
async fn delays_that_the_caller_owns_go_on_in_the_next_call() {
    let delays = [3_000, 100, 20, 7].map(ms).to_vec().into_iter();
    let mut download = Download { delays };
    let busy = || Some(Err(Failure::Busy { hint: ms(0) }));
    for (ends, times) in [
        (vec![None, Some(Ok(()))], &[ms(0), ms(4_000)][..]),
        // Neither a failure that is not retried nor a success takes one.
        (vec![Some(Err(Failure::Gone))], &[ms(0)]),
        (
            vec![busy(), busy(), busy(), busy()],
            &[ms(0), ms(100), ms(120), ms(127)],
        ),
    ] {
        let (server, ends) = (Server::new(), RefCell::new(ends));
        let _ = download.resume(&server, &ends).await;
        assert_eq!(server.asked(), times);
        assert!(ends.take().is_empty());
    }
    assert_eq!(download.delays.next(), None);

    // Nor does a timeout that `unless` does not let it retry.
    #[retry(delays = &mut *delays, timeout = "1s", unless = |_| true)]
    async fn vetoed(delays: &mut std::vec::IntoIter<Duration>) -> Result<(), Failure> {
        std::future::pending().await
    }
    let mut delays = vec![ms(0)].into_iter();
    vetoed(&mut delays).await.unwrap_err();
    assert_eq!(delays.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn without_a_delay_all_is_as_without_the_key() {
    #[retry(attempts = 2, jitter = "none", budget = "none", retry_after = |_| None)]
    async fn call(server: &Server, hint: Duration) -> Result<(), Failure> {
        server.ask(Failure::Busy { hint })
    }
    for (hint, wait) in [(ms(70), ms(100)), (ms(700), ms(700))] {
        let server = Server::new();
        call(&server, hint).await.unwrap_err();
        assert_eq!(server.asked(), [ms(0), wait]);
    }
}

#[tokio::test(start_paused = true)]
async fn it_keeps_to_max_retry_after_and_to_the_deadline() {
    #[retry(budget = "none", max_retry_after = "2s", retry_after = |_| Some(wait))]
    async fn bounded(server: &Server, wait: Duration) -> Result<(), Failure> {
        server.ask(BUSY)
    }
    #[retry(budget = "none", deadline = "1s", retry_after = |_| Some(wait))]
    async fn limited(server: &Server, wait: Duration) -> Result<(), Failure> {
        server.ask(BUSY)
    }
    let server = Server::new();
    let (result, report) = with_report(bounded(&server, ms(2_001))).await;
    assert!(matches!(result, Err(Failure::Busy { .. })));
    assert_eq!(report.unwrap().outcome(), Outcome::HintTooLong);
    assert_eq!(server.asked().len(), 1);
    bounded(&server, ms(2_000)).await.unwrap_err();
    assert_eq!(server.asked(), [ms(0), ms(2_000), ms(4_000)]);

    let server = Server::new();
    let (result, report) = with_report(limited(&server, ms(951))).await;
    assert!(matches!(result, Err(Failure::Busy { .. })));
    assert_eq!(report.unwrap().outcome(), Outcome::Deadline);
    assert_eq!((server.asked().len(), server.began.elapsed()), (1, ms(0)));
}

#[tokio::test(start_paused = true)]
async fn it_makes_no_error_worth_a_retry() {
    #[retry(budget = "none", retry_after = |_| Some(ms(1)))]
    async fn by_verdict(server: &Server) -> Result<(), Failure> {
        server.ask(Failure::Gone)
    }
    #[retry(
        budget = "none", when = |_| true, unless = |error| matches!(error, Failure::Gone),
        retry_after = |_| { asked.set(true); Some(ms(1)) }
    )]
    async fn forbidden(server: &Server, asked: &Cell<bool>) -> Result<(), Failure> {
        server.ask(Failure::Gone)
    }
    let (server, asked) = (Server::new(), Cell::new(false));
    by_verdict(&server).await.unwrap_err();
    forbidden(&server, &asked).await.unwrap_err();
    assert_eq!(server.asked().len(), 2);
    assert!(!asked.get());
}

/// Nobody knows the hint of such an error type.
#[tokio::test(start_paused = true)]
async fn an_error_type_without_a_hint_gets_one() {
    #[retry(budget = "none", attempts = 2, when = |_| true, retry_after = wait_of)]
    async fn generic<E>(
        server: &Server,
        error: fn() -> E,
        wait_of: fn(&E) -> Option<Duration>,
    ) -> Result<(), E> {
        server.asked.borrow_mut().push(server.began.elapsed());
        Err(error())
    }
    let server = Server::new();
    let seconds = |error: &String| error.parse().ok().map(Duration::from_secs);
    generic(&server, || "7".to_owned(), seconds)
        .await
        .unwrap_err();
    assert_eq!(server.asked(), [ms(0), ms(7_000)]);
}

#[tokio::test(start_paused = true)]
async fn cancelling_ends_the_wait() {
    #[retry(budget = "none", cancel = sleep(ms(500)), retry_after = |_| Some(ms(1_000)))]
    async fn call(server: &Server) -> Result<(), Failure> {
        server.ask(BUSY)
    }
    let server = Server::new();
    let error = call(&server).await.unwrap_err();
    assert!(matches!(error, Failure::Stopped(_)), "{error:?}");
    assert_eq!(server.began.elapsed(), ms(500));
}

#[tokio::test(start_paused = true)]
async fn a_closure_waits_in_the_same_way() {
    const POLICY: Policy = Policy::new().without_budget();
    let server = Server::new();
    let mut asked = 0;
    let run = POLICY.run(async || server.ask(BUSY)).retry_after(|_| {
        asked += 1;
        Attempt::current().map(|attempt| ms(1_000) * attempt.number())
    });
    run.unboxed().await.unwrap_err();
    assert_eq!(server.asked(), [ms(0), ms(1_000), ms(3_000)]);
    assert_eq!(asked, 2);
}
