//! The error codes of Kafka.

use super::CodeNumber;
use crate::classify::Verdict;

/// Returns the verdict of an error code of the Kafka protocol, such as 7 for `REQUEST_TIMED_OUT`.
///
/// Up to 106, it follows the column "retriable" of the [protocol guide](https://kafka.apache.org/protocol#protocol_error_codes), but
/// not where another attempt cannot help: 84, `ELECTION_NOT_NEEDED`, is unknown, as are later codes. That a group is about to change, or
/// that another member took over, is permanent: the consumer has to join again, which is no retry. A client such as `librdkafka`
/// retries by itself: count that in.
///
/// # Examples
///
/// ```
/// # use reattempt_runtime as reattempt;
/// use reattempt::{Verdict, codes};
///
/// assert_eq!(codes::kafka(6), Verdict::Transient); // NOT_LEADER_OR_FOLLOWER
/// assert_eq!(codes::kafka(19), Verdict::Refused); // NOT_ENOUGH_REPLICAS
/// assert_eq!(codes::kafka(89), Verdict::Throttled); // THROTTLING_QUOTA_EXCEEDED
/// assert_eq!(codes::kafka(82), Verdict::Permanent); // FENCED_INSTANCE_ID
/// ```
#[must_use]
pub fn kafka(code: impl CodeNumber) -> Verdict {
    // The table of 3.9 and its copy in franz-go (`pkg/kerr/kerr.go`, 1018e9d0), up to code 100, were read on 2026-11-27, and the broker
    // (apache/kafka, 02aa7f00 and 011ccbed). The copy calls 90, PRODUCER_FENCED, retriable, which is so for no request of this
    // producer. For 101 to 106, the exceptions of the client were read (`common/errors`, 2eebaa36).
    match code.code_number() {
        // NOT_ENOUGH_REPLICAS is checked before the records are appended (`Partition.appendRecordsToLeader`).
        19 => Verdict::Refused,
        // QUEUE_FULL of `librdkafka` itself: the message is not in its queue (`rdkafka.h`).
        -184 => Verdict::Refused,

        // CORRUPT_MESSAGE, REQUEST_TIMED_OUT, NETWORK_EXCEPTION
        2 | 7 | 13 => Verdict::Transient,
        // UNKNOWN_TOPIC_OR_PARTITION, LEADER_NOT_AVAILABLE, NOT_LEADER_OR_FOLLOWER, REPLICA_NOT_AVAILABLE. A leader that loses its
        // partition while it waits for the replicas says so of records that were appended (`DelayedProduce.tryComplete`).
        3 | 5 | 6 | 9 => Verdict::Transient,
        // COORDINATOR_LOAD_IN_PROGRESS, COORDINATOR_NOT_AVAILABLE, NOT_COORDINATOR: also for what was appended to its log
        // (`TransactionStateManager`). NOT_CONTROLLER
        14..=16 | 41 => Verdict::Transient,
        // NOT_ENOUGH_REPLICAS_AFTER_APPEND, CONCURRENT_TRANSACTIONS, KAFKA_STORAGE_ERROR, LISTENER_NOT_FOUND, UNKNOWN_TOPIC_ID
        20 | 51 | 56 | 72 | 100 => Verdict::Transient,
        // FETCH_SESSION_ID_NOT_FOUND, INVALID_FETCH_SESSION_EPOCH, FENCED_LEADER_EPOCH, UNKNOWN_LEADER_EPOCH,
        // OFFSET_NOT_AVAILABLE, PREFERRED_LEADER_NOT_AVAILABLE, ELIGIBLE_LEADERS_NOT_AVAILABLE, UNSTABLE_OFFSET_COMMIT,
        // INCONSISTENT_TOPIC_ID, FETCH_SESSION_TOPIC_ID_ERROR
        70 | 71 | 74 | 75 | 78 | 80 | 83 | 88 | 103 | 106 => Verdict::Transient,

        // THROTTLING_QUOTA_EXCEEDED
        89 => Verdict::Throttled,

        // UNKNOWN_SERVER_ERROR, NONE, OPERATION_NOT_ATTEMPTED, REASSIGNMENT_IN_PROGRESS, ELECTION_NOT_NEEDED
        -1 | 0 | 55 | 60 | 84 => Verdict::Unknown,
        // Not retriable: the request, the group (22, 25, 27, 79, 82) or the producer (45 to 49, 59, 90) is at fault.
        1..=105 => Verdict::Permanent,
        _ => Verdict::Unknown,
    }
}
