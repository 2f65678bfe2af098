//! Serves the page, opens it in headless Chromium, and checks what it shows.
//!
//! The server answers the first two requests for the greeting with 503. It answers the request for `/shown` when the page
//! is done, because Chromium prints a page when all of it is loaded.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Condvar, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use wasm_bindgen_cli_support::Bindgen;

const PAGE: &str =
    "<!doctype html><meta charset=utf-8><title>Greeting</title><link rel=icon href=data:,>
<p id=greeting>asking</p><img src=/shown alt=''>
<script type=module>
import load, { show } from './browser.js';
await load({ module_or_path: '/browser_bg.wasm' });
await show();
await fetch('/done');
</script>
";

fn main() -> anyhow::Result<()> {
    let wasm = std::env::args_os().nth(1).context("expected a wasm file")?;
    let folder = std::env::temp_dir().join(format!("reattempt-page-{}", std::process::id()));
    let mut bindgen = Bindgen::new();
    bindgen
        .input_path(PathBuf::from(wasm))
        .web(true)?
        .typescript(false);
    bindgen.generate(&folder)?;
    let seen = show(&folder);
    fs::remove_dir_all(&folder)?;
    seen
}

/// What the page has asked for.
struct Asked {
    greetings: u32,
    done: bool,
}

static ASKED: Mutex<Asked> = Mutex::new(Asked {
    greetings: 0,
    done: false,
});
static CHANGED: Condvar = Condvar::new();

fn show(folder: &Path) -> anyhow::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let url = format!("http://{}/", listener.local_addr()?);
    let served = folder.to_owned();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let served = served.clone();
            thread::spawn(move || answer(stream, &served));
        }
    });
    let shown = Command::new("chromium")
        .args([
            "--headless",
            "--no-sandbox",
            "--enable-logging=stderr",
            "--dump-dom",
        ])
        .arg(format!(
            "--user-data-dir={}",
            folder.join("profile").display()
        ))
        .arg(&url)
        .output()
        .context("chromium does not start")?;
    let page = String::from_utf8_lossy(&shown.stdout);
    let greetings = asked().greetings;
    let expected = "<p id=\"greeting\">hello after 3 attempts</p>";
    ensure!(
        page.contains(expected) && greetings == 3,
        "after {greetings} requests, expected {expected} in this page:\n{page}\n{}",
        String::from_utf8_lossy(&shown.stderr)
    );
    println!("the page shows \"hello after 3 attempts\"");
    Ok(())
}

fn asked() -> MutexGuard<'static, Asked> {
    ASKED.lock().expect("no thread panics with it")
}

fn answer(mut stream: TcpStream, folder: &Path) -> anyhow::Result<()> {
    let mut request = BufReader::new(stream.try_clone()?).lines();
    let line = request.next().context("no request")??;
    // The headers.
    request.find(|line| line.as_ref().is_ok_and(String::is_empty));
    let (mut status, mut body) = ("200 OK", Vec::new());
    let kind = match line.split(' ').nth(1).context("no path")? {
        "/" => {
            body.extend(PAGE.bytes());
            "text/html"
        }
        "/browser.js" => {
            body = fs::read(folder.join("browser.js"))?;
            "text/javascript"
        }
        "/browser_bg.wasm" => {
            body = fs::read(folder.join("browser_bg.wasm"))?;
            "application/wasm"
        }
        "/greeting" => {
            let mut asked = asked();
            asked.greetings += 1;
            if asked.greetings < 3 {
                status = "503 Service Unavailable";
            }
            body.extend(b"hello");
            "text/plain"
        }
        "/done" => {
            asked().done = true;
            CHANGED.notify_all();
            "text/plain"
        }
        "/shown" => {
            let longest = Duration::from_secs(30);
            drop(CHANGED.wait_timeout_while(asked(), longest, |asked| !asked.done));
            "text/plain"
        }
        path => bail!("nothing is at {path}"),
    };
    write!(
        stream,
        "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    )?;
    stream.write_all(&body)?;
    Ok(())
}
