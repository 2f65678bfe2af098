//! Nested retries: what hooks and attempts report of them, and what `nested` changes.

use std::cell::RefCell;
use std::io::{self, ErrorKind};

use reattempt::{Attempt, Nested, Policy, retry};

use crate::script::{RESET, Script, Step, ms};

/// Makes four attempts at `body`.
#[retry(attempts = 4, base = "1ms", budget = "none")]
async fn around(body: impl AsyncFn() -> io::Result<usize>) -> io::Result<usize> {
    body().await
}

#[retry(attempts = 4, base = "1ms", budget = "none")]
async fn fetch(host: &Script) -> io::Result<usize> {
    host.play().await
}

/// The body and the hook read the number of attempts that the rule allows.
#[tokio::test(start_paused = true)]
async fn an_event_and_the_attempt_say_how_many_attempts_a_call_may_make_here() {
    type Assessment = RefCell<Vec<(&'static str, Option<u32>)>>;
    #[retry(
        attempts = 6,
        base = "1ms",
        budget = "none",
        on_retry = |event| said.borrow_mut().push(("event", event.attempts()))
    )]
    async fn inner(host: &Script, said: &Assessment) -> io::Result<usize> {
        let attempt = Attempt::current().unwrap();
        said.borrow_mut().push(("attempt", attempt.attempts()));
        host.play().await
    }
    #[retry(attempts = 3, base = "1ms", budget = "none", when = |_| true)]
    async fn outer(host: &Script, said: &Assessment) -> io::Result<usize> {
        assert_eq!(Attempt::current().unwrap().attempts(), Some(3));
        inner(host, said).await
    }
    // The first attempt of `outer` has three failed retries, and the second has one. Two of six attempts are left.
    let host = Script::new([
        RESET,
        RESET,
        RESET,
        Step::Fail(ErrorKind::NotFound),
        RESET,
        Step::Fail(ErrorKind::NotFound),
        Step::Fail(ErrorKind::NotFound),
    ]);
    let said = Assessment::default();
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

/// `before_retry` calls another function than the body, so the retries of the body do not count for it.
#[tokio::test(start_paused = true)]
async fn the_rule_counts_functions_that_before_retry_calls_by_their_own_name() {
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
    // `before_retry` runs three times between four attempts, and makes four calls, one and one.
    assert_eq!((host.calls(), connection.calls()), (7, 6));

    let (host, connection) = (
        Script::new([RESET]),
        Script::new([RESET, RESET, RESET, Step::Succeed]),
    );
    session(&host, &connection).await.unwrap_err();
    assert_eq!((host.calls(), connection.calls()), (7, 6));
}

#[test]
fn each_nesting_is_shown_as_its_word() {
    let words = [Nested::Add, Nested::Multiply, Nested::Outermost].map(|nested| nested.to_string());
    assert_eq!(words, ["add", "multiply", "outermost"]);
}

/// The key `nested` of a function overrides its policy.
#[tokio::test(start_paused = true)]
async fn a_policy_says_how_the_retries_of_functions_and_runs_combine() {
    const AS_BEFORE: Policy = Policy::new()
        .with_attempts(4)
        .with_base(ms(1))
        .without_budget()
        .with_nested(Nested::Multiply);
    #[retry(policy = AS_BEFORE)]
    async fn constant(host: &Script) -> io::Result<usize> {
        host.play().await
    }
    #[retry(policy = policy)]
    async fn given(policy: Policy, host: &Script) -> io::Result<usize> {
        host.play().await
    }
    #[retry(policy = AS_BEFORE, nested = "add")]
    async fn overridden(host: &Script) -> io::Result<usize> {
        host.play().await
    }
    let host = Script::new([RESET]);
    around(async || constant(&host).await).await.unwrap_err();
    assert_eq!(host.calls(), 16);

    let host = Script::new([RESET]);
    around(async || given(AS_BEFORE, &host).await)
        .await
        .unwrap_err();
    assert_eq!(host.calls(), 16);

    let host = Script::new([RESET]);
    let outermost = AS_BEFORE.with_nested(Nested::Outermost);
    around(async || outermost.run(|| host.play()).await)
        .await
        .unwrap_err();
    assert_eq!(host.calls(), 4);

    let host = Script::new([RESET]);
    around(async || overridden(&host).await).await.unwrap_err();
    assert_eq!(host.calls(), 7);
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

    // Within a call that multiplies, the inner calls add.
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
    assert_eq!(host.calls(), 4, "the call itself is the outermost");
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
