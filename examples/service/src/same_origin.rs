//! Refuses what a browser sends for another site's web page.
//!
//! An address such as 127.0.0.1 does not keep other pages out: a browser that runs on this machine sends their requests
//! here. It also says where a request comes from, and a page cannot change these headers:
//!
//! - `Host` is the name that the page has for this server. The owner of `evil.example` can point that name to 127.0.0.1
//!   and would read the answers (DNS rebinding), so this is checked on every route. There is one `Host`, and the target of
//!   the request names no other.
//! - `Origin` is the page that sends the request. A page of this server has the origin `http://` and `Host`.
//! - `Sec-Fetch-Site` says the same in a word. It is checked where a request can change something, and not where it can
//!   be a link: a browser shows what is behind a link, but does not let the other page read it.
//!
//! Programs such as Prometheus and curl send `Host` alone. This does not replace authentication, which keeps programs
//! and people out.

use axum::extract::{Request, State};
use axum::http::header::{HOST, HeaderName, ORIGIN};
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::Response;

/// The names of this machine. In your own service, write the names in its URLs. Behind TLS, an origin begins with
/// `https://`, and the port that a browser leaves out is 443.
const NAMES: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

type Refusal = (StatusCode, String);

/// Answers a request for this port, unless the page of another origin sends it.
pub(crate) async fn check(
    State(port): State<u16>,
    request: Request,
    next: Next,
) -> Result<Response, Refusal> {
    allow(port, &request)?;
    Ok(next.run(request).await)
}

fn allow(port: u16, request: &Request) -> Result<(), Refusal> {
    let headers = request.headers();
    let header = |name| headers.get(name).map(HeaderValue::as_bytes);
    let host = header(HOST).unwrap_or_default();
    // A proxy before this server may read another of two hosts, or that of a target such as `GET http://evil.example/`.
    let one_host = headers.get_all(HOST).iter().count() == 1
        && (request.uri().authority())
            .is_none_or(|target| host.eq_ignore_ascii_case(target.as_str().as_bytes()));
    if !one_host || !is_this_server(host, port) {
        let text = format!("this server answers only for itself: open http://127.0.0.1:{port}\n");
        return Err((StatusCode::MISDIRECTED_REQUEST, text));
    }
    let own_origin = header(ORIGIN)
        .is_none_or(|origin| origin.strip_prefix(b"http://").is_some_and(|of| of == host));
    let own_site =
        header(SEC_FETCH_SITE).is_none_or(|site| matches!(site, b"same-origin" | b"none"));
    if own_origin && (own_site || request.method().is_safe()) {
        return Ok(());
    }
    let text = "another web page sent this request: use the page of this server\n";
    Err((StatusCode::FORBIDDEN, text.to_owned()))
}

/// A browser leaves the port out if it is 80.
fn is_this_server(host: &[u8], port: u16) -> bool {
    NAMES.iter().any(|name| {
        host.eq_ignore_ascii_case(format!("{name}:{port}").as_bytes())
            || (port == 80 && host.eq_ignore_ascii_case(name.as_bytes()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_port_80_can_be_left_out() {
        for (host, port, expected) in [
            ("localhost", 80, true),
            ("localhost:80", 80, true),
            ("localhost", 8080, false),
            ("localhost:", 8080, false),
            ("localhost:8080", 80, false),
            ("[::1]:8080", 8080, true),
        ] {
            assert_eq!(is_this_server(host.as_bytes(), port), expected, "{host}");
        }
    }
}
