//! Tests the verdicts and the rulings.

use std::error::Error;
use std::io::{self, ErrorKind};
use std::time::Duration;

use super::*;
use crate::lookup::Failed;

/// What generated code writes for the verdict of an error.
macro_rules! said {
    ($error:expr) => {
        Failed::new($error).said()
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
    assert_eq!(said!(&reset()), Said::new(Verdict::Transient));
    assert_eq!(said!(&Box::new(missing())), Said::new(Verdict::Permanent));
    assert_eq!(said!(&Plain), Said::new(Verdict::Throttled));
    assert_eq!(said!(&Silent), Said::UNKNOWN);
    assert_eq!(
        said!(&App::from(reset())),
        Said::UNKNOWN,
        "a probe does not search inside the error"
    );
    assert_eq!(said!("unsized"), Said::UNKNOWN);
    let boxed: Box<dyn Error> = reset().into();
    assert_eq!(said!(&boxed), Said::UNKNOWN);
    let retryable: Box<dyn Retryable> = Box::new(reset());
    assert_eq!(said!(&retryable), Said::new(Verdict::Transient));
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
        let ruling = Ruling::by(Said::new(verdict));
        assert_eq!(ruling.retry, retry, "{verdict}");
        assert_eq!(
            ruling.only_without_effect().retry,
            when_not_idempotent,
            "{verdict}"
        );
        assert_eq!(ruling.only_without_effect().said, ruling.said, "{verdict}");
        assert_eq!(
            Ruling::retry(Said::new(verdict))
                .only_without_effect()
                .retry,
            when_not_idempotent,
            "{verdict}"
        );
        assert!(
            !Ruling::stop(Said::new(verdict)).only_without_effect().retry,
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
    assert_eq!(verdict_of(&Gone), Said::new(Verdict::Permanent));
}
