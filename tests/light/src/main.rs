//! Retries without macros: `.ci/run` builds it by itself, so that no other package turns the feature on.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use http::{Request, Response, StatusCode};
use http_body_util::Empty;
use reattempt::tower_0_5::RetryLayer;
use reattempt::{Preset, Retryable, SLOW_IO, Settings, Stopped, Verdict, configure};
use tower::{Layer as _, service_fn};

static SHOP: Preset = Preset::new("shop", SLOW_IO);

#[derive(Debug)]
enum Failure {
    Busy,
    Stopped(Stopped),
}

impl Retryable for Failure {
    fn verdict(&self) -> Verdict {
        match self {
            Self::Busy => Verdict::Throttled,
            Self::Stopped(stopped) => stopped.verdict(),
        }
    }
}

impl From<Stopped> for Failure {
    fn from(stopped: Stopped) -> Self {
        Self::Stopped(stopped)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

#[tokio::main(flavor = "current_thread", start_paused = true)]
async fn main() {
    let settings: Settings = toml::from_str("attempts = 4").expect("settings");
    configure([(&SHOP, settings)]).expect("settings of a policy");

    let attempts = AtomicU32::new(0);
    let asked = SHOP.policy().run(async || {
        attempts.fetch_add(1, Relaxed);
        Err::<(), _>(Failure::Busy)
    });
    assert!(matches!(asked.await, Err(Failure::Busy)));
    assert_eq!(attempts.into_inner(), 4, "the settings say so");

    let requests = Arc::new(AtomicU32::new(0));
    let known = Arc::clone(&requests);
    let server = service_fn(move |_: Request<Empty<&[u8]>>| {
        let known = Arc::clone(&known);
        async move {
            let mut answer = Response::new(Empty::<&[u8]>::new());
            if known.fetch_add(1, Relaxed) < 2 {
                *answer.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
            }
            Ok::<_, Stopped>(answer)
        }
    });
    let layer = RetryLayer::new(SHOP.policy().without_limits());
    let request = Request::get("http://shop.example/").body(Empty::new());
    let answer = layer.layer(server).oneshot(request.expect("a request"));
    assert_eq!(answer.await.expect("an answer").status(), StatusCode::OK);
    assert_eq!(requests.load(Relaxed), 3);
    println!("retries without macros: ok");
}
