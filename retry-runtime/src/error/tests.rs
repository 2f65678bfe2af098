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
        source: Some(io::Error::from(io::ErrorKind::ConnectionReset).into()),
    }
}

/// Checks that a wrapper follows the rule of [`Error`] for text and source.
#[track_caller]
fn check(wrapper: &(impl StdError + 'static), text: &str) {
    assert_eq!(wrapper.to_string(), text);
    let source = wrapper.source().expect("the error inside is the source");
    let inner = source.to_string();
    assert!(!text.contains(&inner), "`{text}` repeats `{inner}`");
}

#[test]
fn an_error_says_what_failed_and_leaves_the_rest_to_its_source() {
    check(
        &Error::Failed(io::Error::from(io::ErrorKind::NotFound)),
        "the last attempt failed",
    );
    let error = Error::<io::Error>::Stopped(stopped());
    check(&error, "the call was stopped (timeout)");
    let link = error
        .source()
        .and_then(|link| link.downcast_ref::<Stopped>());
    assert!(link.is_some(), "the `Stopped` is a link of its own");
    check(&stopped(), "timed out after 1s (2 attempts, 1s)");
}

/// The errors of one version of `reqwest`.
#[cfg(any(feature = "reqwest", feature = "reqwest-0_12"))]
macro_rules! requests {
    ($client:ident, $adapter:ident) => {{
        use crate::adapters::$adapter::RequestError;

        let refused = ::$client::Client::new().get("no URL").build().unwrap_err();
        let url = "http://user:secret@shop.example/pay".parse().unwrap();
        let sent = ::$client::Client::new().get("no URL").build().unwrap_err();
        check(&RequestError::from(refused), "the request failed");
        check(
            &RequestError::from(sent.with_url(url)),
            "the request to shop.example failed",
        );
        let busy = ::http::StatusCode::SERVICE_UNAVAILABLE;
        let busy = crate::adapters::http::StatusError::from_parts(busy, &::http::HeaderMap::new());
        check(
            &RequestError::from(busy.unwrap()),
            "the response is a failure (503)",
        );
        check(
            &RequestError::from(stopped()),
            "the call was stopped (timeout)",
        );
    }};
}

#[cfg(feature = "reqwest")]
#[test]
fn an_error_of_a_request_says_what_failed_and_leaves_the_rest_to_its_source() {
    requests!(reqwest, reqwest);
}

/// A function that returns a `RequestError` can have `on = "reqwest::Error"`.
#[cfg(feature = "reqwest")]
#[test]
fn the_error_of_the_client_is_found_in_that_of_a_request() {
    use crate::adapters::reqwest::RequestError;
    use crate::lookup::Failed;

    let failed = reqwest::Client::new().get("no URL").build().unwrap_err();
    let error = RequestError::from(failed);
    let search = Failed::new(&error, false).search::<reqwest::Error>();
    assert!(search.contains());
}

#[cfg(feature = "reqwest-0_12")]
#[test]
fn an_error_of_an_older_request_says_what_failed_and_leaves_the_rest_to_its_source() {
    requests!(reqwest_0_12, reqwest_0_12);
}

/// Every client has the same `TransactionError`, so one client is enough.
#[cfg(feature = "tokio-postgres")]
#[test]
fn an_error_of_a_transaction_says_what_failed_and_leaves_the_rest_to_its_source() {
    use crate::adapters::tokio_postgres::{CommitError, TransactionError};

    let failed = || "port=none".parse::<tokio_postgres::Config>().unwrap_err();
    check(
        &TransactionError::Statement(failed()),
        "the transaction failed and was rolled back",
    );
    check(
        &TransactionError::Commit(CommitError(failed())),
        "the commit failed",
    );
    check(
        &CommitError(failed()),
        "the server did not confirm the commit",
    );
    check(
        &TransactionError::<tokio_postgres::Error>::from(stopped()),
        "the call was stopped (timeout)",
    );
}
