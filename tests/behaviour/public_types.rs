//! What the API guidelines ask of every public type.

use std::fmt::{Debug, Display};
use std::io;

use reattempt::{
    Attempt, Backoff, Budget, Budgets, Error, IdempotencyKey, Jitter, Nested, Outcome, Policy,
    Preset, PreviousFailure, Report, RetryEvent, Stopped, Verdict,
};

fn crosses_threads<T: Send + Sync + Debug>() {}
fn can_be_debugged<T: Debug>() {}

#[test]
fn public_types_cross_threads_and_can_be_debugged() {
    crosses_threads::<Attempt>();
    crosses_threads::<Backoff>();
    crosses_threads::<Budget>();
    crosses_threads::<Budgets<String>>();
    crosses_threads::<Error<io::Error>>();
    crosses_threads::<IdempotencyKey>();
    crosses_threads::<Jitter>();
    crosses_threads::<Nested>();
    crosses_threads::<Outcome>();
    crosses_threads::<Policy>();
    crosses_threads::<Preset>();
    crosses_threads::<PreviousFailure>();
    crosses_threads::<Report>();
    // It refers to the text of the error, which need not be `Sync`.
    can_be_debugged::<RetryEvent<'_, io::Error>>();
    crosses_threads::<Stopped>();
    crosses_threads::<Verdict>();
    #[cfg(feature = "http-1")]
    crosses_threads::<reattempt::http_1::StatusError>();
    #[cfg(feature = "reqwest-0_13")]
    crosses_threads::<reattempt::reqwest_0_13::RequestError>();
    #[cfg(feature = "tokio-postgres-0_7")]
    {
        use reattempt::tokio_postgres_0_7::{CommitError, TransactionError};
        crosses_threads::<CommitError<io::Error>>();
        crosses_threads::<TransactionError<io::Error>>();
    }
    #[cfg(feature = "serde")]
    {
        crosses_threads::<reattempt::Settings>();
        crosses_threads::<reattempt::SettingsError>();
    }
    #[cfg(feature = "testing")]
    {
        crosses_threads::<reattempt::testing::Log>();
        crosses_threads::<reattempt::testing::Scope>();
    }
}

#[test]
fn a_word_fills_the_column_that_it_is_given() {
    let words: [&dyn Display; 5] = [
        &Backoff::Linear,
        &Jitter::Full,
        &Nested::Add,
        &Outcome::Budget,
        &Verdict::Refused,
    ];
    for word in words {
        assert_eq!(format!("{word:<12}|").find('|'), Some(12), "{word}");
    }
}
