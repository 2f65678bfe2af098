//! Tests that `on` ends at a transaction that may have taken effect, in every wrapper and with every client.

use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::time::Duration;

use super::*;
use crate::classify::Assessment;
use crate::lookup::find_in;
use crate::stopped::{CutEffect, Effect, Outcome};

type Dynamic = Box<dyn Error + Send + Sync>;

#[derive(Debug, thiserror::Error)]
enum App {
    #[error("a source")]
    Source(#[source] Dynamic),
    #[error("a source that others hold too")]
    Shared(#[source] Arc<dyn Error + Send + Sync>),
}

/// The chain leaves out the error inside.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
struct Hidden<E: Error + 'static>(E);

/// The error in every wrapper.
fn wrapped<E: Error + Send + Sync + 'static>(
    error: impl Fn() -> E,
) -> Vec<(&'static str, Dynamic)> {
    let reset = |inside: Dynamic| io::Error::new(ErrorKind::ConnectionReset, inside);
    vec![
        ("itself", Box::new(error())),
        ("Box", Box::new(Box::new(error()))),
        ("Arc", Box::new(Arc::new(error()))),
        ("Box of Arc", Box::new(Box::new(Arc::new(error())))),
        (
            "anyhow",
            anyhow::Error::new(error()).context("1").context("2").into(),
        ),
        (
            "eyre",
            eyre::Report::new(error())
                .wrap_err("1")
                .wrap_err("2")
                .into(),
        ),
        ("enum", App::Source(error().into()).into()),
        (
            "enum in enum",
            App::Source(App::Source(error().into()).into()).into(),
        ),
        ("Arc<dyn Error>", App::Shared(Arc::new(error())).into()),
        ("an io::Error of a kind", reset(error().into()).into()),
        ("io::Error::other", io::Error::other(error()).into()),
        ("reattempt::Error", crate::Error::Failed(error()).into()),
        ("transparent", Hidden(error()).into()),
        ("transparent twice", Hidden(Hidden(error())).into()),
        (
            "transparent in anyhow",
            anyhow::Error::new(Hidden(error())).context("1").into(),
        ),
        (
            "transparent in an io::Error",
            reset(Hidden(error()).into()).into(),
        ),
    ]
}

fn find<A: Error + 'static>(error: &Dynamic) -> Option<Assessment> {
    find_in::<A>(&**error, false, |_| Assessment::UNKNOWN)
}

/// `on` finds nothing, whatever type it names: one behind the error, the error itself, or one around it.
#[track_caller]
fn ends<E: Error + Send + Sync + 'static>(error: impl Fn() -> TransactionError<E>) {
    for (wrapper, error) in wrapped(error) {
        let found = [
            find::<io::Error>(&error),
            find::<E>(&error),
            find::<CommitError<E>>(&error),
            find::<TransactionError<E>>(&error),
            find::<App>(&error),
            find::<Hidden<TransactionError<E>>>(&error),
            find::<crate::Error<TransactionError<E>>>(&error),
        ];
        assert_eq!(found, [None; 7], "{wrapper}");
        let harmless = find_in::<E>(&*error, true, |_| Assessment::UNKNOWN);
        assert!(harmless.is_some(), "{wrapper}");
    }
}

/// A call that reached its deadline. The error of an earlier attempt is its source.
fn stopped(earlier: impl Into<Dynamic>) -> Stopped {
    Stopped {
        outcome: Outcome::Deadline,
        attempts: 2,
        elapsed: Duration::from_secs(1),
        limit: Some(Duration::from_secs(1)),
        not_ready: false,
        may_have_run: true,
        source: Some(earlier.into()),
    }
}

/// Tests one client.
#[track_caller]
fn check<E: Error + Send + Sync + 'static>(lost: impl Fn() -> E) {
    ends(|| TransactionError::Commit(CommitError(lost())));
    // Before the commit, nothing took effect. A wrapper that hides the `TransactionError` hides that too.
    let hides = |wrapper: &str| wrapper.contains("transparent") || wrapper == "Box of Arc";
    for (wrapper, error) in wrapped(|| TransactionError::Statement(lost())) {
        assert_eq!(find::<E>(&error).is_none(), hides(wrapper), "{wrapper}");
    }
    // Alone, it may be that of a commit.
    for (wrapper, error) in wrapped(&lost) {
        let found = [
            find::<io::Error>(&error),
            find::<E>(&error),
            find::<crate::Error<E>>(&error),
        ];
        if !hides(wrapper) {
            assert_eq!(found, [None; 3], "{wrapper}");
            let harmless = find_in::<E>(&*error, true, |_| Assessment::UNKNOWN);
            assert!(harmless.is_some(), "{wrapper}");
        }
    }
    // The limit may have cut a commit that is not the adapter's.
    let by_a_limit = || TransactionError::<E>::Stopped(stopped(lost()));
    for error in [
        Dynamic::from(by_a_limit()),
        anyhow::Error::new(by_a_limit()).context("1").into(),
        io::Error::other(by_a_limit()).into(),
    ] {
        assert_eq!(find::<E>(&error), None, "{error:?}");
    }
}

#[test]
fn a_commit_that_a_limit_cut_ends_the_search() {
    let reset = || io::Error::from(ErrorKind::ConnectionReset);
    let cut = || Stopped {
        source: Some(CutEffect::of(Effect::Commit).into()),
        ..stopped("")
    };
    for (wrapper, error) in wrapped(|| cut().with_source(reset().into())) {
        let found = [
            find::<io::Error>(&error),
            find::<Stopped>(&error),
            find::<Hidden<Stopped>>(&error),
        ];
        assert_eq!(found, [None; 3], "{wrapper}");
    }
    // There was no earlier attempt.
    for (wrapper, error) in wrapped(cut) {
        let found = [find::<Stopped>(&error), find::<Hidden<Stopped>>(&error)];
        assert_eq!(found, [None; 2], "{wrapper}");
    }
    let harmless = find_in::<Stopped>(&cut(), true, Assessment::of);
    assert_eq!(harmless, Some(Assessment::UNKNOWN));
    // No commit was cut.
    for (wrapper, error) in wrapped(|| stopped(reset())) {
        assert!(find::<io::Error>(&error).is_some(), "{wrapper}");
    }
}

#[cfg(feature = "sqlx-0_9")]
#[test]
fn a_commit_of_sqlx_that_may_have_taken_effect_ends_the_search() {
    check(|| sqlx_core::Error::Io(ErrorKind::ConnectionReset.into()));
}

#[cfg(feature = "sqlx-0_8")]
#[test]
fn a_commit_of_sqlx_0_8_that_may_have_taken_effect_ends_the_search() {
    check(|| sqlx_core_0_8::Error::Io(ErrorKind::ConnectionReset.into()));
}

#[cfg(feature = "sea-orm-2")]
#[test]
fn a_commit_of_sea_orm_that_may_have_taken_effect_ends_the_search() {
    use sea_orm::error::{DbErr, RuntimeErr};
    check(|| {
        let lost = sqlx_core::Error::Io(ErrorKind::ConnectionReset.into());
        DbErr::Exec(RuntimeErr::SqlxError(lost.into()))
    });
}

#[cfg(feature = "tokio-postgres-0_7")]
#[test]
fn a_commit_of_tokio_postgres_that_may_have_taken_effect_ends_the_search() {
    use futures::FutureExt as _;
    check(|| {
        let (stream, _) = tokio::io::duplex(64);
        let config = tokio_postgres::Config::new();
        let connected = config.connect_raw(stream, tokio_postgres::NoTls);
        let connected = connected.now_or_never().expect("the server is gone");
        connected.err().expect("the server is gone")
    });
}

/// The server says that the commit did not take effect, so the search goes on.
#[cfg(feature = "sqlx-0_9")]
#[test]
fn a_commit_that_the_server_refused_does_not_end_the_search() {
    let busy = || sqlx_core::Error::PoolClosed;
    assert_eq!(busy().verdict(), Verdict::Permanent);
    for (wrapper, error) in wrapped(|| TransactionError::Commit(CommitError(busy()))) {
        let found = find::<sqlx_core::Error>(&error);
        assert!(found.is_some(), "{wrapper}");
    }
}

#[cfg(feature = "sqlx-0_9")]
#[test]
fn a_commit_is_not_repeated_if_on_names_the_type_of_the_function() {
    use crate::lookup::Failed;

    let commit = CommitError(sqlx_core::Error::Io(ErrorKind::ConnectionReset.into()));
    let error = TransactionError::Commit(commit);
    let found = Failed::new(&error, false).search::<TransactionError<sqlx_core::Error>>();
    assert_eq!(found.find(), None);
    let cut = Stopped {
        source: Some(CutEffect::of(Effect::Commit).into()),
        ..stopped("nothing")
    };
    let found = Failed::new(&cut, false).search::<Stopped>();
    assert_eq!(found.find(), None);
}

#[cfg(feature = "sqlx-0_9")]
#[expect(unreachable_pub, reason = "the `commit` of a client is public")]
mod client {
    use std::future::{Ready, ready};

    use sqlx_core::Error;

    use super::*;

    /// A transaction whose commit fails so.
    pub(super) struct Fails(pub(super) Error);

    impl Fails {
        fn commit(self) -> Ready<Result<(), Error>> {
            ready(Err(self.0))
        }
    }

    commits!(Error, Fails);
}

#[cfg(feature = "sqlx-0_9")]
#[tokio::test]
async fn a_commit_that_fails_says_so() {
    use sqlx_core::Error::PoolClosed;

    let refused = client::commit(client::Fails(PoolClosed)).await;
    assert!(
        matches!(
            refused,
            Err(TransactionError::Commit(CommitError(PoolClosed)))
        ),
        "{refused:?}"
    );
}
