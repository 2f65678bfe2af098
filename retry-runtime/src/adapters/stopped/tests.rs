use std::io;
use std::time::Duration;

use super::*;
use crate::Error;
use crate::classify::Assessment;
use crate::lookup::find_in;
use crate::stopped::{CutEffect, Effect};

fn stopped(outcome: Outcome) -> Stopped {
    Stopped {
        outcome,
        attempts: 2,
        elapsed: Duration::from_secs(1),
        limit: None,
        not_ready: false,
        may_have_run: true,
        source: None,
    }
}

#[test]
fn a_deadline_of_its_own_is_transient() {
    let own = Stopped {
        limit: Some(Duration::from_secs(1)),
        ..stopped(Outcome::Deadline)
    };
    assert_eq!(own.verdict(), Verdict::Transient);
    assert_eq!(io::Error::from(own).verdict(), Verdict::Transient);
}

/// A limit cut a commit. The error of an earlier attempt is its source.
fn cut_commit(outcome: Outcome) -> Stopped {
    Stopped {
        limit: Some(Duration::from_secs(1)),
        source: Some(CutEffect::of(Effect::Commit).into()),
        ..stopped(outcome)
    }
    .with_source(io::Error::from(io::ErrorKind::ConnectionReset).into())
}

#[test]
fn a_cut_commit_stands_between_the_call_and_the_error_of_an_earlier_attempt() {
    let error = cut_commit(Outcome::Timeout);
    let chain = std::iter::successors(Some(&error as &dyn std::error::Error), |error| {
        error.source()
    });
    let texts: Vec<String> = chain.map(ToString::to_string).collect();
    let expected = [
        "timed out after 1s, during a commit (2 attempts, 1s)",
        "the commit may have taken effect",
        "connection reset",
    ];
    assert_eq!(texts, expected);
}

#[test]
fn a_cut_commit_is_unknown_in_every_error() {
    for outcome in [Outcome::Timeout, Outcome::Deadline] {
        assert_eq!(cut_commit(outcome).verdict(), Verdict::Unknown);
        let io = io::Error::from(cut_commit(outcome));
        assert_eq!(io.verdict(), Verdict::Unknown);
        let own: Error<io::Error> = Error::Stopped(cut_commit(outcome));
        assert_eq!(own.verdict(), Verdict::Unknown);
        let wrapped = io::Error::other(cut_commit(outcome));
        assert_eq!(wrapped.verdict(), Verdict::Unknown);
        let searched = find_in::<io::Error>(&wrapped, false, Assessment::of);
        assert_eq!(searched, None, "nor is it searched for `on`");
    }
}

#[test]
#[cfg(feature = "sqlx-0_9")]
fn an_error_of_a_database_stays_unknown_inside_another_error() {
    use crate::adapters::transaction::{CommitError, TransactionError};
    let lost = || sqlx_core::Error::Io(io::ErrorKind::ConnectionReset.into());
    for error in [
        io::Error::other(lost()),
        io::Error::other(TransactionError::Commit(CommitError(lost()))),
        io::Error::other(io::Error::other(lost())),
    ] {
        assert_eq!(error.verdict(), Verdict::Unknown, "{error}");
    }
    let statement = TransactionError::Statement(lost());
    assert_eq!(io::Error::other(statement).verdict(), Verdict::Transient);
}

#[tokio::test]
#[cfg(all(feature = "deadpool-0_13", feature = "tokio-postgres-0_7"))]
async fn a_pool_without_a_connection_is_refused_inside_another_error() {
    use deadpool::managed::PoolError;
    async fn lost() -> tokio_postgres::Error {
        let (stream, _) = tokio::io::duplex(64);
        let config = tokio_postgres::Config::new();
        let connected = config.connect_raw(stream, tokio_postgres::NoTls).await;
        connected.err().expect("the server is gone")
    }
    let error = io::Error::other(lost().await);
    assert_eq!(error.verdict(), Verdict::Unknown);
    let error = io::Error::other(PoolError::Backend(lost().await));
    assert_eq!(error.verdict(), Verdict::Refused);
}

#[test]
fn of_what_the_call_around_shares_only_time_is_transient() {
    for (outcome, verdict) in [
        (Outcome::Timeout, Verdict::Transient),
        (Outcome::Deadline, Verdict::Transient),
        (Outcome::Budget, Verdict::Permanent),
        (Outcome::HintTooLong, Verdict::Permanent),
        (Outcome::Paused, Verdict::Transient),
        (Outcome::Cancelled, Verdict::Permanent),
        (Outcome::AttemptsExhausted, Verdict::Transient),
    ] {
        assert_eq!(stopped(outcome).verdict(), verdict, "{outcome}");
    }
}

#[test]
fn every_error_made_from_a_stopped_call_has_its_verdict() {
    for outcome in [
        Outcome::Timeout,
        Outcome::Deadline,
        Outcome::Budget,
        Outcome::HintTooLong,
        Outcome::Paused,
        Outcome::Cancelled,
    ] {
        let verdict = stopped(outcome).verdict();
        let io = io::Error::from(stopped(outcome));
        assert_eq!(io.verdict(), verdict, "io::Error, {outcome}");
        let own: Error<io::Error> = Error::Stopped(stopped(outcome));
        assert_eq!(own.verdict(), verdict, "reattempt::Error, {outcome}");
        #[cfg(feature = "reqwest-0_13")]
        {
            let error = crate::adapters::reqwest::RequestError::from(stopped(outcome));
            assert_eq!(error.verdict(), verdict, "RequestError, {outcome}");
        }
        #[cfg(feature = "tokio-postgres-0_7")]
        {
            let error =
                crate::adapters::transaction::TransactionError::<::tokio_postgres::Error>::from(
                    stopped(outcome),
                );
            // The limit may have cut the commit.
            let verdict = match verdict {
                Verdict::Transient => Verdict::Unknown,
                verdict => verdict,
            };
            assert_eq!(error.verdict(), verdict, "TransactionError, {outcome}");
        }
    }
}

/// The attempt before the one that was cut was refused.
#[test]
fn a_stopped_call_answers_for_its_source() {
    let refused = io::Error::from(io::ErrorKind::ConnectionRefused);
    let stopped = stopped(Outcome::Timeout).with_source(Box::new(refused));
    let error = crate::adapters::known::assessment(&Error::<Stopped>::Stopped(stopped));
    assert_eq!(
        (error.verdict, error.may_have_run),
        (Verdict::Transient, true)
    );
}
