//! The error of each client, from a closure: the call gives it in a `reattempt::Error`, without a type annotation.

use std::future::{Ready, ready};
use std::io;
use std::time::Duration;

use deadpool::managed::{PoolError, TimeoutType};
use reattempt::{Error, Policy, Retryable, Stopped, Verdict};

/// As `docs/LIBRARIES.md` says.
#[derive(Debug, thiserror::Error, Retryable)]
#[error("no answer")]
enum Own {
    #[retryable(with = of_kind)]
    Io(#[from] io::Error),
}

fn of_kind(error: &io::Error) -> Verdict {
    io::Error::from(error.kind()).verdict()
}

#[test]
fn no_feature_changes_the_verdict_of_an_error_that_is_judged_by_its_kind() {
    let error = || io::Error::other(h2::Error::from(h2::Reason::REFUSED_STREAM));
    assert_eq!(error().verdict(), Verdict::Refused);
    assert_eq!(Own::from(error()).verdict(), Verdict::Unknown);
}

const POLICY: Policy = Policy::new().with_attempts(1);

/// Checks a closure that is async, one that blocks its thread, and one that is stopped.
macro_rules! ends_in_error {
    ($($error:expr => $Error:ty;)*) => {$({
        let failed: Error<$Error> = POLICY.run(async || Err::<(), _>($error)).await.unwrap_err();
        assert_eq!(failed.into_failed().unwrap().to_string(), $error.to_string());
        let inferred = POLICY.run(|| ready(Err::<(), _>($error))).await.unwrap_err().into_failed();
        assert_eq!(inferred.unwrap().to_string(), $error.to_string());
        let blocking = POLICY.run_blocking(|| Err::<(), _>($error)).call();
        assert!(matches!(blocking, Err::<_, Error<$Error>>(Error::Failed(_))));
        let timed = POLICY.with_timeout(Duration::from_millis(5));
        let stopped = timed.run(async || {
            std::future::pending::<()>().await;
            Err::<(), _>($error)
        });
        let stopped: Error<$Error> = stopped.await.unwrap_err();
        let stopped: Stopped = stopped.into_failed().unwrap_err();
        assert_eq!(stopped.attempts(), 1);
        let own: Result<(), $Error> = POLICY.without_limits().run(async || Err($error)).await;
        own.unwrap_err();
    })*};
}

#[tokio::test(start_paused = true)]
async fn the_error_of_each_client_comes_in_an_error_that_can_be_stopped() {
    ends_in_error! {
        sqlx::Error::PoolTimedOut => sqlx::Error;
        sqlx_0_8::Error::PoolTimedOut => sqlx_0_8::Error;
        sea_orm::DbErr::RecordNotUpdated => sea_orm::DbErr;
        "port=none".parse::<tokio_postgres::Config>().unwrap_err() => tokio_postgres::Error;
        tonic::Status::unavailable("busy") => tonic::Status;
        redis::RedisError::from((redis::ErrorKind::Client, "none")) => redis::RedisError;
        h2::Error::from(h2::Reason::REFUSED_STREAM) => h2::Error;
        PoolError::<redis::RedisError>::Timeout(TimeoutType::Wait) => PoolError<redis::RedisError>;
    }
}

/// It holds the `Stopped` itself, as a boxed error.
#[tokio::test(start_paused = true)]
async fn the_error_of_the_middleware_is_that_of_the_call() {
    use reqwest_middleware::Error::Middleware;

    let failed = POLICY
        .run(|| ready(Err::<(), _>(Middleware(anyhow::anyhow!("none")))))
        .await;
    assert!(failed.unwrap_err().is_middleware());
    let timed = POLICY.with_timeout(Duration::from_millis(5));
    let stopped = timed
        .run(std::future::pending::<reqwest_middleware::Result<()>>)
        .await;
    let Err(Middleware(stopped)) = stopped else {
        panic!("{stopped:?}");
    };
    assert_eq!(stopped.downcast::<Stopped>().unwrap().attempts(), 1);
}

/// No one but hyper can make these errors.
#[tokio::test]
async fn that_of_hyper_too() {
    let done: [Result<(), hyper::Error>; 1] = [Ok(())];
    let ended: Result<_, Error<hyper::Error>> = POLICY.run(|| once(done.each_ref())).await;
    ended.unwrap();
    let done: [Result<(), hyper_util::client::legacy::Error>; 1] = [Ok(())];
    let ended: Result<_, Error<_>> = POLICY.run(|| once(done.each_ref())).await;
    ended.unwrap();
}

fn once<E>([done]: [&Result<(), E>; 1]) -> Ready<Result<(), E>> {
    assert!(done.is_ok());
    ready(Ok(()))
}
