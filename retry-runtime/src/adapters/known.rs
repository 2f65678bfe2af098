//! Finds the verdict of a `dyn Error`: walks its chain of sources, and tries each type that has a verdict.
//!
//! Some errors have the last word: neither the errors around one nor those inside it may allow another attempt. Only
//! `when` may.

use std::error::Error;
use std::io;
use std::iter;
use std::sync::Arc;

use crate::classify::{Assessment, Retryable, Verdict};
use crate::stopped::{CutEffect, Stopped};

#[cfg(feature = "_requests")]
use super::http::{FailedRequest, RequestInDoubt};
use super::tls;

/// The most links of a chain of errors that are visited. Without a bound, nothing would end at an error that is its own
/// source.
pub(crate) const MAX_LINKS: usize = 32;

/// An error of a chain.
pub(crate) type Link<'a> = &'a (dyn Error + 'static);

/// Returns an error and its sources, from the outside in.
///
/// `io::Error`, `Arc<dyn Error>`, the error of `reqwest-middleware` and those of the adapters hide the error that they hold from
/// `source()`, which returns the source of that error. This walk visits the held error too. That of a `reattempt::Error` is no
/// link: [`as_type`] finds it.
pub(crate) fn links(first: Link<'_>) -> impl Iterator<Item = Link<'_>> {
    iter::successors(Some(first), after).take(MAX_LINKS)
}

/// Returns the source of a link, or the error inside a wrapper whose `source()` skips that error.
fn after<'a>(&link: &Link<'a>) -> Option<Link<'a>> {
    if let Some(error) = as_type::<io::Error>(link) {
        return error.get_ref().map(|inner| inner as Link<'_>);
    }
    if let Some(shared) = link.downcast_ref::<Arc<dyn Error + Send + Sync>>() {
        return Some(&**shared);
    }
    if let Some(shared) = link.downcast_ref::<Arc<dyn Error>>() {
        return Some(&**shared);
    }
    let in_request = REQUESTS.iter().find_map(|inside| inside(link));
    let in_transaction = || DATABASES.iter().find_map(|client| client.inside(link));
    in_request.or_else(in_transaction).or_else(|| link.source())
}

#[cfg(any(feature = "reqwest-middleware-0_5", feature = "reqwest-middleware-0_4"))]
macro_rules! in_middleware {
    ($version:ident) => {
        |link| {
            as_type::<$version::Error>(link).map(|error| match error {
                $version::Error::Middleware(error) => error.as_ref(),
                $version::Error::Reqwest(error) => error as _,
            })
        }
    };
}

const REQUESTS: &[fn(Link<'_>) -> Option<Link<'_>>] = &[
    #[cfg(feature = "reqwest-middleware-0_5")]
    in_middleware!(reqwest_middleware),
    #[cfg(feature = "reqwest-middleware-0_4")]
    in_middleware!(reqwest_middleware_0_4),
    #[cfg(feature = "reqwest-0_13")]
    in_request::<reqwest::Error>,
    #[cfg(feature = "reqwest-0_12")]
    in_request::<reqwest_0_12::Error>,
    #[cfg(feature = "reqwest-middleware-0_5")]
    in_request::<reqwest_middleware::Error>,
    #[cfg(feature = "reqwest-middleware-0_4")]
    in_request::<reqwest_middleware_0_4::Error>,
];

#[cfg(feature = "_requests")]
fn in_request<C: Error + 'static>(link: Link<'_>) -> Option<Link<'_>> {
    as_type::<FailedRequest<C>>(link).map(FailedRequest::inside)
}

/// Returns the link as an `A`, also if it is a `Box<A>` or an `Arc<A>`, or a `reattempt::Error<A>` with one.
pub(crate) fn as_type<A: Error + 'static>(link: Link<'_>) -> Option<&A> {
    if let Some(error) = link.downcast_ref::<A>() {
        return Some(error);
    }
    if let Some(boxed) = link.downcast_ref::<Box<A>>() {
        return Some(boxed);
    }
    if let Some(ended) = link.downcast_ref::<crate::error::Error<A>>() {
        return ended.failed();
    }
    link.downcast_ref::<Arc<A>>().map(|shared| &**shared)
}

/// Returns the answer of the innermost error with a verdict, among `error` and its sources.
///
/// The innermost one is the nearest to the cause. If an error in the chain has the [last word](last_word), it answers. The
/// sources of an error that knows more than they do are not searched.
pub(crate) fn assessment(error: Link<'_>) -> Assessment {
    if let Some(answered) = last_word(error) {
        return answered;
    }
    let mut innermost = Assessment::UNKNOWN;
    let mut was_connected = false;
    for link in links(error) {
        let of_database = DATABASES.iter().find_map(|client| client.assessment(link));
        let of_database = of_database.map(|assessment| Answer {
            assessment,
            ..Answer::certain(Verdict::Unknown)
        });
        let answer = of_database.or_else(|| KNOWN.iter().find_map(|ask| ask(link)));
        let Some(mut answer) = answer else {
            continue;
        };
        // A refusal below is that of an open connection, or of another request, from which the body of this one was read.
        if was_connected && answer.assessment.verdict == Verdict::Refused {
            answer.assessment = Assessment::new(Verdict::Transient);
        }
        was_connected |= answer.was_connected;
        if answer.assessment.verdict != Verdict::Unknown || innermost.verdict == Verdict::Unknown {
            innermost = answer.assessment;
        }
        if answer.is_certain {
            break;
        }
    }
    innermost
}

/// Gives an error the verdict and the hint of its chain.
#[cfg(feature = "hyper-1")]
macro_rules! by_its_chain {
    ($(#[$doc:meta])* $Error:ty) => {
        $(#[$doc])*
        #[diagnostic::do_not_recommend]
        impl $crate::Retryable for $Error {
            fn verdict(&self) -> $crate::Verdict {
                $crate::adapters::known::assessment(self).verdict
            }

            fn hint(&self) -> Option<std::time::Duration> {
                $crate::adapters::known::assessment(self).hint
            }

            fn timed_out(&self) -> bool {
                $crate::adapters::known::assessment(self).timed_out
            }

            fn may_have_run(&self) -> bool {
                $crate::adapters::known::assessment(self).may_have_run
            }
        }
    };
}
#[cfg(feature = "hyper-1")]
pub(crate) use by_its_chain;

/// Returns the verdict of an error that failed a handshake of TLS, by its sources.
#[cfg(any(feature = "redis-1", feature = "_transactions"))]
pub(super) fn handshake(error: Link<'_>) -> Verdict {
    let inside = links(error).nth(1).map_or(Assessment::UNKNOWN, assessment);
    // The text of OpenSSL where the server hung up. Elsewhere, it could be that of a parser.
    let is_cut = || links(error).any(|link| link.to_string() == "unexpected EOF");
    match inside.verdict {
        Verdict::Unknown if is_cut() => Verdict::Transient,
        verdict => verdict,
    }
}

/// Whether a client could not connect, so that it sent nothing, unless it had sent it before a redirect. A body may fail by the
/// connection of another client, which is further inside.
#[cfg(feature = "_layers")]
#[cfg_attr(
    any(
        not(feature = "hyper-1"),
        all(target_family = "wasm", target_os = "unknown")
    ),
    allow(unused_variables, reason = "there is no such client")
)]
pub(crate) fn is_unsent(error: Link<'_>) -> bool {
    #[cfg(all(
        feature = "hyper-1",
        not(all(target_family = "wasm", target_os = "unknown"))
    ))]
    {
        type Client = hyper_util::client::legacy::Error;
        let mut clients = links(error).filter_map(as_type::<Client>);
        let connects = clients.next().is_some_and(Client::is_connect);
        connects && last_word(error).is_none()
    }
    #[cfg(not(all(
        feature = "hyper-1",
        not(all(target_family = "wasm", target_os = "unknown"))
    )))]
    false
}

/// Returns the verdict of a failed connection attempt, in which no request was sent.
///
/// The cause can be permanent: a certificate that is not trusted, for example, or a proxy that wants another password. A Unix socket
/// or a Windows pipe that is not there is refused: the server may make it when it starts.
#[cfg(all(
    feature = "hyper-1",
    not(all(target_family = "wasm", target_os = "unknown"))
))]
pub(super) fn connect(error: Link<'_>) -> Verdict {
    /// How a proxy says that it did not accept the password, or got none. The errors of `hyper-util` for HTTP and SOCKS proxies
    /// have no public type, so their texts tell.
    const WRONG_PASSWORD: [&str; 4] = [
        "tunnel error: proxy authorization required",
        "SOCKS error: server does not support user/pass authentication",
        "SOCKS error: server implements authentication incorrectly",
        "SOCKS error: credentials not accepted",
    ];
    let inside = links(error).nth(1).map_or(Assessment::UNKNOWN, assessment);
    let wrong_password = || links(error).any(|link| WRONG_PASSWORD.contains(&&*link.to_string()));
    if inside.verdict == Verdict::Permanent && !has_no_socket(error) || wrong_password() {
        Verdict::Permanent
    } else {
        Verdict::Refused
    }
}

/// Whether the Unix socket or the Windows pipe of the server is not there, so that there was no connection.
#[cfg(any(
    feature = "redis-1",
    all(
        feature = "hyper-1",
        not(all(target_family = "wasm", target_os = "unknown"))
    )
))]
pub(super) fn has_no_socket(error: Link<'_>) -> bool {
    let mut causes = links(error).filter_map(as_type::<io::Error>);
    causes.any(|cause| cause.kind() == io::ErrorKind::NotFound)
}

/// Returns what the first error in the chain says that has the last word: `error` itself, or a source.
pub(crate) fn last_word(error: Link<'_>) -> Option<Assessment> {
    links(error).find_map(has_last_word)
}

/// Whether `on` may look for errors in the chain of the error of an attempt, which may run twice if that is `harmless`. If not,
/// it does not look behind what has the last word, nor at a database whose connection was lost, perhaps in a `COMMIT`. Shows the
/// errors to `look` on the way.
pub(crate) fn may_search(error: Link<'_>, harmless: bool, mut look: impl FnMut(Link<'_>)) -> bool {
    let mut lost = None;
    links(error).all(|link| {
        look(link);
        lost = lost.or_else(|| DATABASES.iter().find_map(|client| client.is_lost(link)));
        has_last_word(link).is_none_or(|said| harmless && said.verdict == Verdict::Unknown)
    }) && (harmless || lost != Some(true))
}

/// Returns what the link says if it has the last word. The chain around and behind it does not matter.
///
/// - A [`Stopped`] that is permanent: an outer call must not undo what stopped it. Its source has had its attempts.
/// - What may have taken effect: a `COMMIT` or a request that failed without an answer, or what a limit cut. Its source, such as a lost
///   connection, does not know that.
fn has_last_word(link: Link<'_>) -> Option<Assessment> {
    // Most links are one, and no type that has it.
    if link.is::<io::Error>() {
        return None;
    }
    if link.is::<CutEffect>() {
        return Some(Assessment::UNKNOWN);
    }
    #[cfg(feature = "_requests")]
    if let Some(request) = as_type::<RequestInDoubt>(link) {
        return Some(Assessment::of(request));
    }
    match as_type::<Stopped>(link).map(Assessment::of) {
        Some(said) if !said.verdict.is_retryable() => Some(said),
        _ => {
            let open = DATABASES.iter().find_map(|client| client.open_commit(link));
            open.map(Assessment::new)
        }
    }
}

const DATABASES: &[&dyn Database] = &[
    #[cfg(feature = "sea-orm-2")]
    &std::marker::PhantomData::<sea_orm::DbErr>,
    #[cfg(feature = "sea-orm-1")]
    &std::marker::PhantomData::<sea_orm_1::DbErr>,
    #[cfg(feature = "sqlx-0_9")]
    &std::marker::PhantomData::<sqlx_core::Error>,
    #[cfg(feature = "sqlx-0_8")]
    &std::marker::PhantomData::<sqlx_core_0_8::Error>,
    #[cfg(feature = "tokio-postgres-0_7")]
    &std::marker::PhantomData::<tokio_postgres::Error>,
];

/// A client of databases. It answers for its own error and for those with one inside, such as a `TransactionError`.
pub(super) trait Database {
    /// Returns the error inside one that shows it as if it was its own.
    fn inside<'a>(&self, link: Link<'a>) -> Option<Link<'a>>;

    /// Returns that the verdict is unknown, if the link is the error of a `COMMIT` that may have taken effect.
    fn open_commit(&self, link: Link<'_>) -> Option<Verdict>;

    /// Returns whether the connection was lost, perhaps in a `COMMIT`. In a transaction, it was not.
    fn is_lost(&self, link: Link<'_>) -> Option<bool>;

    /// Returns its answer. The verdict is unknown on purpose: the connection that was lost may have been in its `COMMIT`.
    fn assessment(&self, link: Link<'_>) -> Option<Assessment>;
}

/// An error whose verdict depends on its sources.
///
/// Its adapter calls [`assessment`], which walks the chain of sources. It asks each link through this trait and not through
/// [`Retryable`], so that a link does not walk the chain again.
pub(crate) trait Alone: Error + 'static {
    /// Returns the answer of the error without its sources.
    fn alone(&self) -> Answer;
}

/// What a link of a chain answers.
pub(crate) struct Answer {
    pub(crate) assessment: Assessment,
    /// Whether the link knows more than its sources, as that its request was never sent. They are not asked then.
    pub(crate) is_certain: bool,
    /// Whether the link had a connection. Its sources cannot prove then that nothing ran.
    pub(crate) was_connected: bool,
}

impl Answer {
    /// The sources know more.
    pub(crate) const fn open(verdict: Verdict) -> Self {
        Self {
            assessment: Assessment::new(verdict),
            is_certain: false,
            was_connected: false,
        }
    }

    pub(crate) const fn certain(verdict: Verdict) -> Self {
        Self {
            is_certain: true,
            ..Self::open(verdict)
        }
    }

    /// The client ended the request at a limit of its own.
    #[cfg(any(feature = "_grpc", feature = "_requests"))]
    pub(crate) const fn timed_out() -> Self {
        let assessment = Assessment {
            timed_out: true,
            ..Assessment::new(Verdict::Transient)
        };
        Self {
            assessment,
            ..Self::certain(Verdict::Transient)
        }
    }
}

#[cfg(feature = "_grpc")]
macro_rules! of_tonic {
    ($version:ident) => {
        |link| {
            #[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
            if let Some(error) = as_type::<$version::ConnectError>(link) {
                return Some(Answer::certain(connect(error)));
            }
            alone::<$version::Status>(link).or_else(|| {
                // The timeout of this client. It is only found as the source of a `Status`.
                as_type::<$version::TimeoutExpired>(link)?;
                Some(Answer::timed_out())
            })
        }
    };
}

const KNOWN: &[fn(Link<'_>) -> Option<Answer>] = &[
    alone::<io::Error>,
    of::<tokio::time::error::Elapsed>,
    // Its source has had its attempts.
    certain::<Stopped>,
    #[cfg(all(feature = "deadpool-0_13", feature = "redis-1"))]
    certain::<deadpool::managed::PoolError<redis::RedisError>>,
    #[cfg(all(feature = "deadpool-0_13", feature = "tokio-postgres-0_7"))]
    certain::<deadpool::managed::PoolError<tokio_postgres::Error>>,
    #[cfg(feature = "http-1")]
    of::<super::http::StatusError>,
    #[cfg(feature = "h2-0_4")]
    of::<h2::Error>,
    #[cfg(feature = "hyper-1")]
    alone::<hyper::Error>,
    #[cfg(all(
        feature = "hyper-1",
        not(all(target_family = "wasm", target_os = "unknown"))
    ))]
    alone::<hyper_util::client::legacy::Error>,
    // Its answer depends on its sources.
    #[cfg(feature = "redis-1")]
    certain::<redis::RedisError>,
    #[cfg(feature = "reqwest-0_13")]
    alone::<reqwest::Error>,
    #[cfg(feature = "reqwest-0_12")]
    alone::<reqwest_0_12::Error>,
    #[cfg(feature = "tonic-0_14")]
    of_tonic!(tonic),
    #[cfg(feature = "tonic-0_13")]
    of_tonic!(tonic_0_13),
    #[cfg(feature = "tower-0_5")]
    of::<tower::load_shed::error::Overloaded>,
    #[cfg(feature = "tower-0_5")]
    of::<tower::timeout::error::Elapsed>,
    // Last, because it reads the text of an error of any type.
    |link| tls::of_text(&link.to_string()).map(Answer::certain),
];

fn alone<A: Alone>(link: Link<'_>) -> Option<Answer> {
    as_type::<A>(link).map(A::alone)
}

fn of<A: Error + Retryable + 'static>(link: Link<'_>) -> Option<Answer> {
    as_type::<A>(link).map(|error| Answer {
        assessment: Assessment::of(error),
        ..Answer::open(Verdict::Unknown)
    })
}

/// The same for one that knows more than its sources, such as a pool, whose client failed to connect, and not later.
fn certain<A: Error + Retryable + 'static>(link: Link<'_>) -> Option<Answer> {
    let answer = of::<A>(link)?;
    let is_certain = true;
    Some(Answer {
        is_certain,
        ..answer
    })
}
