use std::io;
use std::time::Duration;

use super::*;
use crate::Error;

fn stopped(outcome: Outcome) -> Stopped {
    Stopped {
        outcome,
        attempts: 2,
        elapsed: Duration::from_secs(1),
        limit: None,
        in_doubt: false,
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

#[test]
fn of_what_the_call_around_shares_only_a_timeout_is_transient() {
    for (outcome, verdict) in [
        (Outcome::Timeout, Verdict::Transient),
        (Outcome::Deadline, Verdict::Permanent),
        (Outcome::Budget, Verdict::Permanent),
        (Outcome::HintTooLong, Verdict::Permanent),
        (Outcome::Cancelled, Verdict::Permanent),
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
        Outcome::Cancelled,
    ] {
        let verdict = stopped(outcome).verdict();
        let io = io::Error::from(stopped(outcome));
        assert_eq!(io.verdict(), verdict, "io::Error, {outcome}");
        let own: Error<io::Error> = Error::Stopped(stopped(outcome));
        assert_eq!(own.verdict(), verdict, "reattempt::Error, {outcome}");
        #[cfg(feature = "reqwest")]
        {
            let error = crate::adapters::reqwest::RequestError::from(stopped(outcome));
            assert_eq!(error.verdict(), verdict, "RequestError, {outcome}");
        }
        #[cfg(feature = "tokio-postgres")]
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
