//! What the errors of [`charge`] mean for a queue.

use std::time::Duration;

use integrations::loopback::{Answer, Loopback};
use reattempt::{Budget, Policy, Retryable as _, Verdict};

use crate::charge::{Payments, charge};
use crate::{client, customers};

/// The verdict after this answer.
async fn verdict(answer: Answer, policy: Policy) -> Verdict {
    let server = Loopback::start(vec![answer; 3].leak()).await;
    let payments = Payments {
        client: client("test").unwrap(),
        url: server.url(),
    };
    let charged = charge(&payments, policy, "key", &customers::order(1)).await;
    charged.unwrap_err().verdict()
}

#[tokio::test]
async fn only_a_declined_payment_is_permanent() {
    let once = Policy::new().with_attempts(1);
    for status in [401, 402, 404, 409, 422, 501, 503] {
        let head = format!("HTTP/1.1 {status} -\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
        let verdict = verdict(Answer::Bytes(head.leak().as_bytes()), once.clone()).await;
        let declined = [402, 422].contains(&status);
        assert_eq!(
            verdict == Verdict::Permanent,
            declined,
            "{status}: {verdict}"
        );
    }
}

#[tokio::test]
async fn a_call_that_its_budget_ended_says_nothing_about_the_payment() {
    let stopped = Policy::new()
        .with_timeout(Duration::from_millis(50))
        .with_budget(Budget::ratio(0.0).with_capacity(1).with_retry_cost(2));
    assert_eq!(verdict(Answer::Stall, stopped).await, Verdict::Unknown);
}
