//! The line of Cargo.toml and the functions of the README compile and run in an empty package.
//!
//! The package is in the target folder of the workspace and shares its compiled crates, so the test is quick.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{env, fs};

use crate::markdown::{read, table};

const README: &str = include_str!("../../README.md");

/// What the reader of the page has already, with the features that the workspace has locked.
const READERS: &str = r#"
reqwest = { version = "0.13", default-features = false }
reqwest-middleware = { version = "0.5", default-features = false }
tracing-subscriber = { version = "0.3", default-features = false, features = ["fmt", "std"] }
"#;

/// Calls the function of the page where nothing listens, for its log, and then the lines of the table against a server that asks each
/// of them to come back.
const MAIN: &str = r#"
use reattempt::reqwest_0_13::RequestExt as _;
use reattempt::reqwest_middleware_0_5::RetryLayer;
use reattempt::{Policy, retry, run};
use reqwest_middleware::ClientBuilder;

const POLICY: Policy = Policy::new();

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    let level = tracing_subscriber::filter::LevelFilter::DEBUG;
    let log = tracing_subscriber::fmt().with_max_level(level).without_time().with_target(false).with_ansi(false).finish();
    let there = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let gone = tokio::net::TcpListener::bind("127.0.0.1:0").await?.local_addr()?.to_string();
    {
        let _log = tracing_subscriber::util::SubscriberInitExt::set_default(log);
        connect(&gone).await.unwrap_err();
    }
    drop(connect(&there.local_addr()?.to_string()).await?);
    there.accept().await?;
    let address = there.local_addr()?;
    let server = async {
        for request in 0.. {
            let (mut stream, _) = there.accept().await.unwrap();
            let head = if request % 2 == 0 { "503 Service Unavailable\r\nretry-after: 0" } else { "200 OK" };
            let answer = format!("HTTP/1.1 {head}\r\nconnection: close\r\ncontent-length: 6\r\n\r\npasted");
            let _ = stream.read(&mut [0; 1024]).await;
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    };
    let client = reqwest::Client::builder().no_proxy().build()?;
    let url = &format!("http://{address}/");
    let calls = async {
        let all = { let client = client.clone(); LINE_0 };
        println!("{}", all.get(url).send().await?.text().await?);
        let one = LINE_1;
        println!("{}", one.text().await?);
        let closure = LINE_2;
        println!("{}", closure.text().await?);
        Ok::<_, Box<dyn std::error::Error>>(())
    };
    tokio::select! {
        ended = calls => ended,
        () = server => Ok(()),
    }
}

LINE_3
#[allow(dead_code, reason = "only compiled")]
async fn annotated() -> io::Result<()> {
    Ok(())
}
"#;

/// The code blocks of the page in this language.
fn blocks(language: &str) -> Vec<&'static str> {
    let mark = format!("```{language}\n");
    let blocks = README.split(&mark).skip(1);
    blocks
        .map(|block| block.split_once("```").unwrap().0)
        .collect()
}

fn package() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let [dependencies] = blocks("toml")[..] else {
        panic!("the page has one block of dependencies");
    };
    let [function] = blocks("rust")[..] else {
        panic!("the page has one function");
    };
    let manifest = format!(
        "[package]\nname = \"pasted\"\nedition = \"2024\"\n\n[workspace]\n\n\
         {dependencies}{READERS}\n[patch.crates-io]\nreattempt = {{ path = '{}' }}\n",
        root.display()
    );
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pasted");
    fs::create_dir_all(folder.join("src")).unwrap();
    fs::write(folder.join("Cargo.toml"), manifest).unwrap();
    // What cargo itself warns of, such as a network that is slow, is not the page's.
    let rows = table(README, "| retry | write |");
    assert_eq!(
        rows.len(),
        4,
        "README.md, `| retry | write |`: a line for each row"
    );
    let main = (0..)
        .zip(&rows)
        .fold(MAIN.to_owned(), |main, (row, cells)| {
            let line = cells[1].trim_matches('`').replace("\\|", "|");
            main.replace(&format!("LINE_{row}"), &line)
        });
    let main = format!("#![deny(warnings)]\n{function}{main}");
    fs::write(folder.join("src/main.rs"), main).unwrap();
    // The versions are those of the workspace, so that cargo downloads nothing.
    fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock")).unwrap();
    folder
}

/// Runs cargo in the package.
fn cargo(folder: &Path, arguments: &[&str]) -> Output {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let mut command = Command::new(cargo);
    command.args(arguments).current_dir(folder);
    command.env("CARGO_TARGET_DIR", target).output().unwrap()
}

#[test]
#[ignore = "it builds a package of its own: `cargo test --test checkout -- --ignored`, as `.ci/run` does"]
fn the_readme_compiles_and_runs_as_pasted() {
    let output = cargo(&package(), &["run"]);
    let log = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{log}");
    let printed = String::from_utf8_lossy(&output.stdout);
    let (log, answers) = printed.split_at(printed.find("\npasted\n").map_or(0, |at| at + 1));
    assert_eq!(answers, "pasted\n".repeat(3), "{printed}");
    // The page leaves out what differs from call to call, and has another name for the crate.
    let [shown] = blocks("text")[..] else {
        panic!("README.md shows one log");
    };
    assert_eq!(log.lines().count(), shown.lines().count(), "{log}");
    for (line, shown) in log.replace("pasted::", "shop::").lines().zip(shown.lines()) {
        for part in shown.split(" … ").map(|part| part.trim_end_matches(" …")) {
            assert!(line.contains(part), "README.md: {part}\n{line}");
        }
    }
}

/// `trybuild` does not show an error that has the place of another one.
#[test]
#[ignore = "it checks a package of its own: `cargo test --test checkout -- --ignored`, as `.ci/run` does"]
fn a_token_that_is_no_future_has_one_error() {
    let folder = package();
    let source = read("tests/ui/fail/cancel-token.rs");
    fs::create_dir_all(folder.join("examples")).unwrap();
    for key in ["cancel", "cancel_waits"] {
        let source = source.replace("cancel = token", &format!("{key} = token"));
        fs::write(folder.join("examples/token.rs"), source).unwrap();
        let output = cargo(&folder, &["check", "--example", "token"]);
        let log = String::from_utf8_lossy(&output.stderr);
        assert_eq!(log.matches("error[").count(), 1, "{log}");
    }
}
