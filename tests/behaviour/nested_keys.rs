//! Retries within retried calls: what hooks and attempts say of it, and what `nested` changes.

use std::cell::RefCell;
use std::io::{self, ErrorKind};

use reattempt::{Attempt, retry};

use crate::script::{RESET, Script, Step};

/// Four attempts at whatever body.
#[retry(attempts = 4, base = "1ms", budget = "none")]
async fn around(body: impl AsyncFn() -> io::Result<usize>) -> io::Result<usize> {
    body().await
}

#[retry(attempts = 4, base = "1ms", budget = "none")]
async fn fetch(host: &Script) -> io::Result<usize> {
    host.play().await
}

/// What the body, the hook and the rule say is one number.
#[tokio::test(start_paused = true)]
async fn an_event_and_the_attempt_say_how_many_attempts_a_call_may_make_here() {
    type Said = RefCell<Vec<(&'static str, Option<u32>)>>;
    #[retry(
        attempts = 6,
        base = "1ms",
        budget = "none",
        on_retry = |event| said.borrow_mut().push(("event", event.attempts()))
    )]
    async fn inner(host: &Script, said: &Said) -> io::Result<usize> {
        let attempt = Attempt::current().unwrap();
        said.borrow_mut().push(("attempt", attempt.attempts()));
        host.play().await
    }
    #[retry(attempts = 3, base = "1ms", budget = "none", when = |_| true)]
    async fn outer(host: &Script, said: &Said) -> io::Result<usize> {
        assert_eq!(Attempt::current().unwrap().attempts(), Some(3));
        inner(host, said).await
    }
    // Three retries in vain; one; and then there is one attempt left of six.
    let host = Script::new([
        RESET,
        RESET,
        RESET,
        Step::Fail(ErrorKind::NotFound),
        RESET,
        Step::Fail(ErrorKind::NotFound),
        Step::Fail(ErrorKind::NotFound),
    ]);
    let said = Said::default();
    outer(&host, &said).await.unwrap_err();
    let all: Vec<_> = [("attempt", Some(6)), ("event", Some(6))]
        .repeat(3)
        .into_iter()
        .chain([("attempt", Some(6))])
        .chain([
            ("attempt", Some(3)),
            ("event", Some(3)),
            ("attempt", Some(3)),
        ])
        .chain([("attempt", Some(2))])
        .collect();
    assert_eq!(said.into_inner(), all);
}

/// Reconnecting has retries of its own, whatever the body has made.
#[tokio::test(start_paused = true)]
async fn what_before_retry_calls_follows_the_rule_by_its_own_name() {
    #[retry(attempts = 4, base = "1ms", budget = "none")]
    async fn reconnect(connection: &Script) -> io::Result<usize> {
        connection.play().await
    }
    #[retry(
        attempts = 4,
        base = "1ms",
        budget = "none",
        before_retry = async || { let _ = reconnect(connection).await; },
    )]
    async fn session(host: &Script, connection: &Script) -> io::Result<usize> {
        fetch(host).await
    }
    let (host, connection) = (Script::new([RESET]), Script::new([RESET]));
    session(&host, &connection).await.unwrap_err();
    // Three times between four attempts: four calls, one and one.
    assert_eq!((host.calls(), connection.calls()), (7, 6));

    let (host, connection) = (
        Script::new([RESET]),
        Script::new([RESET, RESET, RESET, Step::Succeed]),
    );
    session(&host, &connection).await.unwrap_err();
    assert_eq!((host.calls(), connection.calls()), (7, 6));
}

#[tokio::test(start_paused = true)]
async fn multiply_keeps_all_its_attempts_and_outermost_leaves_them_to_the_call_around() {
    #[retry(attempts = 4, base = "1ms", budget = "none", nested = "multiply")]
    async fn multiplies(body: impl AsyncFn() -> io::Result<usize>) -> io::Result<usize> {
        body().await
    }
    #[retry(attempts = 4, base = "1ms", budget = "none", nested = "outermost")]
    async fn outermost(host: &Script) -> io::Result<usize> {
        host.play().await
    }
    let host = Script::new([RESET]);
    let inner = async || multiplies(async || host.play().await).await;
    around(inner).await.unwrap_err();
    assert_eq!(host.calls(), 16);

    // Within one that multiplies, the inner ones add.
    let host = Script::new([RESET]);
    around(async || multiplies(async || fetch(&host).await).await)
        .await
        .unwrap_err();
    assert_eq!(host.calls(), 4 * 7);

    let host = Script::new([RESET]);
    around(async || outermost(&host).await).await.unwrap_err();
    assert_eq!(host.calls(), 4);

    let host = Script::new([RESET]);
    outermost(&host).await.unwrap_err();
    assert_eq!(host.calls(), 4, "it is the outermost one itself");
}

#[tokio::test(start_paused = true)]
async fn an_attempt_says_how_many_attempts_nested_leaves_it() {
    #[retry(attempts = 4, budget = "none", nested = "multiply")]
    async fn multiplies() -> io::Result<Option<u32>> {
        Ok(Attempt::current().unwrap().attempts())
    }
    #[retry(attempts = 4, budget = "none", nested = "outermost")]
    async fn outermost() -> io::Result<Option<u32>> {
        Ok(Attempt::current().unwrap().attempts())
    }
    #[retry(attempts = 2, base = "1ms", budget = "none", when = |_| true)]
    async fn outer(host: &Script) -> io::Result<[Option<u32>; 3]> {
        let _ = fetch(host).await;
        if Attempt::current().unwrap().number() == 1 {
            return Err(ErrorKind::ConnectionReset.into());
        }
        let own = Attempt::current().unwrap().attempts();
        Ok([own, multiplies().await?, outermost().await?])
    }
    let said = outer(&Script::new([RESET])).await.unwrap();
    assert_eq!(said, [Some(2), Some(4), Some(1)]);
    assert_eq!(outermost().await.unwrap(), Some(4));
}
