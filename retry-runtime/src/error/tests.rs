use std::error::Error as StdError;
use std::io;
use std::time::Duration;

use super::*;
use crate::stopped::Outcome;

fn stopped() -> Stopped {
    Stopped {
        outcome: Outcome::Timeout,
        attempts: 2,
        elapsed: Duration::from_secs(1),
        limit: Some(Duration::from_secs(1)),
        not_ready: false,
        may_have_run: true,
        source: Some(io::Error::from(io::ErrorKind::ConnectionReset).into()),
    }
}

/// Checks that a wrapper looks like the error inside.
#[track_caller]
fn check(wrapper: &(impl StdError + 'static), inside: &dyn StdError) {
    assert_eq!(wrapper.to_string(), inside.to_string());
    let sources = [wrapper.source(), inside.source()].map(|source| source.map(ToString::to_string));
    assert_eq!(sources[0], sources[1]);
}

#[test]
fn an_error_looks_like_that_of_the_last_attempt() {
    let inner = || io::Error::other(stopped());
    check(&Error::Failed(inner()), &inner());
    assert_eq!(format!("{:>5}", Error::Failed("x")), "    x");
    let error = Error::<io::Error>::Stopped(stopped());
    assert_eq!(
        error.to_string(),
        "the call was stopped (timeout, 2 attempts, 1s)"
    );
    let link = error
        .source()
        .and_then(|link| link.downcast_ref::<Stopped>());
    assert!(link.is_some(), "the `Stopped` is a link of its own");
}

/// `on` and `unless` find what is inside, also in another error.
#[test]
fn the_error_inside_is_found() {
    use crate::classify::Assessment;
    use crate::lookup::find_in;

    let reset = || io::Error::from(io::ErrorKind::ConnectionReset);
    let found = |error: &(dyn StdError + 'static)| {
        find_in::<io::Error>(error, false, Assessment::of).map(|found| found.verdict)
    };
    let transient = Some(Verdict::Transient);
    assert_eq!(found(&Error::Failed(reset())), transient);
    assert_eq!(found(&Error::Failed(io::Error::other(reset()))), transient);
    assert_eq!(found(&io::Error::other(Error::Failed(reset()))), transient);
    let mut ended = stopped();
    ended.outcome = Outcome::Budget;
    assert_eq!(found(&Error::<io::Error>::Stopped(ended)), None);
}

/// The errors of one version of `reqwest`.
#[cfg(feature = "_requests")]
macro_rules! requests {
    ($client:ident, $adapter:ident) => {{
        use crate::adapters::$adapter::RequestError;

        let refused = || ::$client::Client::new().get("no URL").build().unwrap_err();
        check(&RequestError::from(refused()), &refused());
        let busy = ::http::StatusCode::SERVICE_UNAVAILABLE;
        let busy = crate::adapters::http::StatusError::from_parts(busy, &::http::HeaderMap::new());
        let busy = busy.unwrap();
        check(&RequestError::from(busy.clone()), &busy);
        let text = busy.of("shop.example/pay".to_owned()).to_string();
        assert_eq!(text, "shop.example/pay answered 503 Service Unavailable");
        assert_eq!(
            RequestError::from(stopped()).to_string(),
            "the call was stopped (timeout, 2 attempts, 1s)"
        );
    }};
}

#[cfg(feature = "reqwest-0_13")]
#[test]
fn an_error_of_a_request_looks_like_the_error_inside() {
    requests!(reqwest, reqwest);
}

/// A function that returns a `RequestError` can have `on = "reqwest::Error"`.
#[cfg(feature = "reqwest-0_13")]
#[test]
fn the_error_of_the_client_is_found_in_that_of_a_request() {
    use crate::adapters::reqwest::RequestError;
    use crate::lookup::Failed;

    let failed = reqwest::Client::new().get("no URL").build().unwrap_err();
    let error = RequestError::from(failed);
    let search = Failed::new(&error, false).search::<reqwest::Error>();
    assert!(search.contains());
    let ended = Error::Failed(error);
    let search = Failed::new(&ended, false).search::<reqwest::Error>();
    assert!(search.contains());
}

#[cfg(feature = "reqwest-0_12")]
#[test]
fn an_error_of_an_older_request_looks_like_the_error_inside() {
    requests!(reqwest_0_12, reqwest_0_12);
}

/// Every client has the same `TransactionError`, so one client is enough.
#[cfg(feature = "tokio-postgres-0_7")]
#[test]
fn an_error_of_a_transaction_looks_like_the_error_inside() {
    use crate::adapters::tokio_postgres::{CommitError, TransactionError};

    let failed = || "port=none".parse::<tokio_postgres::Config>().unwrap_err();
    check(&TransactionError::Statement(failed()), &failed());
    let commit = TransactionError::Commit(CommitError(failed()));
    assert_eq!(
        commit.to_string(),
        format!("the commit failed: {}", failed())
    );
    let links = commit.source().map(ToString::to_string);
    assert_eq!(
        links.as_deref(),
        Some("the server did not confirm the commit")
    );
    let ended = TransactionError::<tokio_postgres::Error>::from(stopped());
    assert_eq!(
        ended.to_string(),
        "the call was stopped (timeout, 2 attempts, 1s)"
    );
}
