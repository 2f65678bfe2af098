//! Tests the verdicts and the rulings.

use std::error::Error;
use std::io::{self, ErrorKind};
use std::time::Duration;

use super::*;
use crate::lookup::Failed;

/// What generated code writes for the verdict of an error.
macro_rules! assessment {
    ($error:expr) => {
        Failed::new($error, false).assessment()
    };
}

fn reset() -> io::Error {
    ErrorKind::ConnectionReset.into()
}

fn missing() -> io::Error {
    ErrorKind::NotFound.into()
}

#[derive(Debug, thiserror::Error)]
#[error("i/o")]
struct App(#[from] io::Error);

/// Neither `std::error::Error` nor `Debug`.
struct Plain;

impl Retryable for Plain {
    fn verdict(&self) -> Verdict {
        Verdict::Throttled
    }
}

struct Silent;

#[test]
fn a_verdict_is_shown_as_its_name() {
    let verdicts = [Verdict::Transient, Verdict::Unknown];
    let shown = verdicts.map(|verdict| format!("{verdict:>9}"));
    assert_eq!(shown, ["transient", "  unknown"]);
}

#[test]
fn a_probe_finds_the_verdict_where_there_is_one() {
    assert_eq!(assessment!(&reset()), Assessment::new(Verdict::Transient));
    assert_eq!(
        assessment!(&Box::new(missing())),
        Assessment::new(Verdict::Permanent)
    );
    assert_eq!(assessment!(&Plain), Assessment::new(Verdict::Throttled));
    assert_eq!(assessment!(&Silent), Assessment::UNKNOWN);
    assert_eq!(
        assessment!(&App::from(reset())),
        Assessment::UNKNOWN,
        "a probe does not search inside the error"
    );
    assert_eq!(assessment!("unsized"), Assessment::UNKNOWN);
    let boxed: Box<dyn Error> = reset().into();
    assert_eq!(assessment!(&boxed), Assessment::UNKNOWN);
    let retryable: Box<dyn Retryable> = Box::new(reset());
    assert_eq!(assessment!(&retryable), Assessment::new(Verdict::Transient));
}

#[test]
fn without_a_rule_the_verdict_decides() {
    for (verdict, retry, when_not_idempotent) in [
        (Verdict::Transient, true, false),
        (Verdict::Throttled, true, false),
        (Verdict::Refused, true, true),
        (Verdict::Conflict, true, true),
        (Verdict::Permanent, false, false),
        (Verdict::Unknown, false, false),
    ] {
        let ruling = Ruling::by(Assessment::new(verdict), false);
        assert_eq!(ruling.retry, retry, "{verdict}");
        assert_eq!(
            ruling.only_without_effect().retry,
            when_not_idempotent,
            "{verdict}"
        );
        assert_eq!(
            ruling.only_without_effect().verdict,
            ruling.verdict,
            "{verdict}"
        );
        assert_eq!(
            Ruling::retry(Assessment::new(verdict))
                .only_without_effect()
                .retry,
            when_not_idempotent,
            "{verdict}"
        );
        assert!(
            !Ruling::stop(Assessment::new(verdict))
                .only_without_effect()
                .retry,
            "{verdict}"
        );
    }
    assert!(Ruling::failed_value(Verdict::Transient, None).retry);
    assert!(
        !Ruling::failed_value(Verdict::Transient, None)
            .only_without_effect()
            .retry
    );
}

#[test]
fn a_permanent_error_is_not_asked_for_a_hint() {
    struct Gone;
    impl Retryable for Gone {
        fn verdict(&self) -> Verdict {
            Verdict::Permanent
        }
        fn hint(&self) -> Option<Duration> {
            panic!("asked")
        }
    }
    assert_eq!(verdict_of(&Gone), Assessment::new(Verdict::Permanent));
}

#[test]
fn a_commit_is_in_doubt_unless_the_server_said_that_it_failed() {
    /// It may come from what was read, or from the connection, which was open.
    #[derive(Debug, thiserror::Error)]
    #[error("commit")]
    struct Lost(Verdict, #[source] Option<io::Error>);
    impl Retryable for Lost {
        fn verdict(&self) -> Verdict {
            self.0
        }
    }
    impl super::Lost for Lost {
        fn is_lost(&self) -> bool {
            false
        }
    }
    for (verdict, said, read) in [
        (Verdict::Transient, true, true),
        (Verdict::Throttled, true, true),
        (Verdict::Refused, false, true),
        (Verdict::Conflict, false, false),
        (Verdict::Permanent, false, true),
        (Verdict::Unknown, true, true),
    ] {
        assert_eq!(Lost(verdict, None).is_in_doubt(), said, "{verdict}");
        let error = Lost(verdict, Some(missing()));
        assert_eq!(error.is_in_doubt(), read, "{verdict}");
    }
}
