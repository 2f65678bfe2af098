//! Recipes of the pages on clients and on progress, each against the fault that it is about.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::any;
use integrations::loopback::{Answer, Loopback, OK};
use reattempt::reqwest_0_13::{RequestError, RequestExt as _, ResponseExt as _};
use reattempt::{Attempt, Retryable, Verdict, parse_duration, propagate, retry};
use reqwest::{Client, redirect};
use tokio::net::TcpListener;
use tokio::sync::RwLock;

/// Starts a server of these requests. Returns its URL.
async fn serve<S: Send + Sync + 'static>(
    state: Arc<S>,
    answer: fn(&S, &Method, &HeaderMap, &[u8]) -> Response,
) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let handler =
        move |State(state): State<Arc<S>>, method: Method, headers: HeaderMap, body: Bytes| {
            std::future::ready(answer(&state, &method, &headers, &body))
        };
    let router = Router::new().fallback(any(handler)).with_state(state);
    tokio::spawn(async { axum::serve(listener, router).await });
    url
}

fn client() -> Client {
    Client::builder().no_proxy().build().unwrap()
}

/// A client of a service that asks for a token. All its calls share the token.
struct Api {
    client: Client,
    url: String,
    token: RwLock<String>,
}

impl Api {
    /// A 401 is no failed attempt: the body sends one more request.
    #[retry(attempts = 3, base = "10ms")]
    async fn ask(&self) -> Result<String, RequestError> {
        let token = self.token.read().await.clone();
        let mut answer = self
            .client
            .get(&self.url)
            .bearer_auth(&token)
            .send()
            .await?;
        if answer.status() == 401 {
            let token = self.refresh(&token).await?;
            answer = self.client.get(&self.url).bearer_auth(token).send().await?;
        }
        // A second 401 is permanent.
        Ok(answer.check()?.text().await?)
    }

    /// Returns another token than the one that was refused. Of many callers, one asks for it.
    async fn refresh(&self, refused: &str) -> Result<String, RequestError> {
        let mut token = self.token.write().await;
        if *token == refused {
            let answer = self.client.post(&self.url).send_checked().await?;
            *token = answer.text().await?;
            // What was answered shall not end a call that fails later.
            Attempt::record_progress();
        }
        Ok(token.clone())
    }
}

/// A login whose refresh token is replaced at each use. Without one, it is not known which is valid.
struct Login {
    client: Client,
    url: String,
    refresh: tokio::sync::Mutex<Option<String>>,
}

#[derive(Debug, thiserror::Error, Retryable)]
enum LoginError {
    #[error("sign in again")]
    #[retryable(permanent)]
    SignIn,
    #[error("no answer")]
    #[retryable(forward)]
    Request(#[from] RequestError),
}

impl Login {
    /// In a task, since a caller that is dropped must not cut it.
    async fn refresh(self: Arc<Self>, refused: &'static str) -> Result<String, LoginError> {
        let refreshed = async move {
            let mut kept = self.refresh.lock().await;
            let token = kept.take().ok_or(LoginError::SignIn)?;
            if token != refused {
                // Another call has replaced it.
                return Ok(kept.insert(token).clone());
            }
            let request = self.client.post(&self.url).body(token.clone());
            let new = async { Ok(request.send_checked().await?.text().await?) };
            let new: Result<String, RequestError> = new.await;
            // Store it here, before it is used.
            let token = match &new {
                Ok(new) => Some(new.clone()),
                Err(error) => (!error.may_have_run()).then_some(token),
            };
            kept.clone_from(&token);
            // In doubt, the old token is not sent again.
            token.ok_or(LoginError::SignIn)?;
            Ok(new?)
        };
        let task = tokio::spawn(propagate(refreshed));
        task.await.expect("it does not panic")
    }
}

#[tokio::test]
async fn a_refresh_token_is_not_sent_again_after_a_doubt() {
    const BUSY: Answer = Answer::Bytes(b"HTTP/1.1 401 No\r\ncontent-length: 0\r\n\r\n");
    for (script, calls, sign_in) in [(&[Answer::Reset], 1, 50), (&[BUSY], 2, 0), (&[OK], 1, 0)] {
        let server = Loopback::start(script).await;
        let login = Arc::new(Login {
            client: client(),
            url: server.url(),
            refresh: tokio::sync::Mutex::new(Some("first".to_owned())),
        });
        let asked = (0..50).map(|_| Arc::clone(&login).refresh("first"));
        let asked = futures::future::join_all(asked).await;
        let signs_in = asked
            .iter()
            .filter(|ended| matches!(ended, Err(LoginError::SignIn)));
        assert_eq!((server.calls(), signs_in.count()), (calls, sign_in));
    }
}

/// Of requests, and of refreshes, and the token that is valid.
#[derive(Default)]
struct Tokens {
    requests: AtomicU32,
    refreshes: AtomicU32,
    valid: Mutex<&'static str>,
}

fn with_tokens(tokens: &Tokens, method: &Method, headers: &HeaderMap, _: &[u8]) -> Response {
    if method == Method::POST {
        tokens.refreshes.fetch_add(1, Relaxed);
        return "new".into_response();
    }
    let number = tokens.requests.fetch_add(1, Relaxed);
    let valid = format!("Bearer {}", tokens.valid.lock().unwrap());
    if headers[header::AUTHORIZATION] != valid {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    if number == 0 {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    }
    "done".into_response()
}

#[tokio::test]
async fn a_token_is_refreshed_once_for_all_callers_and_not_after_a_503() {
    for (valid, refreshes, requests, succeeds) in [
        ("old", 0, 11, true),
        ("new", 1, 20, true),
        ("lost", 1, 20, false),
    ] {
        let tokens = Arc::new(Tokens {
            valid: Mutex::new(valid),
            ..Tokens::default()
        });
        let api = Api {
            client: client(),
            url: serve(Arc::clone(&tokens), with_tokens).await,
            token: RwLock::new("old".to_owned()),
        };
        let asked = futures::future::join_all((0..10).map(|_| api.ask())).await;
        assert!(
            asked.iter().all(|asked| asked.is_ok() == succeeds),
            "{valid}: {asked:?}"
        );
        assert_eq!(tokens.refreshes.load(Relaxed), refreshes, "{valid}");
        // Ten callers at once: some may get the new token before they ask.
        assert!(tokens.requests.load(Relaxed) <= requests, "{valid}");
    }
}

/// Delivers a webhook, with a client that follows no redirect. The receiver knows an event again by its number.
#[retry(attempts = 3, base = "10ms")]
async fn deliver(client: &Client, url: &str, event: Option<u32>) -> Result<(), RequestError> {
    let mut request = client.post(url).body("paid");
    if let Some(event) = event {
        request = request.header("idempotency-key", event);
    }
    request.send_checked().await?;
    Ok(())
}

fn moved(posts: &AtomicU32, method: &Method, _: &HeaderMap, _: &[u8]) -> Response {
    if method == Method::GET {
        return "a page for people".into_response();
    }
    if posts.fetch_add(1, Relaxed).is_multiple_of(2) {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    }
    (StatusCode::FOUND, [(header::LOCATION, "/login")]).into_response()
}

#[tokio::test]
async fn a_webhook_that_is_redirected_is_not_delivered() {
    let posts = Arc::new(AtomicU32::new(0));
    let url = serve(Arc::clone(&posts), moved).await;
    // By default, the client makes a GET of it, whose answer is 200.
    deliver(&client(), &url, Some(1)).await.unwrap();
    let none = Client::builder()
        .no_proxy()
        .redirect(redirect::Policy::none());
    let none = none.build().unwrap();
    let error = deliver(&none, &url, Some(2)).await.unwrap_err();
    assert!(matches!(error, RequestError::Status(_)), "{error:?}");
    assert_eq!(error.status(), Some(StatusCode::FOUND));
    assert_eq!(posts.load(Relaxed), 4, "each call repeats the 503");
    // Without a key, the first answer that is a failure ends it, whether it is a 503 or a 302.
    for sent in [5, 6] {
        let error = deliver(&none, &url, None).await.unwrap_err();
        assert!(matches!(error, RequestError::InDoubt(_)), "{error:?}");
        assert_eq!(posts.load(Relaxed), sent);
    }
}

/// Sends the rest of a file, after it has asked how far the last attempt came. `session` is the URL that the store gave for the upload.
#[retry(attempts = 3, base = "10ms", timeout = "30s")]
async fn upload(
    client: &Client,
    session: &str,
    file: &'static [u8],
    came: &mut usize,
) -> Result<(), RequestError> {
    let length = file.len();
    let asked = client
        .put(session)
        .header("content-range", format!("bytes */{length}"));
    let asked = asked.send().await?;
    let have = match asked.status().as_u16() {
        308 => {
            let range = asked
                .headers()
                .get("range")
                .and_then(|range| range.to_str().ok());
            let last = range.and_then(|range| range.strip_prefix("bytes=0-")?.parse().ok());
            last.map_or(0, |last: usize| last + 1)
        }
        // The store has all of it: an earlier attempt sent the rest.
        200 | 201 => return Ok(()),
        // A 410: the session is over. The caller asks for a new one, and begins again.
        _ => return asked.check().map(drop).map_err(Into::into),
    };
    if have > *came {
        *came = have;
        Attempt::record_progress();
    }
    let range = format!("bytes {have}-{}/{length}", length - 1);
    let rest = client
        .put(session)
        .header("content-range", range)
        .body(&file[have..]);
    rest.send().await?.check()?;
    Ok(())
}

/// Takes at most three bytes of a request, and then fails.
fn store(stored: &Mutex<Vec<u8>>, _: &Method, headers: &HeaderMap, body: &[u8]) -> Response {
    let mut stored = stored.lock().unwrap();
    if stored.starts_with(b"gone") {
        return StatusCode::GONE.into_response();
    }
    let range = headers["content-range"].to_str().unwrap();
    if range.starts_with("bytes */") {
        return match stored.len() {
            10 => StatusCode::CREATED.into_response(),
            0 => StatusCode::PERMANENT_REDIRECT.into_response(),
            have => (
                StatusCode::PERMANENT_REDIRECT,
                [("range", format!("bytes=0-{}", have - 1))],
            )
                .into_response(),
        };
    }
    assert!(
        range.starts_with(&format!("bytes {}-9/10", stored.len())),
        "{range}"
    );
    let takes = if stored.starts_with(b"full") {
        0
    } else {
        body.len().min(3)
    };
    stored.extend(&body[..takes]);
    // Also the answer to the last bytes is lost.
    StatusCode::SERVICE_UNAVAILABLE.into_response()
}

#[tokio::test]
async fn an_upload_goes_on_where_the_store_says_and_ends_with_its_session() {
    let stored = Arc::new(Mutex::default());
    let url = serve(Arc::clone(&stored), store).await;
    let upload = async || upload(&client(), &url, b"0123456789", &mut 0).await;
    upload().await.unwrap();
    assert_eq!(*stored.lock().unwrap(), b"0123456789");
    for (state, verdict) in [(b"gone", Verdict::Permanent), (b"full", Verdict::Transient)] {
        *stored.lock().unwrap() = state.to_vec();
        assert_eq!(upload().await.unwrap_err().verdict(), verdict);
    }
}

/// The delay that a provider asks for, in its own header.
fn delay(headers: &HeaderMap, now: Duration) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok();
    let number = |name: &str| text(name)?.parse::<u64>().ok();
    if let Some(millis) = number("retry-after-ms") {
        return Some(Duration::from_millis(millis));
    }
    // Of two limits, the one that is used up.
    for of in ["requests", "tokens"] {
        if number(&format!("x-ratelimit-remaining-{of}")) == Some(0) {
            return parse_duration(text(&format!("x-ratelimit-reset-{of}"))?).ok();
        }
    }
    if number("x-ratelimit-remaining") == Some(0) {
        let reset = number("x-ratelimit-reset")?;
        return Some(Duration::from_secs(reset).saturating_sub(now));
    }
    number("ratelimit-reset").map(Duration::from_secs)
}

/// Asks again when the provider says. With a delay, a 403 is retried too: it shall be one whose limit is used up, as GitHub has it.
#[retry(attempts = 3, base = "10ms", idempotent = true)]
async fn prompt(client: &Client, url: &str) -> Result<String, RequestError> {
    let answer = client.post(url).send().await?;
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let asked = delay(answer.headers(), now.unwrap_or_default());
    let is_used_up =
        (answer.headers().get("x-ratelimit-remaining")).is_some_and(|left| left == "0");
    let asked = asked.filter(|_| match answer.status().as_u16() {
        429 => true,
        status => status == 403 && is_used_up,
    });
    let answer = answer.check().map_err(|error| match asked {
        Some(asked) => error.with_retry_after(asked),
        None => error,
    })?;
    Ok(answer.text().await?)
}

type Answers = Vec<(u16, &'static str)>;

fn provider(script: &Mutex<Answers>, _: &Method, _: &HeaderMap, _: &[u8]) -> Response {
    let (status, left) = script.lock().unwrap().remove(0);
    let status = StatusCode::from_u16(status).unwrap();
    let headers = [("retry-after-ms", "150"), ("x-ratelimit-remaining", left)];
    (status, headers).into_response()
}

#[tokio::test]
async fn a_prompt_waits_as_its_provider_says_if_a_limit_is_used_up() {
    for (script, waits) in [
        (&[(429, "9"), (403, "0"), (200, "9")][..], 2),
        (&[(403, "9")], 0),
    ] {
        let succeeds = script.len() > 1;
        let script = Arc::new(Mutex::new(script.to_vec()));
        let url = serve(Arc::clone(&script), provider).await;
        let began = Instant::now();
        let answered = prompt(&client(), &url).await;
        assert_eq!(answered.is_ok(), succeeds, "{answered:?}");
        assert!(began.elapsed() >= waits * Duration::from_millis(150));
        assert!(script.lock().unwrap().is_empty(), "{script:?}");
    }
}

#[test]
fn the_headers_of_providers_say_a_delay() {
    const REQUESTS: (&str, &str) = ("x-ratelimit-remaining-requests", "0");
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
    let now = now.duration_since(SystemTime::UNIX_EPOCH).unwrap();
    for (sent, expected) in [
        (&[("retry-after-ms", "1500")][..], Some(1_500)),
        (
            &[REQUESTS, ("x-ratelimit-reset-requests", "6m0s")],
            Some(360_000),
        ),
        (
            &[REQUESTS, ("x-ratelimit-reset-requests", "88ms")],
            Some(88),
        ),
        (
            &[REQUESTS, ("x-ratelimit-reset-requests", "1h2m3.5s")],
            Some(3_723_500),
        ),
        (
            &[
                ("x-ratelimit-remaining-requests", "7"),
                ("x-ratelimit-reset-requests", "1s"),
                ("x-ratelimit-remaining-tokens", "0"),
                ("x-ratelimit-reset-tokens", "6m0s"),
            ],
            Some(360_000),
        ),
        (
            &[
                ("x-ratelimit-remaining", "0"),
                ("x-ratelimit-reset", "1000060"),
            ],
            Some(60_000),
        ),
        (
            &[
                ("x-ratelimit-remaining", "7"),
                ("x-ratelimit-reset", "1000060"),
            ],
            None,
        ),
        (&[("ratelimit-reset", "30")], Some(30_000)),
        (&[REQUESTS, ("x-ratelimit-reset-requests", "soon")], None),
        (&[("x-ratelimit-reset-requests", "1s")], None),
    ] {
        let mut headers = HeaderMap::new();
        for (name, value) in sent {
            headers.insert(*name, value.parse().unwrap());
        }
        assert_eq!(
            delay(&headers, now),
            expected.map(Duration::from_millis),
            "{sent:?}"
        );
    }
}
