//! Which requests the service answers, by what a browser says of them.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::program::Service;
use crate::{Failure, Tested};

/// Routes that only tell something, and one that does not exist.
const READS: [&str; 4] = ["GET /", "GET /status", "GET /metrics", "GET /nothing"];

/// Routes that change something.
const CHANGES: [&str; 4] = [
    "POST /retries/false",
    "POST /config/reload",
    "POST /upstreams/cart/dead",
    "POST /checkout",
];

pub(crate) async fn other_web_pages_and_other_hosts_get_nothing_and_change_nothing() -> Tested {
    let service = Service::start_still()?;
    let address = service.url.strip_prefix("http://").ok_or("not http")?;
    let (_, port) = address.split_once(':').ok_or("no port")?;
    let other_port = port.parse::<u16>()? ^ 1;

    let hosts = [
        "Host: evil.example".to_owned(),
        format!("Host: evil.example:{port}"),
        format!("Host: localhost.evil.example:{port}"),
        format!("Host: 127.0.0.1:{other_port}"),
        "Host: 127.0.0.1".to_owned(),
        "Host:".to_owned(),
        format!("Host: {address}\r\nHost: evil.example"),
        format!("Host: {address}\r\nHost: {address}"),
    ];
    let origins = [
        "Origin: http://evil.example".to_owned(),
        "Origin: null".to_owned(),
        format!("Origin: https://{address}"),
        format!("Origin: http://127.0.0.1:{other_port}"),
        format!("Origin: http://{address}.evil.example"),
        // A page at this address has another origin than one at 127.0.0.1.
        format!("Origin: http://localhost:{port}"),
    ];
    for route in READS.into_iter().chain(CHANGES) {
        for host in &hosts {
            let refused = ask(address, &format!("{route} HTTP/1.1\r\n{host}")).await?;
            refused.is(421, "only for itself", &format!("{route} with {host}"));
        }
        let (method, path) = route.split_once(' ').ok_or("no path")?;
        for target in ["evil.example", &format!("evil.example@{address}")] {
            let head = format!("{method} http://{target}{path} HTTP/1.1\r\nHost: {address}");
            ask(address, &head).await?.is(421, "only for itself", &head);
        }
        let without = ask(address, &format!("{route} HTTP/1.0")).await?;
        without.is(421, "only for itself", &format!("{route} without a host"));
        for origin in &origins {
            let head = format!("{route} HTTP/1.1\r\nHost: {address}\r\n{origin}");
            let refused = ask(address, &head).await?;
            refused.is(403, "another web page", &format!("{route} with {origin}"));
        }
    }
    for (site, route) in ["cross-site", "same-site"]
        .into_iter()
        .flat_map(|site| CHANGES.map(|route| (site, route)))
    {
        let head = format!("{route} HTTP/1.1\r\nHost: {address}\r\nSec-Fetch-Site: {site}");
        let refused = ask(address, &head).await?;
        refused.is(403, "another web page", &format!("{route} from {site}"));
    }
    let status = service.status().await?;
    assert_eq!(status["retries"], true, "the retries are on");
    assert_eq!(status["upstreams"][1]["health"], "healthy", "{status}");
    Ok(())
}

pub(crate) async fn the_own_page_and_programs_are_answered() -> Tested {
    let service = Service::start_still()?;
    let address = service.url.strip_prefix("http://").ok_or("not http")?;
    let (_, port) = address.split_once(':').ok_or("no port")?;
    for name in ["127.0.0.1", "localhost", "LOCALHOST", "[::1]"] {
        let host = format!("{name}:{port}");
        // Programs send neither header. A browser sends `none` for an address that a person typed.
        let opened = ["", "\r\nSec-Fetch-Site: none"];
        // A link on another page opens this one.
        let linked = "\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate";
        for headers in opened.into_iter().chain([linked]) {
            let head = format!("GET / HTTP/1.1\r\nHost: {host}{headers}");
            ask(address, &head).await?.is(200, "</html>", &head);
        }
        let own = format!("\r\nOrigin: http://{host}\r\nSec-Fetch-Site: same-origin");
        for (headers, on) in [("", false), (&own, true)] {
            let head = format!("POST /retries/{on} HTTP/1.1\r\nHost: {host}{headers}");
            ask(address, &head).await?.is(204, "", &head);
            assert_eq!(service.status().await?["retries"], on, "{head}");
        }
    }
    let head = format!("GET http://{address}/metrics HTTP/1.1\r\nHost: {address}");
    ask(address, &head).await?.is(200, "", &head);
    // A program that speaks HTTP/1.0, but names the host.
    let head = format!("GET /metrics HTTP/1.0\r\nHost: {address}");
    ask(address, &head).await?.is(200, "", &head);
    Ok(())
}

/// What the service answered.
struct Answer {
    status: u16,
    text: String,
}

impl Answer {
    fn is(&self, status: u16, text: &str, request: &str) {
        assert_eq!(self.status, status, "{request}");
        assert!(self.text.contains(text), "{request}: {}", self.text);
    }
}

/// Sends the head of a request as it is.
async fn ask(address: &str, head: &str) -> Result<Answer, Failure> {
    let mut stream = TcpStream::connect(address).await?;
    let request = format!("{head}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    let status = answer.split(' ').nth(1).ok_or("no status")?.parse()?;
    Ok(Answer {
        status,
        text: answer,
    })
}
