//! A function that asks a server, as a page exports it. A feature chooses who retries it.

use std::fmt;

use js_sys::{Function, Promise};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen_futures::JsFuture;

/// What JavaScript throws.
#[derive(Debug)]
pub struct Failure(JsValue);

impl From<JsValue> for Failure {
    fn from(thrown: JsValue) -> Self {
        Self(thrown)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the server failed")
    }
}

#[cfg(feature = "limits")]
impl From<reattempt::Stopped> for Failure {
    fn from(_: reattempt::Stopped) -> Self {
        Self(JsValue::NULL)
    }
}

#[cfg_attr(
    all(feature = "retry", not(feature = "limits")),
    reattempt::retry(attempts = 4, when = |_| true)
)]
#[cfg_attr(
    feature = "limits",
    reattempt::retry(attempts = 4, timeout = "5s", deadline = "30s", when = |_| true)
)]
async fn once(server: &Function) -> Result<JsValue, Failure> {
    let answer = Promise::resolve(&server.call0(&JsValue::NULL)?);
    Ok(JsFuture::from(answer).await?)
}

/// Calls the function `server` until its promise resolves.
///
/// # Errors
///
/// - What the last promise was rejected with.
#[wasm_bindgen]
pub async fn ask(server: Function) -> Result<JsValue, JsValue> {
    #[cfg(feature = "backon")]
    let answer = {
        use backon::Retryable as _;
        let backoff = backon::ExponentialBuilder::new()
            .with_max_times(3)
            .with_jitter();
        (|| once(&server)).retry(backoff).await
    };
    #[cfg(not(feature = "backon"))]
    let answer = once(&server).await;
    answer.map_err(|failure| failure.0)
}
