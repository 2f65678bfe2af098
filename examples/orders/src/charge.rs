//! The call to the payment service, and what its failures say about the payment.

use std::time::Duration;

use reattempt::http_1::IDEMPOTENCY_KEY;
use reattempt::reqwest_0_13::{RequestError, RequestExt as _, ResponseExt as _};
use reattempt::{Policy, Retryable, Verdict, retry};
use reqwest::Client;
use serde::{Deserialize, Serialize};

/// What is paid for. The payment service has to get the same text with the same key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Order {
    pub(crate) number: u32,
    pub(crate) card: String,
    pub(crate) cents: u32,
}

/// Where the payments go.
#[derive(Clone, Debug)]
pub(crate) struct Payments {
    pub(crate) client: Client,
    pub(crate) url: String,
}

/// Why a payment was not made.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ChargeError {
    /// The payment itself is wrong.
    #[error("the payment service declined")]
    Declined,
    /// There was no answer, or one that says nothing about the payment.
    #[error(transparent)]
    Failed(RequestError),
}

/// Errors of `reqwest`, statuses, and the `Stopped` of a call that reached a limit.
impl<E: Into<RequestError>> From<E> for ChargeError {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

/// The verdict decides twice: whether this call makes another attempt, and whether the payment has a future.
impl Retryable for ChargeError {
    fn verdict(&self) -> Verdict {
        match self {
            // Tomorrow the answer is the same.
            Self::Declined => Verdict::Permanent,
            Self::Failed(error) => match error.verdict() {
                // More attempts of this call are no use: its budget is empty, the password is wrong, or another call
                // has the key (409). But that is not the fault of the payment, so the queue must not bury it.
                Verdict::Permanent => Verdict::Unknown,
                verdict => verdict,
            },
        }
    }

    fn hint(&self) -> Option<Duration> {
        match self {
            Self::Declined => None,
            Self::Failed(error) => error.hint(),
        }
    }
}

/// Charges an order, once for each key.
///
/// The handler and the worker call it with the same key, and each with the policy that suits its own caller.
#[retry(policy = policy)]
pub(crate) async fn charge(
    payments: &Payments,
    policy: Policy,
    key: &str,
    order: &Order,
) -> Result<(), ChargeError> {
    let request = payments.client.post(&payments.url).json(order);
    let request = request.header(IDEMPOTENCY_KEY, key).attempt_headers();
    let answer = request.send().await?;
    if matches!(answer.status().as_u16(), 402 | 422) {
        return Err(ChargeError::Declined);
    }
    answer.check()?;
    Ok(())
}
