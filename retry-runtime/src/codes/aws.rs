//! The error codes of AWS.

use crate::classify::Verdict;

/// Returns the verdict of an error code of AWS, such as `ThrottlingException`.
///
/// Ask for the code first: throttling has the HTTP status 400 in many services, which is permanent. If the code is unknown
/// here, the [`http_status`](super::http_status()) decides. What the JSON protocols write around a code is ignored.
///
/// `TransactionCanceledException` has its reasons in its message: pass the message. If one of them cannot pass, such as
/// `ConditionalCheckFailed`, the result is unknown.
///
/// # Examples
///
/// ```
/// # use reattempt_runtime as reattempt;
/// use reattempt::{Verdict, codes};
///
/// assert_eq!(codes::aws("ThrottlingException"), Verdict::Throttled);
/// assert_eq!(codes::aws("com.amazonaws.dynamodb.v20120810#TransactionConflictException"), Verdict::Conflict);
/// let message = "Transaction cancelled, please refer cancellation reasons for specific reasons [None, TransactionConflict]";
/// assert_eq!(codes::aws(message), Verdict::Conflict);
/// // The status decides.
/// assert_eq!(codes::aws("ValidationException"), Verdict::Unknown);
/// ```
#[must_use]
pub fn aws(code: &str) -> Verdict {
    let Some((_, reasons)) = code.split_once("specific reasons [") else {
        return of(bare(code));
    };
    let reasons = reasons.split([',', ']']).map(str::trim);
    // An item whose own condition held has the reason "None".
    let failed = reasons
        .filter(|reason| !["", "None", "NONE"].contains(reason))
        .map(of);
    let worst =
        failed.min_by_key(|verdict| (verdict.is_retryable(), *verdict == Verdict::Conflict));
    worst.unwrap_or(Verdict::Unknown)
}

fn of(code: &str) -> Verdict {
    // The lists of the AWS SDK for Rust (`aws-runtime`, `retries/classifiers.rs`) were looked through on 2026-11-25. The other
    // codes are those of "Common Error Types" of the AWS API references, of DynamoDB and of Amazon S3 that we know of.
    match code {
        // What all SDKs of AWS retry as throttling. `LimitExceededException` is a rate in some services and a quota in others.
        "Throttling"
        | "ThrottlingException"
        | "ThrottledException"
        | "RequestThrottled"
        | "RequestThrottledException"
        | "TooManyRequestsException"
        | "ProvisionedThroughputExceededException"
        // The short forms are those of the `CancellationReasons` of a transaction of DynamoDB.
        | "ProvisionedThroughputExceeded"
        | "ThrottlingError"
        | "TransactionInProgressException"
        | "RequestLimitExceeded"
        | "BandwidthLimitExceeded"
        | "LimitExceededException"
        | "SlowDown"
        | "PriorRequestNotComplete"
        | "EC2ThrottledException"
        // SQS and Kinesis: the key service throttles them. The SDKs do not list it.
        | "KmsThrottled"
        | "KMSThrottlingException" => Verdict::Throttled,

        // The server did not get the whole request in time (400), or it failed (500, 503).
        "RequestTimeout"
        | "RequestTimeoutException"
        | "InternalError"
        | "InternalFailure"
        | "InternalServerError"
        | "InternalServerException"
        | "ServiceUnavailable"
        | "ServiceUnavailableException"
        // STS did not reach the identity provider (400), and asks for "a limited number" of retries.
        | "IDPCommunicationError" => Verdict::Transient,

        // Another request changes the same item or object at present, and this one was not done.
        "TransactionConflictException"
        | "TransactionConflict"
        | "ReplicatedWriteConflictException"
        | "OperationAborted"
        | "ConditionalRequestConflict" => Verdict::Conflict,

        // The status decides.
        _ => Verdict::Unknown,
    }
}

/// `ThrottlingException` of `com.amazonaws.dynamodb.v20120810#ThrottlingException:http://internal.amazon.com/…`.
fn bare(code: &str) -> &str {
    let code = code.split(':').next().unwrap_or(code);
    code.rsplit('#').next().unwrap_or(code).trim()
}
