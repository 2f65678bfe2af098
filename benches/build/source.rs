//! The same functions three times: plain, with a loop written by hand, and annotated.

use std::fmt::Write as _;

/// In the order in which they are compared.
pub(crate) const VERSIONS: [&str; 3] = ["plain", "by_hand", "annotated"];

/// What every version begins with.
const HEAD: &str = "\
#![allow(dead_code, unused_imports)]
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::time::Duration;

use rand::RngExt as _;
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep, timeout_at};

fn is_temporary(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::ConnectionReset | io::ErrorKind::ConnectionRefused)
}

fn delay(attempt: u32) -> Duration {
    let ceiling = Duration::from_millis(100).saturating_mul(1 << (attempt - 1).min(20));
    rand::rng().random_range(Duration::ZERO..=ceiling.min(Duration::from_secs(20)))
}
";

const BODY: &str = "\
    let mut reply = String::with_capacity(text.len());
    TcpStream::connect(addr).await?.read_to_string(&mut reply).await?;
    Ok(reply)";

/// With a timeout and a deadline.
const LIMITED: &str = "\
    let deadline = Instant::now() + Duration::from_secs(5);
    let mut attempt = 0;
    loop {
        attempt += 1;
        let limit = (Instant::now() + Duration::from_millis(1500)).min(deadline);
        let work = async {
            BODY
        };
        let error = match timeout_at(limit, work).await {
            Ok(Ok(value)) => return Ok(value),
            Ok(Err(error)) if is_temporary(&error) => error,
            Ok(Err(error)) => return Err(error),
            Err(_) => io::ErrorKind::TimedOut.into(),
        };
        let delay = delay(attempt);
        if attempt == 4 || Instant::now() + delay >= deadline {
            return Err(error);
        }
        sleep(delay).await;
    }";

/// With a number of attempts alone.
const COUNTED: &str = "\
    let mut attempt = 0;
    loop {
        attempt += 1;
        let work = async {
            BODY
        };
        let result: io::Result<String> = work.await;
        match result {
            Ok(value) => return Ok(value),
            Err(error) if attempt < 3 && is_temporary(&error) => sleep(delay(attempt)).await,
            Err(error) => return Err(error),
        }
    }";

/// A program with so many functions of a version, all of which are compiled to machine code.
pub(crate) fn source(version: &str, functions: usize) -> String {
    let mut program = HEAD.to_owned();
    let mut calls = String::new();
    for number in 0..functions {
        let limited = number % 2 == 0;
        let (attribute, body) = match (version, limited) {
            ("annotated", true) => (
                "#[reattempt::retry(attempts = 4, timeout = \"1.5s\", jitter = \"full\", on = \"io::Error\", deadline = \"5s\")]\n",
                BODY.to_owned(),
            ),
            ("annotated", false) => ("#[reattempt::retry]\n", BODY.to_owned()),
            ("by_hand", true) => ("", LIMITED.replace("BODY", BODY)),
            ("by_hand", false) => ("", COUNTED.replace("BODY", BODY)),
            _ => ("", BODY.to_owned()),
        };
        let _ = write!(
            program,
            "\n{attribute}async fn fetch_{number}(addr: SocketAddr, text: &str) -> io::Result<String> {{\n{body}\n}}\n"
        );
        let _ = writeln!(calls, "        Box::pin(fetch_{number}(addr, text)),");
    }
    let _ = write!(
        program,
        "\nfn all(addr: SocketAddr, text: &str) -> Vec<Pin<Box<dyn Future<Output = io::Result<String>> + '_>>> {{\n    vec![\n{calls}    ]\n}}\n\nfn main() {{\n    drop(all(([127, 0, 0, 1], 80).into(), \"text\"));\n}}\n"
    );
    program
}
