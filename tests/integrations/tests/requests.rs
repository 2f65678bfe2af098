//! A request that carries the guarantee itself: sent once, wherever it is sent from.

use std::error::Error;
use std::future::{Ready, ready};
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{LazyLock, Mutex};
use std::time::Duration;

use futures::FutureExt as _;
use integrations::loopback::{Answer, Loopback, OK};
use reattempt::http_1::send_once;
use reattempt::{
    Attempt, Outcome, Policy, Report, Retryable as _, Verdict, propagate, retry, run, with_report,
};

use reattempt::testing::Scope;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::Barrier;
use tokio::task::JoinSet;
use tower::Layer as _;

use super::adapter::{HttpRequests, RequestError, RequestExt as _, RequestInDoubt};
use super::chain::ClientBuilder;
use super::client::{self, Body, Client, Method, RequestBuilder, Response};
use super::middleware::{RequestExt as _, RetryLayer};

type BoxError = Box<dyn Error + Send + Sync>;

const POLICY: Policy = Policy::new()
    .with_attempts(3)
    .with_base(Duration::from_millis(1));

macro_rules! answer {
    ($status:literal, $head:literal) => {
        Answer::Bytes(
            concat!(
                "HTTP/1.1 ",
                $status,
                " -\r\n",
                $head,
                "content-length: 0\r\nconnection: close\r\n\r\n"
            )
            .as_bytes(),
        )
    };
}

const BUSY: Answer = answer!("503", "");
const THROTTLED: Answer = answer!("429", "retry-after: 0\r\n");
const GONE: Answer = answer!("404", "");
const REDIRECT: Answer = answer!("303", "location: /done\r\n");
const ELSEWHERE: Answer = answer!("303", "location: http://127.0.0.1:1/done\r\n");
const MOVED: Answer = answer!("301", "location: http://127.0.0.1:1/done\r\n");
const FOUND: Answer = answer!("302", "location: http://127.0.0.1:1/done\r\n");
/// The page behind a redirect to the server itself is not the one that ran the request.
const MISDIRECTED: Answer = answer!("421", "");
const EARLY: Answer = answer!("425", "");
const TEMPORARY: Answer = answer!("307", "location: /moved\r\n");
const NOWHERE: Answer = answer!("303", "");
const CUT: Answer =
    Answer::Bytes(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\nconnection: close\r\n\r\nhalf");

/// One client for all tests: it is slow to make, and keeps no connection.
fn http() -> Client {
    static CLIENT: LazyLock<Client> = LazyLock::new(|| {
        let builder = Client::builder().no_proxy();
        builder.pool_max_idle_per_host(0).build().unwrap()
    });
    CLIENT.clone()
}

fn posts(server: &Loopback) -> usize {
    let requests = server.requests();
    let posts = requests.iter().filter(|head| head.starts_with("post "));
    posts.count()
}

/// A request under way, and its status.
type Sent = Pin<Box<dyn Future<Output = Result<u16, BoxError>> + Send>>;

fn sent<E: Into<BoxError>>(
    sending: impl Future<Output = Result<Response, E>> + Send + 'static,
) -> Sent {
    Box::pin(async move {
        let response = sending.await.map_err(Into::into)?;
        let status = response.status().as_u16();
        response.bytes().await?;
        Ok(status)
    })
}

fn stream() -> Body {
    let part = hyper::body::Frame::data(hyper::body::Bytes::from_static(b"5"));
    let parts = futures::stream::iter([Ok::<_, io::Error>(part)]);
    Body::wrap(http_body_util::StreamBody::new(parts))
}

fn chain() -> ClientBuilder {
    ClientBuilder::new(http())
}

type Unchecked = Pin<Box<dyn Future<Output = client::Result<Response>> + Send>>;

/// An interface whose calls are requests that may not run twice.
trait Api {
    fn once(&self, url: &str) -> Sent;
    fn unchecked(&self, url: &str) -> Unchecked;
}

impl Api for Client {
    fn once(&self, url: &str) -> Sent {
        sent(self.post(url).body("5").send_checked())
    }

    fn unchecked(&self, url: &str) -> Unchecked {
        Box::pin(self.post(url).body("5").send())
    }
}

/// A client around that of `reqwest`.
struct Wrapper(Client);

impl Wrapper {
    fn post(&self, url: &str) -> Builder {
        Builder(self.0.post(url))
    }
}

struct Builder(RequestBuilder);

impl Builder {
    fn send(self) -> Unchecked {
        Box::pin(self.0.body("5").send())
    }

    fn send_checked(self) -> Sent {
        sent(self.0.body("5").send_checked())
    }
}

fn stored(url: &str) -> RequestBuilder {
    http().post(url).body("5")
}

/// A way to send a request, with its name.
type Way = (&'static str, fn(&str) -> Sent);

/// Each way to send a request that may not run twice.
const WAYS: [Way; 13] = [
    ("none", |url| sent(http().post(url).send_checked())),
    ("bytes", |url| {
        sent(http().post(url).body("5").send_checked())
    }),
    ("stream", |url| {
        sent(http().post(url).body(stream()).send_checked())
    }),
    ("refusals", |url| {
        let post = http().request(Method::POST, url).body("5");
        sent(post.with_refusals(|status, _| status == 501).send_checked())
    }),
    ("middleware", |url| {
        sent(chain().build().post(url).body("5").send_checked())
    }),
    ("policy", |url| {
        sent(http().post(url).body("5").send_with(&POLICY))
    }),
    ("middleware, policy", |url| {
        sent(chain().build().post(url).body("5").send_with(&POLICY))
    }),
    ("layer", |url| {
        let layered = chain().with(RetryLayer::new(POLICY)).build();
        sent(layered.post(url).body("5").send_checked())
    }),
    ("layers", |url| {
        let layers = chain().with(RetryLayer::new(POLICY));
        let layered = layers.with(RetryLayer::new(POLICY)).build();
        sent(layered.post(url).body("5").send_checked())
    }),
    ("trait object", |url| {
        let api: &dyn Api = &http();
        api.once(url)
    }),
    ("wrapper", |url| Wrapper(http()).post(url).send_checked()),
    ("stored", |url| {
        let request = stored(url).build().unwrap();
        sent(RequestBuilder::from_parts(http(), request).send_checked())
    }),
    ("copy", |url| {
        sent(stored(url).try_clone().unwrap().send_checked())
    }),
];

/// Scripts after each of which the POST may have run; whether that is known to be over a redirect, and the status of the error.
const LOST: [(&str, &[Answer], bool, Option<u16>); 11] = [
    ("reset", &[Answer::Reset], false, None),
    ("close", &[Answer::Close], false, None),
    ("503", &[BUSY], false, Some(503)),
    ("429", &[THROTTLED], false, Some(429)),
    ("not followed", &[NOWHERE], false, Some(303)),
    ("301 to nobody", &[MOVED], true, None),
    ("302 to nobody", &[FOUND], true, None),
    ("303 to nobody", &[ELSEWHERE], true, None),
    ("to 421", &[REDIRECT, MISDIRECTED], true, Some(421)),
    ("to 425", &[REDIRECT, EARLY], true, Some(425)),
    ("to a reset", &[REDIRECT, Answer::Reset], false, None),
];

#[retry(attempts = 3, base = "1ms", when = |_| true)]
async fn by_when(send: fn(&str) -> Sent, url: &str) -> Result<u16, BoxError> {
    send(url).await
}

#[retry(attempts = 3, base = "1ms", on(client::Error))]
async fn by_on(send: fn(&str) -> Sent, url: &str) -> Result<u16, BoxError> {
    send(url).await
}

/// The error becomes a text, and the outer call knows only that.
#[retry(attempts = 3, base = "1ms", when = |_| true)]
async fn by_text(send: fn(&str) -> Sent, url: &str) -> io::Result<u16> {
    let answered = by_on(send, url).await;
    answered.map_err(|error| io::Error::new(io::ErrorKind::ConnectionReset, error.to_string()))
}

/// The attempt learns nothing from a task, so the error alone holds.
#[retry(attempts = 3, base = "1ms", on(client::Error))]
async fn in_task(send: fn(&str) -> Sent, url: &str) -> Result<u16, BoxError> {
    tokio::spawn(send(url)).await.expect("no panic")
}

#[tokio::test]
async fn a_post_that_may_have_run_is_sent_once_whatever_the_rules_say() {
    for (what, script, redirected, status) in LOST {
        for (way, send) in WAYS {
            for caller in ["run", "when", "on", "text", "task"] {
                let server = Loopback::start(script).await;
                let url = server.url();
                let run = run!(policy = POLICY, when = |_| true, async || send(&url).await);
                let (failed, report) = match caller {
                    "run" => with_report(run).await,
                    "when" => with_report(by_when(send, &url)).await,
                    "on" => with_report(by_on(send, &url)).await,
                    "task" => with_report(in_task(send, &url)).await,
                    _ => {
                        let (ended, report) = with_report(by_text(send, &url)).await;
                        (ended.map_err(Into::into), report)
                    }
                };
                let (error, report) = (failed.expect_err(what), report.unwrap());
                let of = format!("{what}, {way}, {caller}: {error:?}");
                assert_eq!(posts(&server), 1, "{of}");
                let outcome = match caller {
                    "task" => Outcome::NotRetryable,
                    _ => Outcome::InDoubt,
                };
                assert_eq!((report.outcome(), report.attempts()), (outcome, 1), "{of}");
                if caller == "text" {
                    continue;
                }
                let doubt = error
                    .source()
                    .and_then(|link| link.downcast_ref::<RequestInDoubt>());
                let doubt = doubt.unwrap_or_else(|| panic!("{of}"));
                assert_eq!(doubt.method(), Method::POST);
                assert_eq!(doubt.verdict(), Verdict::Unknown);
                // A layer says it further inside.
                if !way.starts_with("layer") {
                    assert_eq!(doubt.is_redirected(), redirected, "{of}");
                }
                if let Some(error) = error.downcast_ref::<RequestError>() {
                    assert_eq!(error.status().map(|status| status.as_u16()), status, "{of}");
                }
            }
        }
    }
}

#[tokio::test]
async fn a_post_that_may_run_twice_is_sent_again() {
    for (what, script, ..) in LOST {
        if what == "not followed" {
            continue;
        }
        for (way, send) in WAYS {
            let server = Loopback::start(script).await;
            let url = server.url();
            let twice = run!(
                policy = POLICY,
                when = |_| true,
                idempotent = true,
                async || { send(&url).await }
            );
            twice.await.expect(what);
            assert_eq!(posts(&server), 2, "{what}, {way}");
        }
        let server = Loopback::start(script).await;
        let (url, http) = (server.url(), http());
        let keyed = || {
            http.post(&url)
                .header("idempotency-key", "7")
                .send_checked()
        };
        POLICY.run(keyed).await.expect(what);
        assert_eq!(posts(&server), 2, "{what}, with a key");
    }
}

#[tokio::test]
async fn a_post_that_had_no_effect_is_sent_again() {
    async fn ended(send: fn(&str) -> Sent, url: &str) -> (u32, Outcome) {
        let report = with_report(by_when(send, url)).await.1.unwrap();
        (report.attempts(), report.outcome())
    }
    for (way, send) in WAYS {
        let (attempts, outcome) = ended(send, "http://127.0.0.1:1/").await;
        assert_eq!(
            (attempts, outcome),
            (3, Outcome::AttemptsExhausted),
            "{way}"
        );
        let server = Loopback::start(&[MISDIRECTED, EARLY]).await;
        by_when(send, &server.url()).await.unwrap();
        let server = Loopback::start(&[GONE]).await;
        by_when(send, &server.url()).await.unwrap();
        assert_eq!(
            posts(&server),
            2,
            "{way}: a 404 is closed, and the rule is the caller's"
        );
    }
    let (server, http) = (Loopback::start(&[THROTTLED]).await, http());
    let url = server.url();
    let post = || {
        http.post(&url)
            .with_refusals(|status, _| status == 429)
            .send_checked()
    };
    POLICY.run(post).await.unwrap();
    assert_eq!(posts(&server), 2);
}

/// What sends in each of two bodies, which both come to it while both run.
#[retry(attempts = 2, hedge = "20ms", timeout = "1s", when = |_| true)]
async fn hedged(
    both: &Barrier,
    caller: &str,
    send: fn(&str) -> Sent,
    url: &str,
) -> Result<u16, BoxError> {
    both.wait().await;
    match caller {
        "itself" => send(url).await,
        "call" => by_when(send, url).await,
        _ => tokio::spawn(propagate(send(url))).await?,
    }
}

#[retry(attempts = 2, hedge = "20ms", timeout = "1s", when = |_| true, idempotent = true)]
async fn hedged_twice(both: &Barrier, send: fn(&str) -> Sent, url: &str) -> Result<u16, BoxError> {
    both.wait().await;
    send(url).await
}

#[tokio::test]
async fn of_two_attempts_at_once_one_sends_what_may_not_run_twice() {
    const HANG: &[Answer] = &[Answer::Stall; 4];
    let mut calls = JoinSet::new();
    for (way, send) in WAYS {
        for caller in ["itself", "call", "task"] {
            calls.spawn(Scope::new().with_waits(true).run(async move {
                let server = Loopback::start(HANG).await;
                let (both, url) = (Barrier::new(2), server.url());
                let call = hedged(&both, caller, send, &url);
                let report = with_report(call).await.1.unwrap();
                let of = format!("{way}, {caller}");
                assert_eq!((report.attempts(), posts(&server)), (2, 1), "{of}");
                assert_eq!(report.outcome(), Outcome::InDoubt, "{of}");
            }));
        }
        calls.spawn(Scope::new().with_waits(true).run(async move {
            let server = Loopback::start(HANG).await;
            hedged_twice(&Barrier::new(2), send, &server.url())
                .await
                .unwrap_err();
            assert_eq!(posts(&server), 2, "{way}");
        }));
    }
    while let Some(ended) = calls.join_next().await {
        ended.unwrap();
    }
}

/// What a body does after it has posted.
#[derive(Clone, Copy, PartialEq)]
enum Then {
    Fails,
    RecordsProgressOnce,
    Hangs,
}

#[retry(attempts = 3, base = "1ms", timeout = "100ms", when = |_| true)]
async fn posts_and(then: Then, http: &Client, url: &str) -> Result<u16, BoxError> {
    let status = http.post(url).send_once().await?.status().as_u16();
    match then {
        Then::RecordsProgressOnce if Attempt::current().unwrap().number() == 1 => {
            Attempt::record_progress();
        }
        Then::Hangs => std::future::pending().await,
        _ => (),
    }
    Err(format!("lost after {status}").into())
}

/// A session that posts what it reads, and reconnects.
#[retry(attempts = 3, base = "1ms", when = |_| true)]
async fn session(left: &mut u32, http: &Client, url: &str) -> Result<(), BoxError> {
    while *left > 0 {
        http.post(url).send_checked().await?;
        *left -= 1;
        Attempt::record_progress();
        if left.is_multiple_of(2) {
            Err("the connection is lost")?;
        }
    }
    Ok(())
}

#[retry(attempts = 3, base = "1ms", when = |_| true)]
async fn two_calls(first: &str, second: &str) -> Result<u16, BoxError> {
    by_when(WAYS[1].1, first).await?;
    by_when(WAYS[1].1, second).await
}

#[retry(attempts = 3, base = "1ms", when = |_| true)]
async fn two_requests(http: &Client, url: &str) -> Result<(), RequestError> {
    http.post(url).send_checked().await?;
    http.post(url).send_checked().await?;
    Ok(())
}

#[tokio::test]
async fn a_post_that_was_answered_belongs_to_its_attempt_until_that_records_progress() {
    let http = http();
    for (then, script, expected) in [
        (Then::Fails, &[][..], 1),
        (Then::Fails, &[BUSY], 1),
        (Then::Hangs, &[], 1),
        (Then::RecordsProgressOnce, &[], 2),
        (Then::RecordsProgressOnce, &[BUSY], 1),
    ] {
        let server = Loopback::start(script).await;
        let (ended, report) = with_report(posts_and(then, &http, &server.url())).await;
        let error = ended.unwrap_err();
        assert_eq!(posts(&server), expected, "{error}");
        assert_eq!(report.unwrap().outcome(), Outcome::InDoubt, "{error}");
    }
    let server = Loopback::start(&[CUT]).await;
    by_when(WAYS[0].1, &server.url()).await.unwrap_err();
    assert_eq!(posts(&server), 1, "its body broke off");

    let server = Loopback::start(&[]).await;
    session(&mut 5, &http, &server.url()).await.unwrap();
    assert_eq!(posts(&server), 5);

    let server = Loopback::start(&[]).await;
    let ended = two_calls(&server.url(), "http://127.0.0.1:1/").await;
    assert_eq!(posts(&server), 1, "{ended:?}");

    let server = Loopback::start(&[OK, Answer::Reset]).await;
    let ended = two_requests(&http, &server.url()).await;
    assert_eq!(posts(&server), 2, "{ended:?}");
}

#[tokio::test]
async fn a_task_that_carries_the_attempt_and_requests_beside_each_other_are_seen() {
    for way in ["task", "join", "select"] {
        let server = Loopback::start(&[Answer::Stall, Answer::Stall]).await;
        let (url, http) = (server.url(), http());
        let once = || sent(http.post(&url).send_checked());
        let call = run!(
            policy = POLICY,
            when = |_| true,
            async || -> Result<u16, BoxError> {
                match way {
                    "task" => {
                        let task = tokio::spawn(propagate(once()));
                        tokio::time::sleep(Duration::from_millis(30)).await;
                        drop(task);
                        Err("the task runs on")?
                    }
                    "join" => tokio::try_join!(once(), async { Err::<u16, _>("beside it".into()) })
                        .map(|(status, _)| status),
                    _ => tokio::select! {
                        status = once() => status,
                        () = tokio::time::sleep(Duration::from_millis(30)) => Err("too slow".into()),
                    },
                }
            }
        );
        let (ended, report): (_, Option<Report>) = with_report(call).await;
        assert_eq!(report.unwrap().attempts(), 1, "{way}: {ended:?}");
    }
}

/// The body is watched, and sent as it was.
#[tokio::test]
async fn a_redirect_that_keeps_the_method_is_followed_with_the_body() {
    for body in [None, Some(""), Some("5")] {
        let mut heads = Vec::new();
        for is_once in [true, false] {
            let server = Loopback::start(&[TEMPORARY]).await;
            let mut request = http().post(server.url());
            if let Some(body) = body {
                request = request.body(body);
            }
            let response = if is_once {
                request.send_checked().await.unwrap()
            } else {
                request.send().await.unwrap()
            };
            assert_eq!((response.status().as_u16(), posts(&server)), (200, 2));
            let address = server.address.to_string();
            heads.push(server.requests().concat().replace(&address, "shop"));
        }
        assert_eq!(heads[0], heads[1], "{body:?}");
    }
}

#[tokio::test]
async fn a_request_with_a_policy_has_all_retries_of_a_layer() {
    let server = Loopback::start(&[BUSY, Answer::Reset]).await;
    let response = http().get(server.url()).send_with(&POLICY).await.unwrap();
    assert_eq!((response.status().as_u16(), server.calls()), (200, 3));

    let server = Loopback::start(&[BUSY; 9]).await;
    let named = RetryLayer::new(POLICY).with_name("shop");
    let named = http().get(server.url()).send_with(named);
    let (sent, report) = with_report(named).await;
    assert_eq!(sent.unwrap_err().status().unwrap(), 503);
    assert_eq!((report.unwrap().function(), server.calls()), ("shop", 3));

    let server = Loopback::start(&[Answer::Stall; 9]).await;
    let limited = POLICY.with_timeout(Duration::from_millis(50));
    let error = http()
        .post(server.url())
        .send_with(limited)
        .await
        .unwrap_err();
    assert!(matches!(error, RequestError::Stopped(_)), "{error:?}");
    assert_eq!((error.verdict(), posts(&server)), (Verdict::Unknown, 1));

    for (idempotent, refused) in [(true, false), (false, true)] {
        let server = Loopback::start(&[THROTTLED]).await;
        let requests = HttpRequests::new().with_refusals(move |_, _| refused);
        let layer = RetryLayer::new(POLICY).with_requests(requests);
        let search = layer.with_idempotent(idempotent);
        http().post(server.url()).send_with(search).await.unwrap();
        assert_eq!(posts(&server), 2);
    }
}

/// Sends a POST by a layer, whose caller only has the response.
fn layered(url: &str) -> Sent {
    let client = chain().with(RetryLayer::new(POLICY)).build();
    let post = client.post(url).body("5").send();
    sent(async { post.await?.error_for_status().map_err(BoxError::from) })
}

#[tokio::test]
async fn an_outer_call_does_not_repeat_a_post_that_a_layer_did_not_repeat() {
    for (what, script, ..) in LOST {
        if what == "not followed" {
            continue;
        }
        let server = Loopback::start(script).await;
        let (ended, report) = with_report(by_when(layered, &server.url())).await;
        assert_eq!(posts(&server), 1, "{what}: {ended:?}");
        assert_eq!(report.unwrap().outcome(), Outcome::InDoubt, "{what}");
    }
    let (_, report) = with_report(by_when(layered, "http://127.0.0.1:1/")).await;
    assert_eq!(report.unwrap().attempts(), 3);
}

/// Sends it, and reads the status.
async fn plain(
    sending: impl Future<Output = client::Result<Response>>,
) -> Result<u16, RequestError> {
    Ok(sending.await?.status().as_u16())
}

macro_rules! harmful {
    ($($way:ident($http:ident, $url:ident$(, $($rule:tt)+)?) -> $E:ty, $times:literal of $script:expr => $body:block)*) => {
        $(
            #[retry($($($rule)+)?)]
            async fn $way($http: &Client, $url: &str) -> Result<u16, $E> $body
        )*

        /// The rows of the guide: what runs again, and how often the server has it.
        #[expect(
            clippy::needless_question_mark,
            reason = "some rows have this error already"
        )]
        const HARMFUL: &[(Way, &[Answer], usize)] = &[$((
            (stringify!($way), |url| {
                let url = url.to_owned();
                Box::pin(async move { Ok($way(&http(), &url).await?) })
            }),
            &$script,
            $times,
        )),*];
    };
}

harmful! {
    a_write(http, url, timeout = "50ms") -> RequestError, 3 of [Answer::Stall; 3] => {
        plain(http.put(url).send()).await
    }
    a_redirect(http, url, idempotent = false) -> RequestError, 3 of [ELSEWHERE; 3] => {
        plain(http.post(url).send()).await
    }
    a_trait_object(http, url) -> RequestError, 2 of [Answer::Reset] => {
        let api: &dyn Api = http;
        plain(api.unchecked(url)).await
    }
    a_client_of_your_own(http, url) -> RequestError, 2 of [Answer::Reset] => {
        plain(Wrapper(http.clone()).post(url).send()).await
    }
    a_stored_request(http, url) -> RequestError, 2 of [Answer::Reset] => {
        plain(http.execute(stored(url).build()?)).await
    }
    a_copy(_http, url) -> RequestError, 2 of [Answer::Reset] => {
        plain(stored(url).try_clone().unwrap().send()).await
    }
    in_both_attempts(http, url, hedge = "1ms", timeout = "300ms") -> RequestError, 2 of [Answer::Stall; 2] => {
        static BOTH: LazyLock<Barrier> = LazyLock::new(|| Barrier::new(2));
        BOTH.wait().await;
        not_twice(http, url).await
    }
    before_a_step(http, url, when = |_| true) -> BoxError, 3 of [] => {
        not_twice(http, url).await?;
        Err("a later step".into())
    }
    a_closure(http, url, attempts = 1) -> RequestError, 2 of [Answer::Reset] => {
        POLICY.run(|| in_a_closure(http, url)).await
    }
    a_closure_without_limits(http, url, attempts = 1) -> RequestError, 2 of [Answer::Reset] => {
        POLICY.without_limits().run(|| in_a_closure(http, url)).await
    }
    a_client_that_retries(_http, url, idempotent = false) -> RequestError, 2 of [Answer::Reset] => {
        let again = client::retry::for_host("127.0.0.1").classify_fn(|attempt| {
            if attempt.error().is_some() { attempt.retryable() } else { attempt.success() }
        });
        plain(Client::builder().no_proxy().retry(again).build()?.post(url).send()).await
    }
    a_message(_http, url) -> io::Error, 2 of [Answer::Close] => {
        let broker = TcpStream::connect(url.trim_start_matches("http://").trim_end_matches('/'));
        let mut broker = broker.await?;
        // As a client of NATS publishes, and waits for the answer.
        broker.write_all(b"PUB orders 0\r\n\r\n").await?;
        Ok(broker.read_u8().await?.into())
    }
    after_a_layer(_http, url, when = |_| true) -> BoxError, 3 of [] => {
        layered(url).await?;
        Err("a later step".into())
    }
    a_task(http, url, timeout = "50ms", when = |_| true) -> BoxError, 3 of [Answer::Stall; 3] => {
        let end = sent(http.request("POST".parse().unwrap(), url).send_checked());
        tokio::spawn(end).await?
    }
}

#[retry(idempotent = false)]
async fn not_twice(http: &Client, url: &str) -> Result<u16, RequestError> {
    plain(http.post(url).send()).await
}

async fn in_a_closure(http: &Client, url: &str) -> Result<u16, RequestError> {
    plain(http.post(url).send()).await
}

#[tokio::test]
async fn what_no_check_sees_runs_again() {
    for ((way, send), script, times) in HARMFUL {
        let server = Loopback::start(script).await;
        let ended = send(&server.url()).await;
        assert_eq!(server.calls(), *times, "{way}: {ended:?}");
    }
}

#[tokio::test]
async fn a_key_that_the_body_makes_is_another_one_in_each_attempt() {
    static KEYS: AtomicU32 = AtomicU32::new(1);

    #[retry]
    async fn pay(http: &Client, url: &str) -> Result<u16, RequestError> {
        let key = KEYS.fetch_add(1, Relaxed);
        plain(http.post(url).header("idempotency-key", key).send()).await
    }

    let server = Loopback::start(&[Answer::Reset]).await;
    pay(&http(), &server.url()).await.unwrap();
    for (head, key) in server.requests().iter().zip(1..=2) {
        assert!(
            head.contains(&format!("idempotency-key: {key}\r\n")),
            "{head}"
        );
    }
    assert_eq!(server.calls(), 2);
}

/// A service below a layer that makes two requests: the first runs, and the second is refused.
#[tokio::test]
async fn a_layer_sees_a_request_below_it_that_is_sent_once() {
    fn first(calls: &Mutex<u32>) -> Ready<io::Result<http::Response<()>>> {
        *calls.lock().unwrap() += 1;
        ready(Ok(http::Response::new(())))
    }
    for (is_once, expected) in [(false, 3), (true, 1)] {
        static CALLS: Mutex<u32> = Mutex::new(0);
        *CALLS.lock().unwrap() = 0;
        let service = tower::service_fn(move |_: http::Request<()>| async move {
            let post = || http::Request::post("/").body(()).unwrap();
            if is_once {
                send_once(post(), |_| first(&CALLS)).await?;
            } else {
                first(&CALLS).await?;
            }
            let refused = io::ErrorKind::ConnectionRefused;
            Err::<http::Response<http_body_util::Empty<hyper::body::Bytes>>, _>(io::Error::from(
                refused,
            ))
        });
        let client = RetryLayer::new(POLICY).layer(service);
        let request = http::Request::post("/").body(()).unwrap();
        client.oneshot(request).await.unwrap_err();
        assert_eq!(*CALLS.lock().unwrap(), expected, "{is_once}");
    }
}

/// What most calls never need, and the effect itself. A client also watches the body, by a witness and a box, and its error in doubt is in
/// a box. A request that may run twice costs nothing.
#[test]
fn a_request_that_is_sent_once_allocates_twice_and_copies_no_body() {
    type Sending = Pin<Box<dyn Future<Output = bool>>>;
    const LARGE: &[u8] = &[5; 1 << 20];
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_time().build().unwrap();
    let policy = POLICY.without_limits();
    let any = |method: Method, _| -> Sending {
        let request = http::Request::builder().method(method).uri("/");
        let sent = send_once(request.body(()).unwrap(), async |_| {
            Ok::<_, io::Error>(http::Response::new(()))
        });
        Box::pin(sent.map(|sent| sent.is_ok()))
    };
    let client = |method: Method, body: Option<&'static [u8]>| -> Sending {
        // The client refuses it before it connects.
        let request = http().request(method.clone(), "nothing://example/");
        let request = body.into_iter().fold(request, RequestBuilder::body);
        Box::pin(request.send_once().map(move |sent| {
            matches!(sent, Err(RequestError::InDoubt(_))) == (method == Method::POST)
        }))
    };
    for (send, body, over) in [
        (&any as &dyn Fn(Method, _) -> Sending, None, 2),
        (&client, None, 2 + 2 + 1),
        (&client, Some(LARGE), 2 + 2 + 1),
    ] {
        let [_, twice, once] = [Method::GET, Method::GET, Method::POST].map(|method| {
            let send = || async { Ok::<_, io::Error>(send(method.clone(), body).await) };
            let call = || assert!(runtime.block_on(policy.run(send).unboxed()).unwrap());
            allocation_counter::measure(call)
        });
        let allocations = [twice, once].map(|measured| measured.count_total);
        assert_eq!(allocations[1], allocations[0] + over, "{allocations:?}");
        assert!(once.bytes_total < 1 << 20, "the body is copied");
    }
}
