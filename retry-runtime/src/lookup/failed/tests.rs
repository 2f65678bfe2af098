//! Tests the search in every wrapper, and the text of errors.

use std::error::Error;
use std::fmt;
use std::io::{self, ErrorKind};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use super::*;
use crate::classify::{Ruling, ask};
use crate::stopped::{CutEffect, Effect};

/// What generated code writes for one type of `on`.
macro_rules! found {
    ($A:ty, $error:expr) => {
        Failed::new($error, false).search::<$A>().find()
    };
}

/// What generated code writes for one type of `unless`.
macro_rules! contains {
    ($A:ty, $error:expr) => {
        Failed::new($error, false).search::<$A>().contains()
    };
}

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

const TRANSIENT: Option<Assessment> = Some(Assessment::new(Verdict::Transient));

#[derive(Debug, thiserror::Error)]
#[error("mine")]
struct Mine;

#[derive(Debug, thiserror::Error)]
enum App {
    #[error("i/o")]
    Io(#[from] io::Error),
    #[error("read {path}")]
    Read {
        path: &'static str,
        source: io::Error,
    },
    #[error("boxed")]
    Boxed(#[source] Box<io::Error>),
    #[error("shared")]
    Shared(#[source] Arc<io::Error>),
    #[error("dynamic")]
    Dynamic(#[source] Box<dyn Error + Send + Sync>),
    #[error("anyhow")]
    Anyhow(#[source] anyhow::Error),
    #[error(transparent)]
    Transparent(Mine),
    #[error("nothing inside")]
    Bare,
}

/// An error that is its own cause.
#[derive(Debug)]
struct Ouroboros;

impl Display for Ouroboros {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ouroboros")
    }
}

impl Error for Ouroboros {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(self)
    }
}

/// Wraps `error` in `depth` layers of `source`.
fn nested(depth: usize, error: impl Error + Send + Sync + 'static) -> App {
    let mut outer = App::Dynamic(Box::new(error));
    for _ in 1..depth {
        outer = App::Dynamic(Box::new(outer));
    }
    outer
}

macro_rules! found_in_each {
    ($($wrapper:literal: $error:expr;)*) => {
        $(assert_eq!(found!(io::Error, &$error), TRANSIENT, $wrapper);)*
    };
}

#[test]
fn an_io_error_is_found_in_every_wrapper() {
    found_in_each! {
        "itself": reset();
        "Box": Box::new(reset());
        "Arc": Arc::new(reset());
        "thiserror #[from]": App::from(reset());
        "thiserror source": App::Read { path: "a", source: reset() };
        "Box as a source": App::Boxed(Box::new(reset()));
        "Arc as a source": App::Shared(Arc::new(reset()));
        "Box<dyn Error> as a source": App::Dynamic(Box::new(reset()));
        "anyhow as a source": App::Anyhow(anyhow::Error::new(reset()).context("c"));
        "Box of an enum": Box::new(App::from(reset()));
        "Arc of an enum": Arc::new(App::from(reset()));
        "io in io": io::Error::new(ErrorKind::NotFound, reset());
        "io in io in io": io::Error::new(ErrorKind::NotFound, io::Error::new(ErrorKind::NotFound, reset()));
        "enum in io": io::Error::new(ErrorKind::NotFound, App::from(reset()));
        "Arc in io": io::Error::new(ErrorKind::NotFound, Arc::new(reset()));
        "anyhow": anyhow::Error::new(reset());
        "anyhow with context": anyhow::Error::new(reset()).context("one").context("two");
        "anyhow of an enum": anyhow::Error::new(App::from(reset())).context("one");
        "Arc<anyhow>": Arc::new(anyhow::Error::new(reset()).context("one"));
        "Box<anyhow>": Box::new(anyhow::Error::new(reset()));
        "eyre": eyre::Report::new(reset());
        "eyre with context": eyre::Report::new(reset()).wrap_err("one").wrap_err("two");
        "Arc<eyre>": Arc::new(eyre::Report::new(reset()));
        "Box<dyn Error + Send + Sync>": Box::<dyn Error + Send + Sync>::from(reset());
        "Box<dyn Error + Send>": Box::new(App::from(reset())) as Box<dyn Error + Send>;
        "Box<dyn Error>": Box::<dyn Error>::from(App::from(reset()));
        "Rc<Box<dyn Error>>": Rc::new(Box::<dyn Error>::from(reset()));
        "Arc<dyn Error + Send + Sync>": Arc::new(reset()) as Arc<dyn Error + Send + Sync>;
        "Arc<dyn Error>": Arc::new(App::from(reset())) as Arc<dyn Error>;
        "Arc<dyn Error + Send + Sync> inside": App::Dynamic(Box::new(Arc::new(reset()) as Arc<dyn Error + Send + Sync>));
        "five deep": nested(5, reset());
    }
}

#[test]
fn the_search_goes_on_after_a_permanent_link_and_finds_nothing_behind_it() {
    let permanent_then_transient = io::Error::new(ErrorKind::NotFound, reset());
    assert_eq!(found!(io::Error, &permanent_then_transient), TRANSIENT);
    // The first error that qualifies answers, not the innermost.
    let timed_out = io::Error::new(ErrorKind::ConnectionRefused, App::from(reset()));
    assert_eq!(
        found!(io::Error, &timed_out),
        Some(Assessment::new(Verdict::Refused))
    );

    assert_eq!(found!(io::Error, &missing()), None);
    assert_eq!(found!(io::Error, &App::from(missing())), None);
    assert_eq!(
        found!(
            io::Error,
            &io::Error::new(ErrorKind::InvalidData, missing())
        ),
        None
    );
    assert_eq!(
        found!(io::Error, &anyhow::Error::new(missing()).context("c")),
        None
    );
}

#[test]
fn what_is_not_inside_is_not_found() {
    assert_eq!(found!(io::Error, &App::Bare), None);
    assert_eq!(found!(io::Error, &anyhow::anyhow!("text")), None);
    assert_eq!(found!(io::Error, &eyre::eyre!("text")), None);
    assert_eq!(found!(Mine, &App::from(reset())), None);
    let text: Box<dyn Error + Send + Sync> = "text".into();
    assert_eq!(found!(io::Error, &text), None);
}

#[test]
fn a_type_without_a_verdict_qualifies_as_unknown() {
    let mine = App::Dynamic(Box::new(Mine));
    assert_eq!(found!(Mine, &mine), Some(Assessment::UNKNOWN));
    assert_eq!(found!(App, &mine), Some(Assessment::UNKNOWN));
    assert_eq!(found!(Mine, &Mine), Some(Assessment::UNKNOWN));
}

#[test]
fn transparent_hides_what_is_inside() {
    assert_eq!(found!(Mine, &App::Transparent(Mine)), None);
    assert!(!contains!(Mine, &App::Transparent(Mine)));
    assert!(contains!(App, &App::Transparent(Mine)));
}

#[test]
fn a_chain_without_end_is_walked_for_32_links() {
    assert_eq!(links(&Ouroboros).count(), MAX_LINKS);
    assert_eq!(found!(io::Error, &Ouroboros), None);
    assert_eq!(found!(Ouroboros, &Ouroboros), Some(Assessment::UNKNOWN));
    assert!(!contains!(io::Error, &anyhow::Error::new(Ouroboros)));
    assert_eq!(io::Error::other(Ouroboros).verdict(), Verdict::Unknown);
}

#[test]
fn the_bound_of_the_walk_is_exact() {
    let last_reached = nested(MAX_LINKS - 1, reset());
    assert_eq!(found!(io::Error, &last_reached), TRANSIENT);
    let one_too_deep = nested(MAX_LINKS, reset());
    assert_eq!(found!(io::Error, &one_too_deep), None);
}

#[test]
fn contains_asks_no_verdict() {
    assert!(contains!(io::Error, &missing()));
    assert!(contains!(io::Error, &App::from(missing())));
    assert!(contains!(Mine, &anyhow::Error::new(Mine).context("c")));
    assert!(!contains!(Mine, &missing()));
}

/// Neither `std::error::Error` nor `Debug`.
struct Plain {
    wait: Option<Duration>,
}

impl Retryable for Plain {
    fn verdict(&self) -> Verdict {
        Verdict::Throttled
    }

    fn hint(&self) -> Option<Duration> {
        self.wait
    }
}

struct Silent;

#[test]
fn an_error_that_is_no_std_error_is_itself() {
    let wait = Some(Duration::from_secs(3));
    let throttled = Some(Assessment::new(Verdict::Throttled).with_hint(wait));
    assert_eq!(found!(Plain, &Plain { wait }), throttled);
    assert_eq!(found!(Plain, &Box::new(Plain { wait })), throttled);
    assert_eq!(found!(Plain, &Arc::new(Plain { wait })), throttled);
    assert_eq!(found!(Plain, &Rc::new(Plain { wait })), throttled);
    assert_eq!(found!(Silent, &Silent), Some(Assessment::UNKNOWN));
    assert_eq!(
        found!(String, &String::from("text")),
        Some(Assessment::UNKNOWN)
    );
    assert_eq!(found!((), &()), Some(Assessment::UNKNOWN));
    assert!(contains!(Silent, &Box::new(Silent)));
    // These types do not implement `std::error::Error` either, but `on` can name them.
    assert!(contains!(anyhow::Error, &anyhow::anyhow!("text")));
    assert!(contains!(eyre::Report, &eyre::eyre!("text")));
}

#[test]
fn a_borrowed_error_that_is_no_std_error_can_be_named() {
    struct Borrowed<'a>(&'a str);
    let text = String::from("text");
    let error = Borrowed(&text);
    assert!(contains!(Borrowed<'_>, &error));
    assert_eq!(assessment!(&error), Assessment::UNKNOWN);
    assert_eq!(error.0, "text");
}

/// In generic functions the expansion knows only the bounds of the function.
mod generic {
    use super::*;

    type Aliased = App;
    type Outcome<T> = Result<T, Aliased>;

    trait Service {
        type Error: Error + Send + Sync + 'static;
    }

    struct Api;

    impl Service for Api {
        type Error = App;
    }

    fn std_error<E: Error + 'static>(error: &E) -> Option<Assessment> {
        found!(io::Error, error)
    }

    fn associated<S: Service>(error: &S::Error) -> Option<Assessment> {
        found!(io::Error, error)
    }

    fn looked_for<A: Error + 'static>(error: &App) -> Option<Assessment> {
        found!(A, error)
    }

    fn as_ref<E: AsRef<dyn Error + Send + Sync>>(error: &E) -> Option<Assessment> {
        found!(io::Error, error)
    }

    fn itself<E>(error: &E) -> Option<Assessment> {
        found!(E, error)
    }

    fn no_bound<E>(error: &E) -> Assessment {
        assessment!(error)
    }

    fn bound<E: Retryable>(error: &E) -> Assessment {
        assessment!(error)
    }

    fn opaque(error: impl Error) -> Result<(), impl Error> {
        Err(error)
    }

    fn aliased() -> Outcome<()> {
        Err(App::from(reset()))
    }

    #[test]
    fn lookup_uses_the_bounds_in_scope() {
        assert_eq!(std_error(&App::from(reset())), TRANSIENT);
        assert_eq!(associated::<Api>(&App::from(reset())), TRANSIENT);
        assert_eq!(
            looked_for::<io::Error>(&App::from(reset())),
            Some(Assessment::UNKNOWN),
            "no bound is `Retryable`"
        );
        assert_eq!(as_ref(&anyhow::Error::new(reset())), TRANSIENT);
        assert_eq!(itself(&Silent), Some(Assessment::UNKNOWN));
        assert_eq!(
            no_bound(&reset()),
            Assessment::UNKNOWN,
            "no bound is `Retryable`"
        );
        assert_eq!(bound(&reset()), Assessment::new(Verdict::Transient));
        let error = opaque(App::from(reset())).unwrap_err();
        assert_eq!(found!(io::Error, &error), TRANSIENT);
        let error = aliased().unwrap_err();
        assert_eq!(found!(io::Error, &error), TRANSIENT);
    }

    /// A closure as in the expansion: its argument type comes from the signature, not from an annotation.
    #[test]
    fn lookup_works_in_a_closure_whose_argument_is_inferred() {
        fn settle<T, E>(result: Result<T, E>, classify: impl FnOnce(&E) -> Ruling) -> bool {
            result.is_err_and(|error| classify(&error).retry)
        }
        assert!(settle(aliased(), |error| match found!(io::Error, error) {
            Some(assessment) => Ruling::retry(assessment),
            None => Ruling::stop(assessment!(error)),
        }));
        assert!(!settle(aliased(), |error| Ruling::by(
            assessment!(error),
            false
        )));
        assert!(settle(aliased(), |error| {
            if ask(error, |error| matches!(error, App::Io(_))) {
                Ruling::retry(assessment!(error))
            } else {
                Ruling::stop(assessment!(error))
            }
        }));
    }
}

#[test]
fn a_call_that_was_stopped_is_not_undone_by_an_outer_one() {
    use crate::{Outcome, Stopped};
    let stopped = |outcome| Stopped {
        outcome,
        attempts: 2,
        elapsed: Duration::from_secs(1),
        limit: None,
        not_ready: false,
        may_have_run: true,
        source: Some(Box::new(reset())),
    };
    for outcome in [Outcome::Budget, Outcome::HintTooLong, Outcome::Cancelled] {
        assert_eq!(stopped(outcome).verdict(), Verdict::Permanent, "{outcome}");
        let io = io::Error::from(stopped(outcome));
        assert_eq!(io.verdict(), Verdict::Permanent, "{outcome}");
        assert_eq!(found!(io::Error, &io), None, "{outcome}");
        assert_eq!(
            found!(io::Error, &anyhow::Error::new(stopped(outcome))),
            None,
            "{outcome}"
        );
        assert_eq!(
            found!(io::Error, &App::Dynamic(Box::new(stopped(outcome)))),
            None,
            "{outcome}"
        );
        assert_eq!(
            found!(App, &App::Dynamic(Box::new(stopped(outcome)))),
            None,
            "{outcome}"
        );
    }
    // The outer call may have more time.
    for outcome in [Outcome::Timeout, Outcome::Deadline] {
        let out_of_time = io::Error::from(stopped(outcome));
        assert_eq!(out_of_time.verdict(), Verdict::Transient, "{outcome}");
        assert_eq!(found!(io::Error, &out_of_time), TRANSIENT, "{outcome}");
    }
}

#[test]
fn a_type_that_can_hold_any_error_is_searched_if_on_names_it() {
    fn found(error: fn() -> Box<dyn Error + Send + Sync>) -> [Option<Assessment>; 7] {
        let send: Box<dyn Error + Send> = error();
        let local: Box<dyn Error> = error();
        let shared: Rc<Box<dyn Error>> = Rc::new(error());
        [
            found!(anyhow::Error, &anyhow::Error::from_boxed(error())),
            found!(eyre::Report, &eyre::eyre!(error())),
            found!(Box<dyn Error + Send + Sync>, &error()),
            found!(Box<dyn Error + Send>, &send),
            found!(Box<dyn Error>, &local),
            found!(anyhow::Error, &Arc::new(anyhow::Error::from_boxed(error()))),
            found!(Box<dyn Error>, &shared),
        ]
    }
    assert_eq!(found(|| reset().into()), [Some(Assessment::UNKNOWN); 7]);
    let cut_commit = || App::Dynamic(Box::new(CutEffect::of(Effect::Commit))).into();
    assert_eq!(found(cut_commit), [None; 7]);
}

/// The search walks any nesting of wrappers without a panic, and finds what a model finds.
#[test]
fn any_nesting_is_searched() {
    use proptest::prelude::*;
    let verdict = |kind: ErrorKind| io::Error::from(kind).verdict();
    // For a kind with an unknown verdict, the error inside answers. The model does not have that rule.
    let kinds = (0..256).map(|number| io::Error::from_raw_os_error(number).kind());
    let known = kinds.filter(|kind| verdict(*kind) != Verdict::Unknown);
    let kinds = prop::sample::select(known.collect::<Vec<_>>());
    let layer = prop::option::of(kinds.clone());
    proptest!(|(innermost in kinds, layers in prop::collection::vec(layer, 0..40))| {
        let mut error: Box<dyn Error + Send + Sync> = Box::new(io::Error::from(innermost));
        for layer in &layers {
            error = match layer {
                Some(kind) => Box::new(io::Error::new(*kind, error)),
                None => Box::new(App::Dynamic(error)),
            };
        }
        // From the outside in, as far as the walk goes.
        let outside_in = layers.iter().rev().copied().chain([Some(innermost)]).take(MAX_LINKS);
        let expected = outside_in.clone().flatten().any(|kind| verdict(kind) != Verdict::Permanent);
        prop_assert_eq!(found!(io::Error, &error).is_some(), expected);
        prop_assert!(contains!(App, &error) == outside_in.clone().any(|layer| layer.is_none()));
    });
}

/// `into_diagnostic` makes an error whose `source()` is that of the error inside, and whose type is private.
#[test]
fn into_diagnostic_of_miette_hides_the_error_inside() {
    use miette::{Diagnostic, IntoDiagnostic as _, WrapErr as _};

    #[derive(Debug, thiserror::Error)]
    #[error("the search service")]
    struct Search(#[source] io::Error);

    impl Diagnostic for Search {}

    let hidden = Err::<(), _>(reset()).into_diagnostic().unwrap_err();
    assert_eq!(found!(io::Error, &hidden), None);
    let shown = miette::Report::new(Search(reset()));
    assert!(found!(io::Error, &shown).is_some());
    let wrapped = Err::<(), _>(shown).wrap_err("index").unwrap_err();
    assert!(found!(io::Error, &wrapped).is_some());
    // The error inside the hidden one is seen again.
    let inner = Err::<(), _>(Search(reset())).into_diagnostic().unwrap_err();
    assert!(found!(io::Error, &inner).is_some());
}

#[derive(Debug, thiserror::Error)]
#[error("fetching")]
struct Fetching(#[source] io::Error);

#[test]
fn a_std_error_is_told_with_its_causes() {
    let error = Fetching(io::Error::other("cable cut"));
    assert_eq!(
        Failed::new(&error, false).words().to_string(),
        "fetching: cable cut"
    );
}

#[test]
fn a_report_is_told_with_its_causes() {
    let error = anyhow::anyhow!("cable cut")
        .context("connecting")
        .context("fetching");
    assert_eq!(
        Failed::new(&error, false).words().to_string(),
        "fetching: connecting: cable cut"
    );
}

#[test]
fn a_text_is_told_and_the_rest_is_named() {
    assert_eq!(Failed::new("busy", false).words().to_string(), "busy");
    assert!(
        Failed::new(&Silent, false)
            .words()
            .to_string()
            .ends_with("Silent")
    );
}

#[test]
fn a_chain_that_points_at_itself_ends() {
    #[derive(Debug, thiserror::Error)]
    #[error("again {0}")]
    struct Again(u8);
    #[derive(Debug)]
    struct Circle;
    impl Display for Circle {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("round")
        }
    }
    impl Error for Circle {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            static CIRCLE: Circle = Circle;
            Some(&CIRCLE)
        }
    }
    assert_eq!(Failed::new(&Circle, false).words().to_string(), "round");
    assert_eq!(Failed::new(&Again(1), false).words().to_string(), "again 1");
}
