//! `.commit()` in the body of an annotated function: no rule repeats one that may have taken effect.

use std::any::type_name;
use std::cell::Cell;
use std::io::{self, ErrorKind};
use std::time::Duration;

use integrations::written::Written;
use reattempt::sqlx_0_9::TransactionError;
use reattempt::{Outcome, Retryable, Stopped, Verdict, propagate, retry, run, with_report};
use sqlx::Error;
use sqlx::migrate::MigrateError;
use tokio::time::sleep;

/// How the `COMMIT` ends.
#[derive(Clone, Copy)]
enum End {
    Lost,
    LostAtOnce,
    /// What came is no answer.
    Garbled,
    /// What came is no message.
    Junk,
    Hangs,
    /// It never ran.
    Refused,
    Kept,
}

/// A transaction, which counts its commits.
#[derive(Clone, Copy)]
struct Transaction<'c>(&'c Cell<u32>, End);

impl Transaction<'_> {
    async fn commit(self) -> Result<(), Error> {
        self.0.set(self.0.get() + 1);
        if !matches!(self.1, End::LostAtOnce) {
            sleep(Duration::from_millis(5)).await;
        }
        match self.1 {
            End::Lost | End::LostAtOnce => Err(Error::Io(ErrorKind::ConnectionReset.into())),
            End::Garbled => Err(Error::Io(ErrorKind::InvalidData.into())),
            End::Junk => Err(Error::Protocol("unknown message type".into())),
            End::Hangs => std::future::pending().await,
            End::Refused => Err(Error::PoolTimedOut),
            End::Kept => Ok(()),
        }
    }
}

#[derive(Debug, thiserror::Error, Retryable)]
enum Own {
    #[error(transparent)]
    #[retryable(transient)]
    Db(#[from] Error),
    #[error("stopped")]
    #[retryable(forward)]
    Stopped(#[from] Stopped),
}

/// What a function may be generic over.
trait Commits {
    fn commit(self) -> impl Future<Output = DbResult<()>>;
}

impl Commits for Transaction<'_> {
    async fn commit(self) -> DbResult<()> {
        Self::commit(self).await
    }
}

type DbResult<T> = Result<T, Error>;

#[derive(Debug, thiserror::Error, Retryable)]
#[error(transparent)]
#[retryable(transient)]
struct Hidden(#[from] Own);

impl From<Error> for Hidden {
    fn from(error: Error) -> Self {
        Own::Db(error).into()
    }
}

macro_rules! commits {
    ($($function:ident($begun:ident $($rule:tt)*) -> $E:ty $body:block)*) => {$(
        #[retry(base = "1ms", budget = "none" $($rule)*)]
        async fn $function($begun: Transaction<'_>) -> Result<(), $E> $body
    )*};
}

commits! {
    by_on(begun, on = "Error") -> Error { begun.commit().await }
    by_when(begun, when = |_| true) -> Error {
        let transaction = begun;
        transaction.commit().await?;
        Ok(())
    }
    by_verdict(begun) -> Own { Ok(begun.commit().await?) }
    by_text(begun, when = |_| true) -> String {
        begun.commit().await.map_err(|error| error.to_string())
    }
    in_anyhow(begun, on = "Error") -> anyhow::Error { Ok(begun.commit().await?) }
    in_a_block(begun, on = "Error") -> Error { async { if true { begun.commit().await } else { Ok(()) } }.await }
    in_a_closure(begun, on = "Error") -> Error { let end = async || begun.commit().await; end().await }
    in_join(begun, on = "Error") -> Error { tokio::join!(begun.commit(), async {}).0 }
    boxed(begun, on = "Error") -> Error { Box::pin(begun.commit()).await }
    in_a_box(begun, on = "Error | io::Error") -> Box<dyn std::error::Error + Send + Sync> { Ok(begun.commit().await?) }
    hidden_twice(begun, on = "Hidden | io::Error") -> Hidden { Ok(begun.commit().await?) }
    in_a_function(begun, when = |_| true) -> Error {
        async fn end(transaction: Transaction<'_>) -> DbResult<()> {
            transaction.commit().await
        }
        end(begun).await
    }
    in_a_macro(begun, when = |_| true) -> Error {
        macro_rules! end {
            ($transaction:expr) => { $transaction.commit().await };
        }
        end!(begun)
    }
    pinned(begun, when = |_| true) -> Error {
        let commit = async { begun.commit().await };
        let mut commit = std::pin::pin!(commit);
        commit.as_mut().await
    }
    cut_by_the_body(begun, when = |_| true) -> Error {
        let commit = tokio::time::timeout(Duration::from_millis(1), begun.commit());
        commit.await.unwrap_or(Err(Error::PoolTimedOut))
    }
    cut_by_select(begun, when = |_| true) -> Error {
        tokio::select! {
            committed = begun.commit() => committed,
            () = sleep(Duration::from_millis(1)) => Err(Error::PoolTimedOut),
        }
    }
    cut_by_try_join(begun, when = |_| true) -> Error {
        let other = async { sleep(Duration::from_millis(1)).await; Err::<(), _>(Error::PoolTimedOut) };
        tokio::try_join!(begun.commit(), other).map(|_| ())
    }
    ignored(begun, when = |_| true) -> Error {
        let _ = begun.commit().await;
        Err(Error::PoolTimedOut)
    }
    ignored_within(begun, when = |_| true) -> Error {
        #[retry(base = "1ms", on = "Error")]
        async fn ignores(begun: Transaction<'_>) -> DbResult<()> {
            let _ = begun.commit().await;
            Ok(())
        }
        ignores(begun).await?;
        Err(Error::PoolTimedOut)
    }
    spawned_as_part(begun, on = "Error") -> Error {
        tokio::task::LocalSet::new().run_until(propagate(begun.commit())).await
    }
    statement(begun) -> TransactionError<Error> { Ok(begun.commit().await?) }
    within_another(begun, when = |_| true) -> Own { by_verdict(begun).await }
    limited(begun, timeout = "1s") -> Own { Ok(begun.commit().await?) }
    limited_outside(begun, timeout = "1s", when = |_| true) -> Own { by_verdict(begun).await }
    harmless(begun, when = |_| true, idempotent = true) -> Error { begun.commit().await }
    harmless_inside(begun, when = |_| true) -> Error { harmless(begun).await }
    harmless_by_verdict(begun, timeout = "1s", idempotent = true) -> reattempt::Error<Error> { Ok(begun.commit().await?) }
}

macro_rules! commits_of {
    ($end:expr; $($function:ident),+) => {
        [$({
            let commits = Cell::new(0);
            $function(Transaction(&commits, $end)).await.unwrap_err();
            (stringify!($function), commits.get())
        }),+]
    };
}

#[tokio::test(start_paused = true)]
async fn a_lost_commit_runs_once_whatever_the_rules_say() {
    let lost = commits_of!(
        End::Lost; by_on, by_when, by_verdict, by_text, in_anyhow, in_a_block, in_a_closure, in_join, boxed, spawned_as_part, statement,
        within_another, in_a_box, hidden_twice, in_a_function, in_a_macro, pinned, cut_by_the_body, cut_by_select, cut_by_try_join,
        ignored, ignored_within, generic, aliased
    );
    let at_once = commits_of!(End::LostAtOnce; by_when, within_another, ignored, ignored_within);
    let garbled = commits_of!(End::Garbled; by_on, by_when, by_verdict, within_another, statement);
    let junk = commits_of!(End::Junk; by_on, by_when, by_verdict, within_another, statement);
    let cut = commits_of!(End::Hangs; limited, limited_outside);
    for (name, commits) in lost
        .into_iter()
        .chain(at_once)
        .chain(garbled)
        .chain(junk)
        .chain(cut)
    {
        assert_eq!(commits, 1, "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_commit_in_a_closure_is_seen_as_in_a_function() {
    let commits = [(); 4].map(|()| Cell::new(0));
    let begun = |which: usize, end| Transaction(&commits[which], end);
    let lost = begun(0, End::Lost);
    let call = run!(base = "1ms", when = |_| true, async || lost.commit().await);
    call.await.unwrap_err();
    let hangs = begun(1, End::Hangs);
    let call = run!(timeout = "1s", when = |_| true, async || {
        hangs.commit().await
    });
    assert_eq!(end_of(call).await.0, Some(Outcome::InDoubt));
    let spawned = begun(2, End::Lost);
    let call = run!(base = "1ms", on(Error), async || {
        let task = propagate(spawned.commit());
        tokio::task::LocalSet::new().run_until(task).await
    });
    call.await.unwrap_err();
    let harmless = begun(3, End::Lost);
    let call = run!(
        base = "1ms",
        idempotent = true,
        when = |_| true,
        async || { harmless.commit().await }
    );
    call.await.unwrap_err();
    assert_eq!(commits.map(Cell::into_inner), [1, 1, 1, 3]);
}

/// As the guide lists it: no attribute sees this commit, and what came does not look like a lost connection.
#[tokio::test(start_paused = true)]
async fn on_repeats_a_function_that_commits_if_the_answer_is_garbled() {
    async fn helper(begun: Transaction<'_>) -> DbResult<()> {
        begun.commit().await
    }
    #[retry(base = "1ms", budget = "none", on = "Error")]
    async fn of_a_helper(begun: Transaction<'_>) -> DbResult<()> {
        helper(begun).await
    }
    for (end, expected) in [(End::Lost, 1), (End::Garbled, 1), (End::Junk, 3)] {
        let commits = Cell::new(0);
        of_a_helper(Transaction(&commits, end)).await.unwrap_err();
        assert_eq!(commits.get(), expected);
    }
}

#[retry(base = "1ms", budget = "none", when = |_| true)]
async fn generic<T: Commits + Copy>(begun: T) -> DbResult<()> {
    begun.commit().await
}

#[retry(base = "1ms", budget = "none", on = "Error")]
async fn aliased(begun: Transaction<'_>) -> DbResult<()> {
    begun.commit().await?;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn an_ok_behind_a_lost_commit_is_not_repeated() {
    #[retry(base = "1ms", budget = "none", when_ok = |done| !done, when = |_| true)]
    async fn by_value(begun: Transaction<'_>) -> DbResult<bool> {
        Ok(begun.commit().await.is_ok())
    }
    #[retry(base = "1ms", budget = "none", until = |done| *done, when = |_| true)]
    async fn polled(begun: Transaction<'_>) -> anyhow::Result<bool> {
        Ok(begun.commit().await.is_ok())
    }
    let commits = [(); 2].map(|()| Cell::new(0));
    let begun = |which: usize| Transaction(&commits[which], End::Lost);
    assert!(!by_value(begun(0)).await.unwrap());
    polled(begun(1)).await.unwrap_err();
    assert_eq!(commits.map(|commits| commits.get()), [1, 1]);
}

#[tokio::test(start_paused = true)]
async fn a_commit_that_may_run_twice_or_never_ran_is_repeated() {
    let lost = commits_of!(End::Lost; harmless, harmless_by_verdict);
    let cut = commits_of!(End::Hangs; harmless_by_verdict);
    let refused = commits_of!(End::Refused; by_on, by_when, by_verdict, statement);
    for (name, commits) in lost.into_iter().chain(cut).chain(refused) {
        assert_eq!(commits, 3, "{name}");
    }
    let [(_, inside)] = commits_of!(End::Lost; harmless_inside);
    assert!(inside > 3, "{inside}");
}

#[tokio::test(start_paused = true)]
async fn a_statement_that_lost_its_answer_is_repeated_where_that_does_no_harm() {
    #[retry(attempts = 3, base = "1ms", on = "Error")]
    async fn unsaid(calls: &Cell<u32>) -> DbResult<()> {
        calls.set(calls.get() + 1);
        Err(Error::Io(ErrorKind::ConnectionReset.into()))
    }
    #[retry(attempts = 3, base = "1ms", on = "Error", idempotent = true)]
    async fn harmless(calls: &Cell<u32>) -> DbResult<()> {
        unsaid(calls).await
    }
    #[retry(attempts = 3, base = "1ms", on(Error), idempotent = true)]
    async fn migrates(calls: &Cell<u32>) -> Result<(), MigrateError> {
        unsaid(calls).await.map_err(MigrateError::Execute)
    }
    let calls = Cell::new(0);
    unsaid(&calls).await.unwrap_err();
    assert_eq!(calls.get(), 1);
    harmless(&calls).await.unwrap_err();
    assert_eq!(calls.get(), 1 + 3);
    migrates(&calls).await.unwrap_err();
    assert_eq!(calls.get(), 1 + 3 + 3);
}

#[tokio::test(start_paused = true)]
async fn the_error_of_a_transaction_knows_that_it_is_one_of_a_commit() {
    let commits = Cell::new(0);
    let error = statement(Transaction(&commits, End::Lost)).await;
    assert!(
        matches!(error, Err(TransactionError::Commit(_))),
        "{error:?}"
    );
    let error = statement(Transaction(&commits, End::Refused)).await;
    assert!(
        matches!(error, Err(TransactionError::Statement(_))),
        "{error:?}"
    );
}

/// As the guide's page on databases says.
#[test]
fn a_lost_connection_is_retried_as_that_of_a_transaction_and_not_as_that_of_the_client() {
    #[derive(Debug, thiserror::Error, Retryable)]
    #[retryable(forward)]
    enum OrderError {
        #[error("the order was not placed")]
        Transaction(#[from] TransactionError<Error>),
    }
    impl From<Error> for OrderError {
        fn from(error: Error) -> Self {
            Self::Transaction(error.into())
        }
    }
    #[derive(Debug, thiserror::Error, Retryable)]
    #[retryable(forward)]
    enum ClientError {
        #[error("the order was not placed")]
        Database(#[from] Error),
    }
    let lost = || Error::Io(ErrorKind::ConnectionReset.into());
    assert_eq!(OrderError::from(lost()).verdict(), Verdict::Transient);
    assert_eq!(ClientError::from(lost()).verdict(), Verdict::Unknown);
}

/// What no client of a database returns stays what it is.
#[tokio::test(start_paused = true)]
async fn a_commit_of_anything_else_is_as_without_the_attribute() {
    struct Text<'t>(&'t str);
    impl Text<'_> {
        fn commit(&mut self) -> &mut Self {
            self
        }
    }
    struct Log;
    impl Log {
        #[expect(clippy::unused_async, reason = "the shape that is tried")]
        async fn commit(&self) -> io::Result<()> {
            Err(ErrorKind::ConnectionReset.into())
        }
    }
    #[retry(base = "1ms")]
    async fn writes(calls: &mut u32) -> io::Result<()> {
        *calls += 1;
        assert_eq!(Text("x").commit().commit().0, "x");
        Log.commit().await
    }
    let mut calls = 0;
    writes(&mut calls).await.unwrap_err();
    assert_eq!(calls, 3);
}

/// What a call ends with, and what its events of level warn say.
async fn end_of<T: std::fmt::Debug>(
    call: impl Future<Output = Result<(), T>>,
) -> (Option<Outcome>, String) {
    let (written, _guard) = Written::subscribe(tracing::Level::WARN);
    let (ended, report) = with_report(call).await;
    ended.unwrap_err();
    (report.map(|report| report.outcome()), written.take())
}

const IN_DOUBT: &str = "a transaction may have taken effect; nothing repeats it";

#[tokio::test(start_paused = true)]
async fn a_commit_in_doubt_that_ends_a_call_is_a_warning_with_an_outcome() {
    let commits = Cell::new(0);
    let begun = |end| Transaction(&commits, end);
    for (end, warnings) in [
        (end_of(by_on(begun(End::Lost))).await, 1),
        (end_of(limited(begun(End::Hangs))).await, 1),
        (end_of(within_another(begun(End::Lost))).await, 2),
        (end_of(once(begun(End::Lost))).await, 1),
    ] {
        let (outcome, said) = end;
        assert_eq!(outcome, Some(Outcome::InDoubt), "{said}");
        assert_eq!(said.matches(IN_DOUBT).count(), warnings, "{said}");
        assert_eq!(said.matches("in_doubt").count(), warnings, "{said}");
        assert!(!said.contains("gave up"), "{said}");
    }
    for (outcome, said) in [
        end_of(harmless(begun(End::Lost))).await,
        end_of(once(begun(End::Refused))).await,
    ] {
        assert_eq!(outcome, Some(Outcome::AttemptsExhausted), "{said}");
        assert!(!said.contains(IN_DOUBT), "{said}");
    }
}

#[retry(attempts = 1)]
async fn once(begun: Transaction<'_>) -> DbResult<()> {
    begun.commit().await
}

/// In a task that is spawned under another name, no call learns of it.
#[tokio::test(start_paused = true)]
async fn a_commit_in_doubt_outside_of_any_call_is_a_warning() {
    struct Owned(End);
    impl Owned {
        async fn commit(self) -> DbResult<()> {
            Transaction(&Cell::new(0), self.0).commit().await
        }
    }
    #[retry(attempts = 1)]
    async fn hands_over(end: End) -> DbResult<()> {
        let commit = async move { Owned(end).commit().await };
        tokio::task::LocalSet::new()
            .run_until(async { tokio::task::spawn_local(commit).await.unwrap() })
            .await
    }
    let (_, said) = end_of(hands_over(End::LostAtOnce)).await;
    assert_eq!(said.matches(IN_DOUBT).count(), 1, "{said}");
    let (_, said) = end_of(hands_over(End::Refused)).await;
    assert!(!said.contains(IN_DOUBT), "{said}");
}

/// What the guide lists, and what the attribute cannot see.
#[tokio::test(start_paused = true)]
async fn what_still_runs_twice_is_known() {
    async fn unseen(begun: Transaction<'_>) -> DbResult<()> {
        begun.commit().await
    }
    trait Any {
        type Error: std::fmt::Display + std::fmt::Debug;
        async fn commit(self) -> Result<(), Self::Error>;
    }
    impl Any for Transaction<'_> {
        type Error = Error;
        async fn commit(self) -> DbResult<()> {
            unseen(self).await
        }
    }
    #[retry(base = "1ms", budget = "none", when = |_| true)]
    async fn called(begun: Transaction<'_>) -> DbResult<()> {
        unseen(begun).await
    }
    #[retry(base = "1ms", budget = "none", when = |_| true)]
    async fn by_path(begun: Transaction<'_>) -> DbResult<()> {
        Transaction::commit(begun).await
    }
    #[retry(base = "1ms", budget = "none", when = |_| true)]
    async fn of_any<T: Any + Copy>(begun: T) -> Result<(), T::Error> {
        begun.commit().await
    }
    /// That of a client that blocks, such as `postgres`.
    struct Blocking<'c>(Transaction<'c>);
    impl Blocking<'_> {
        fn commit(self) -> DbResult<()> {
            self.0.0.set(self.0.0.get() + 1);
            Err(Error::Io(ErrorKind::ConnectionReset.into()))
        }
    }
    #[retry(base = "1ms", budget = "none", when = |_| true)]
    async fn blocks(begun: Transaction<'_>) -> DbResult<()> {
        Blocking(begun).commit()
    }
    #[retry(base = "1ms", budget = "none")]
    async fn in_a_transaction(begun: Transaction<'_>) -> Result<(), TransactionError<Error>> {
        Ok(unseen(begun).await?)
    }
    // The fix that the guide names.
    #[retry(base = "1ms", budget = "none", when = |_| true)]
    async fn of_once(begun: Transaction<'_>) -> DbResult<()> {
        once(begun).await
    }
    let all = commits_of!(End::Lost; called, by_path, of_any, blocks, in_a_transaction);
    for (name, commits) in all {
        assert_eq!(commits, 3, "{name}");
    }
    let [(_, commits)] = commits_of!(End::Lost; of_once);
    assert_eq!(commits, 1);
}

/// Not one of these loses its answer. Of two bodies, one at a time commits what its attempt knows.
#[tokio::test(start_paused = true)]
async fn two_attempts_at_once_both_call_a_function_whose_commit_no_attempt_knows() {
    async fn unseen(begun: Transaction<'_>) -> DbResult<()> {
        begun.commit().await
    }
    #[retry(hedge = "1ms")]
    async fn hedged(begun: Transaction<'_>) -> DbResult<()> {
        sleep(Duration::from_millis(3)).await;
        unseen(begun).await
    }
    #[retry(hedge = "1ms")]
    async fn hedged_once(begun: Transaction<'_>) -> DbResult<()> {
        sleep(Duration::from_millis(3)).await;
        once(begun).await
    }
    #[retry(hedge = "1ms")]
    async fn hedged_beside(begun: Transaction<'_>) -> DbResult<()> {
        once(begun).await
    }
    let commits = [(); 3].map(|()| Cell::new(0));
    let begun = |which: usize| Transaction(&commits[which], End::Kept);
    hedged(begun(0)).await.unwrap();
    hedged_once(begun(1)).await.unwrap();
    hedged_beside(begun(2)).await.unwrap();
    assert_eq!(commits.map(|commits| commits.get()), [2, 1, 1]);
}

/// Without its adapter, the name of its type is all that is known of a request.
#[test]
fn a_post_of_a_client_without_an_adapter_is_a_warning_once() {
    #[retry(attempts = 2, blocking, base = "1ms")]
    fn posts(client: &reqwest::blocking::Client) -> io::Result<()> {
        drop(client.post("http://bank.example/payments"));
        Ok(())
    }
    let names = [
        type_name::<reqwest::RequestBuilder>(),
        type_name::<reqwest_0_12::RequestBuilder>(),
        type_name::<reqwest::blocking::RequestBuilder>(),
    ];
    for name in names {
        assert!(
            name.starts_with("reqwest") && name.ends_with("::RequestBuilder"),
            "{name}"
        );
    }
    let client = reqwest::blocking::Client::new();
    let (written, _guard) = Written::subscribe(tracing::Level::WARN);
    for expected in [1, 0] {
        posts(&client).unwrap();
        let said = written.take();
        assert_eq!(said.matches(names[2]).count(), expected, "{said}");
        assert_eq!(
            said.matches("a POST or PATCH may be sent twice").count(),
            expected,
            "{said}"
        );
    }
}
