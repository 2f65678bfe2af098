//! `#[derive(Retryable)]`: the verdict of each word, on each shape of type.

use std::borrow::Cow;
use std::fmt::Debug;
use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::time::Duration;

use reattempt::{Retryable, Verdict};

use crate::script::reset;

const SECOND: Duration = Duration::from_secs(1);

fn said(error: &impl Retryable) -> (Verdict, Option<Duration>) {
    (error.verdict(), error.hint())
}

#[derive(Retryable)]
enum Words {
    #[retryable(transient)]
    Transient,
    #[retryable(throttled)]
    Throttled(#[expect(dead_code, reason = "only there to be matched")] u8),
    #[retryable(refused)]
    Refused {
        #[expect(dead_code, reason = "only there to be matched")]
        place: u8,
    },
    #[retryable(conflict)]
    Conflict,
    #[retryable(permanent)]
    Permanent,
    #[retryable(unknown)]
    Unknown,
}

#[test]
fn each_word_is_a_verdict() {
    for (error, verdict) in [
        (Words::Transient, Verdict::Transient),
        (Words::Throttled(1), Verdict::Throttled),
        (Words::Refused { place: 1 }, Verdict::Refused),
        (Words::Conflict, Verdict::Conflict),
        (Words::Permanent, Verdict::Permanent),
        (Words::Unknown, Verdict::Unknown),
    ] {
        assert_eq!(said(&error), (verdict, None));
    }
}

/// An error with a hint, like those of the adapters.
#[derive(Debug, thiserror::Error, Retryable)]
#[error("busy")]
#[retryable(throttled, after = "0")]
struct Busy(Duration);

#[derive(Debug, thiserror::Error, Retryable)]
enum Forwards {
    #[error("only field")]
    #[retryable(forward)]
    Only(io::Error),
    #[error(transparent)]
    #[retryable(forward)]
    Transparent(Busy),
    #[error("{path}")]
    #[retryable(forward)]
    NamedSource {
        path: &'static str,
        source: Box<io::Error>,
    },
    #[error("{0}")]
    #[retryable(forward)]
    Marked(&'static str, #[source] Arc<io::Error>),
    #[error("by its own mark")]
    OwnMark(
        io::Error,
        #[retryable(forward)]
        #[source]
        Busy,
    ),
}

#[test]
fn forward_takes_verdict_and_hint_from_the_inner_error() {
    assert_eq!(said(&Forwards::Only(reset())), (Verdict::Transient, None));
    assert_eq!(
        said(&Forwards::Only(ErrorKind::NotFound.into())),
        (Verdict::Permanent, None)
    );
    assert_eq!(
        said(&Forwards::Transparent(Busy(SECOND))),
        (Verdict::Throttled, Some(SECOND))
    );
    let named = Forwards::NamedSource {
        path: "a",
        source: Box::new(reset()),
    };
    assert_eq!(said(&named), (Verdict::Transient, None));
    assert_eq!(
        said(&Forwards::Marked("a", Arc::new(reset()))),
        (Verdict::Transient, None)
    );
}

#[test]
fn a_marked_field_is_forwarded_to_without_a_word_and_whatever_its_place() {
    let error = Forwards::OwnMark(ErrorKind::NotFound.into(), Busy(SECOND));
    assert_eq!(said(&error), (Verdict::Throttled, Some(SECOND)));
    let Forwards::OwnMark(other, _) = error else {
        unreachable!()
    };
    assert_eq!(other.kind(), ErrorKind::NotFound);
}

#[derive(Debug, thiserror::Error, Retryable)]
enum FromMarks {
    #[error("io")]
    #[retryable(forward)]
    Io(#[from] io::Error),
    #[error("busy")]
    #[retryable(forward)]
    Busy(#[from] Busy),
}

#[test]
fn forward_follows_from() {
    let fails = |outcome: Result<(), io::Error>| -> Result<(), FromMarks> { Ok(outcome?) };
    assert_eq!(
        said(&fails(Err(reset())).unwrap_err()),
        (Verdict::Transient, None)
    );
    assert_eq!(
        said(&FromMarks::from(Busy(SECOND))),
        (Verdict::Throttled, Some(SECOND))
    );
}

#[derive(Retryable)]
#[retryable(permanent, after = "Self::after")]
enum Defaulted {
    Silent,
    #[retryable(transient)]
    Hinted,
    #[retryable(throttled, after = "own")]
    Own {
        own: Option<Duration>,
    },
    #[retryable(forward)]
    Forwarded(Busy),
}

impl Defaulted {
    fn after(&self) -> Duration {
        match self {
            Self::Silent => panic!("a permanent error is not asked"),
            _ => SECOND,
        }
    }
}

#[test]
fn a_word_on_the_enum_is_the_default() {
    assert_eq!(said(&Defaulted::Silent), (Verdict::Permanent, None));
    assert_eq!(said(&Defaulted::Hinted), (Verdict::Transient, Some(SECOND)));
    assert_eq!(
        said(&Defaulted::Own { own: None }),
        (Verdict::Throttled, None)
    );
    assert_eq!(
        said(&Defaulted::Own {
            own: Some(3 * SECOND)
        }),
        (Verdict::Throttled, Some(3 * SECOND))
    );
    assert_eq!(
        said(&Defaulted::Forwarded(Busy(2 * SECOND))),
        (Verdict::Throttled, Some(2 * SECOND))
    );
}

#[derive(Retryable)]
#[retryable(forward)]
enum AllForward {
    Io(io::Error),
    Busy(Busy),
    #[retryable(permanent)]
    Gone,
}

#[test]
fn forward_can_be_the_default() {
    assert_eq!(said(&AllForward::Io(reset())), (Verdict::Transient, None));
    assert_eq!(
        said(&AllForward::Busy(Busy(SECOND))),
        (Verdict::Throttled, Some(SECOND))
    );
    assert_eq!(said(&AllForward::Gone), (Verdict::Permanent, None));
}

mod functions {
    use super::{Duration, Verdict};

    #[expect(
        clippy::trivially_copy_pass_by_ref,
        reason = "fields are given by reference"
    )]
    pub(super) fn of_status(status: &u16, _body: &str, _wait: &Duration) -> Verdict {
        if *status >= 500 {
            Verdict::Transient
        } else {
            Verdict::Permanent
        }
    }
}

#[derive(Retryable)]
enum WithFunctions {
    #[retryable(with = "functions::of_status", after = ".2")]
    Status(u16, String, Duration),
    #[retryable(with = functions::of_status, after = wait)]
    Named {
        status: u16,
        body: &'static str,
        wait: Duration,
    },
    #[retryable(with = Self::none)]
    Unit,
}

impl WithFunctions {
    fn none() -> Verdict {
        Verdict::Refused
    }
}

#[test]
fn with_receives_the_fields_in_order() {
    let status = |status| WithFunctions::Status(status, "body".to_owned(), SECOND);
    assert_eq!(said(&status(503)), (Verdict::Transient, Some(SECOND)));
    assert_eq!(
        said(&status(404)),
        (Verdict::Permanent, Some(SECOND)),
        "asked, and then not used"
    );
    let named = WithFunctions::Named {
        status: 500,
        body: "body",
        wait: SECOND,
    };
    assert_eq!(said(&named), (Verdict::Transient, Some(SECOND)));
    assert_eq!(said(&WithFunctions::Unit), (Verdict::Refused, None));
}

#[derive(Retryable)]
#[retryable(with = "Self::judge")]
enum Judged {
    One,
    #[retryable(permanent)]
    Two,
}

impl Judged {
    fn judge(&self) -> Verdict {
        match self {
            Self::One => Verdict::Throttled,
            Self::Two => panic!("has a word of its own"),
        }
    }
}

#[derive(Retryable)]
#[retryable(with = Self::judge, after = "r#type")]
struct JudgedStruct {
    r#type: Duration,
}

impl JudgedStruct {
    fn judge(&self) -> Verdict {
        if self.r#type.is_zero() {
            Verdict::Permanent
        } else {
            Verdict::Transient
        }
    }
}

#[test]
fn with_above_the_type_receives_the_error() {
    assert_eq!(said(&Judged::One), (Verdict::Throttled, None));
    assert_eq!(said(&Judged::Two), (Verdict::Permanent, None));
    assert_eq!(
        said(&JudgedStruct { r#type: SECOND }),
        (Verdict::Transient, Some(SECOND))
    );
    assert_eq!(
        JudgedStruct {
            r#type: Duration::ZERO
        }
        .verdict(),
        Verdict::Permanent
    );
}

#[derive(Retryable)]
#[retryable(transient)]
struct Unit;

#[derive(Retryable)]
#[retryable(forward)]
struct Newtype(io::Error);

#[derive(Retryable)]
#[retryable(forward)]
struct Named {
    #[expect(dead_code, reason = "beside the source")]
    path: &'static str,
    source: io::Error,
}

#[derive(Retryable)]
struct MarkedField {
    #[retryable(forward)]
    inner: io::Error,
    _other: u8,
}

#[derive(Retryable)]
enum Never {}

#[test]
fn structs_and_empty_enums_work() {
    assert_eq!(said(&Unit), (Verdict::Transient, None));
    assert_eq!(said(&Newtype(reset())), (Verdict::Transient, None));
    assert_eq!(
        said(&Named {
            path: "a",
            source: reset()
        }),
        (Verdict::Transient, None)
    );
    assert_eq!(
        said(&MarkedField {
            inner: reset(),
            _other: 1
        }),
        (Verdict::Transient, None)
    );
    let never: Option<Never> = None;
    assert!(never.is_none_or(|never| never.verdict() == Verdict::Unknown));
}

#[derive(Debug, Retryable)]
enum Generic<'a, T: Debug, const N: usize, E>
where
    E: Debug,
{
    #[retryable(forward)]
    Inner(E),
    #[retryable(forward)]
    Nested(Box<E>),
    #[retryable(transient)]
    Other(#[expect(dead_code, reason = "only there to be generic")] &'a [T; N]),
}

#[test]
fn only_the_types_of_forwarded_fields_get_a_bound() {
    /// A type without a verdict. The derive must not need a verdict of `T`.
    #[derive(Debug)]
    struct Silent;
    let other: Generic<'_, Silent, 1, io::Error> = Generic::Other(&[Silent]);
    assert_eq!(other.verdict(), Verdict::Transient);
    let inner: Generic<'_, Silent, 1, _> = Generic::Inner(Busy(SECOND));
    assert_eq!(said(&inner), (Verdict::Throttled, Some(SECOND)));
    let nested: Generic<'_, Silent, 1, _> = Generic::Nested(Box::new(reset()));
    assert_eq!(said(&nested), (Verdict::Transient, None));
}

/// The errors of the parts of a request.
#[derive(Retryable)]
enum Parts<E> {
    #[retryable(forward)]
    One(E),
    #[retryable(forward)]
    First(Box<Parts<E>>),
    #[retryable(forward)]
    Last(Box<Self>),
}

#[test]
fn a_generic_error_may_be_inside_itself() {
    let one = Parts::One(Busy(SECOND));
    let error = Parts::Last(Box::new(Parts::First(Box::new(one))));
    assert_eq!(said(&error), (Verdict::Throttled, Some(SECOND)));
}

/// Another type of the same name is not the error itself.
mod same_name {
    pub(super) mod inner {
        #[derive(reattempt::Retryable)]
        #[retryable(forward)]
        pub(crate) struct Failure<E>(pub(crate) E);
    }

    #[derive(reattempt::Retryable)]
    #[retryable(forward)]
    pub(super) struct Failure<E>(pub(super) inner::Failure<E>);
}

#[test]
fn a_generic_error_may_hold_another_of_the_same_name() {
    let error = same_name::Failure(same_name::inner::Failure(Busy(SECOND)));
    assert_eq!(said(&error), (Verdict::Throttled, Some(SECOND)));
}

#[derive(Retryable)]
#[expect(non_camel_case_types, reason = "raw identifiers are lower case")]
enum r#Raw {
    #[retryable(transient)]
    r#type,
    #[retryable(throttled, after = "match")]
    r#loop { r#match: Duration },
}

#[test]
fn raw_identifiers_work() {
    assert_eq!(said(&r#Raw::r#type), (Verdict::Transient, None));
    assert_eq!(
        said(&r#Raw::r#loop { r#match: SECOND }),
        (Verdict::Throttled, Some(SECOND))
    );
}

#[derive(Retryable)]
enum Shadowed {
    #[retryable(transient)]
    Verdict,
    #[retryable(throttled, after = "__retry_field0")]
    Option { __retry_field0: Duration },
    #[retryable(permanent)]
    None,
    #[cfg(any())]
    NotThere,
}

#[test]
fn types_may_have_the_names_of_ours_and_of_std() {
    assert_eq!(said(&Shadowed::Verdict), (Verdict::Transient, None));
    assert_eq!(
        said(&Shadowed::Option {
            __retry_field0: SECOND
        }),
        (Verdict::Throttled, Some(SECOND))
    );
    assert_eq!(said(&Shadowed::None), (Verdict::Permanent, None));
}

/// `codes` accepts the types that such variants have: integers of any type, and texts.
#[derive(Retryable)]
enum Codes<'a> {
    #[retryable(with = "reattempt::codes::http_status")]
    Status(u16),
    #[retryable(with = reattempt::codes::grpc)]
    Grpc { code: i32 },
    #[retryable(with = "reattempt::codes::sqlstate")]
    Owned(String),
    #[retryable(with = "reattempt::codes::sqlstate")]
    Borrowed(&'a str),
    #[retryable(with = "reattempt::codes::sqlstate")]
    Either(Cow<'a, str>),
    #[retryable(with = "reattempt::codes::mysql")]
    MySql(&'a u32),
    #[retryable(with = "reattempt::codes::sqlite")]
    Sqlite(i64),
}

#[test]
fn a_code_is_looked_up_in_the_tables_of_the_adapters() {
    for (error, expected) in [
        (Codes::Status(529), (Verdict::Throttled, None)),
        (Codes::Grpc { code: 14 }, (Verdict::Transient, None)),
        (Codes::Owned("23505".into()), (Verdict::Permanent, None)),
        (Codes::Borrowed("53300"), (Verdict::Refused, None)),
        (Codes::Either("40001".into()), (Verdict::Conflict, None)),
        (Codes::MySql(&1213), (Verdict::Conflict, None)),
        (Codes::Sqlite(517), (Verdict::Conflict, None)),
    ] {
        assert_eq!(said(&error), expected);
    }
}

/// The expansion has no warning under any lint, without a prelude, and with the facade at another path.
#[deny(warnings, clippy::pedantic, clippy::nursery)]
mod hostile {
    #![no_implicit_prelude]
    #![expect(dead_code, reason = "never built")]
    #![expect(
        clippy::redundant_pub_crate,
        reason = "`unreachable_pub` asks for the opposite"
    )]

    pub(super) mod elsewhere {
        #[doc(hidden)]
        pub(crate) use ::reattempt::__private;
        pub(crate) use ::reattempt::*;
    }

    mod reattempt {}
    mod core {}
    mod std {}

    pub(super) enum Option {}
    pub(super) enum Result {}

    #[derive(elsewhere::Retryable)]
    #[retryable(crate = "elsewhere")]
    pub(super) enum Error {
        #[retryable(transient)]
        Ok,
        #[retryable(throttled, after = "Self::after")]
        Err,
        #[deprecated]
        #[retryable(permanent)]
        Some(Option, Result),
    }

    impl Error {
        const fn after(&self) -> ::core::time::Duration {
            match self {
                Self::Err => ::core::time::Duration::from_secs(1),
                _ => ::core::time::Duration::ZERO,
            }
        }
    }

    pub(super) const fn built() -> Error {
        Error::Err
    }
}

#[test]
fn the_expansion_is_hygienic_and_free_of_warnings() {
    assert_eq!(said(&hostile::built()), (Verdict::Throttled, Some(SECOND)));
}
