//! How often an operation runs if it always fails, below two layers of four attempts.

use std::cell::Cell;
use std::io;
use std::time::Duration;

use tokio::runtime::Builder;

/// How often an operation runs if it always fails.
fn runs<F: Future>(call: impl FnOnce(&'static Cell<u32>) -> F) -> u32 {
    let runs = Box::leak(Box::new(Cell::new(0)));
    let runtime = Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build();
    drop(runtime.unwrap().block_on(call(runs)));
    runs.get()
}

fn fail(runs: &Cell<u32>) -> io::Result<()> {
    runs.set(runs.get() + 1);
    Err(io::ErrorKind::ConnectionReset.into())
}

#[test]
fn four_attempts_around_four_make_7_calls_here() {
    #[reattempt::retry(attempts = 4)]
    async fn inner(runs: &Cell<u32>) -> io::Result<()> {
        fail(runs)
    }
    #[reattempt::retry(attempts = 4)]
    async fn outer(runs: &Cell<u32>) -> io::Result<()> {
        inner(runs).await
    }
    assert_eq!(runs(outer), 7);
}

#[test]
fn they_make_16_calls_with_backon() {
    use backon::{ExponentialBuilder, Retryable as _};
    assert_eq!(
        runs(|runs| (move || {
            (move || async { fail(runs) })
                .retry(ExponentialBuilder::default())
                .into_future()
        })
        .retry(ExponentialBuilder::default())
        .into_future()),
        16
    );
}

#[test]
fn they_make_16_calls_with_mettle() {
    assert_eq!(
        runs(|runs| async move {
            mettle::retry(|| async { mettle::retry(|| async { fail(runs) }).await }).await
        }),
        16
    );
}

#[test]
fn they_make_16_calls_with_tokio_retry() {
    use tokio_retry::Retry;
    let waits = || [Duration::from_millis(10); 3];
    assert_eq!(
        runs(|runs| Retry::start(waits(), move || {
            Retry::start(waits(), move || async { fail(runs) })
        })),
        16
    );
}

#[test]
fn they_make_16_calls_with_tokio_retry2() {
    use tokio_retry2::{Retry, RetryError};
    let waits = || [Duration::from_millis(10); 3];
    assert_eq!(
        runs(|runs| Retry::spawn(waits(), move || async move {
            let inner = Retry::spawn(waits(), || async {
                fail(runs)?;
                Ok::<_, RetryError<io::Error>>(())
            });
            inner.await?;
            Ok::<_, RetryError<io::Error>>(())
        })),
        16
    );
}

#[test]
fn they_make_16_calls_with_tower() {
    use tower::retry::{Policy, RetryLayer};
    use tower::{ServiceBuilder, ServiceExt as _, service_fn};

    #[derive(Clone)]
    struct Attempts(usize);

    impl Policy<(), (), io::Error> for Attempts {
        type Future = tokio::time::Sleep;

        fn retry(
            &mut self,
            (): &mut (),
            result: &mut io::Result<()>,
        ) -> Option<tokio::time::Sleep> {
            self.0 = self.0.checked_sub(1)?;
            let wait = tokio::time::sleep(Duration::from_millis(10));
            result.is_err().then_some(wait)
        }

        fn clone_request(&mut self, (): &()) -> Option<()> {
            Some(())
        }
    }

    assert_eq!(
        runs(|runs| async {
            let service = ServiceBuilder::new()
                .layer(RetryLayer::new(Attempts(3)))
                .layer(RetryLayer::new(Attempts(3)))
                .service(service_fn(|()| async { fail(runs) }));
            service.oneshot(()).await
        }),
        16
    );
}
