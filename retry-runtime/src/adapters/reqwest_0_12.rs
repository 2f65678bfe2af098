//! `reqwest` 0.12: failed requests, and responses whose status is a failure.
//!
//! `send()` returns `Ok` for a response of any status, and `error_for_status()` drops its `Retry-After`.
//! [`ResponseExt::check`] makes an error that keeps both. A function that returns the [`RequestError`] of
//! this module needs no rule in its attribute.
//!
//! Version 0.13 has a module of its own, `reqwest_0_13`.
//!
//! # Examples
//!
//! ```
//! # mod reattempt { pub use reattempt_runtime::adapters::reqwest_0_12; }
//! # use reqwest_0_12 as reqwest;
//! use reattempt::reqwest_0_12::{RequestError, ResponseExt as _};
//!
//! // #[reattempt::retry(timeout = "2s")]
//! async fn fetch(client: &reqwest::Client, url: &str) -> Result<String, RequestError> {
//!     let response = client.get(url).send().await?.check()?;
//!     Ok(response.text().await?)
//! }
//! ```

use ::reqwest_0_12 as client;

#[path = "reqwest/version.rs"]
mod version;

pub use self::version::{RequestError, RequestExt, ResponseExt, is_retryable};
