//! Two versions of the crate in one program do not see each other, as `docs/LIBRARIES.md` says.

use std::io;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use other_version::Policy as OtherPolicy;
use reattempt::Policy;

/// Makes four attempts around four, and returns how often the innermost body ran.
macro_rules! nested {
    ($outer:ident, $inner:ident) => {{
        let calls = AtomicU32::new(0);
        let body = async || {
            calls.fetch_add(1, Ordering::Relaxed);
            Err::<(), _>(io::Error::from(io::ErrorKind::ConnectionReset))
        };
        let inner = $inner::new().with_attempts(4);
        let around = async || inner.run(body).await;
        let outer = $outer::new().with_attempts(4);
        outer.run(around).unboxed().await.unwrap_err();
        calls.into_inner()
    }};
}

#[tokio::test(start_paused = true)]
async fn retries_of_two_versions_multiply() {
    assert_eq!(nested!(Policy, Policy), 7);
    assert_eq!(nested!(Policy, OtherPolicy), 16);
    assert_eq!(nested!(OtherPolicy, Policy), 16);
}

#[tokio::test(start_paused = true)]
async fn a_call_of_another_version_does_not_inherit_the_deadline() {
    let around = reattempt::deadline::scope(Duration::from_secs(1), async {
        (
            reattempt::deadline::remaining(),
            other_version::deadline::remaining(),
        )
    });
    assert_eq!(around.await, (Some(Duration::from_secs(1)), None));
}
