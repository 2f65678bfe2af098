//! The line of Cargo.toml and the functions of the README compile and run in an empty package.
//!
//! The package is in the target folder of the workspace and shares its compiled crates, so the test is quick.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{env, fs};

use crate::markdown::read;

const README: &str = include_str!("../../README.md");

/// What the reader of the page has already, with the features that the workspace has locked.
const READERS: &str = r#"
reqwest = { version = "0.13", default-features = false }
tokio = { version = "1", features = ["io-util", "macros", "net", "rt-multi-thread"] }
"#;

/// Calls the functions of the page. The server asks the first request to come back, and answers all others, since a slow machine
/// may cut an attempt.
const MAIN: &str = r#"
#[tokio::main]
async fn main() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    drop(connect(&address).await.unwrap());
    listener.accept().await.unwrap();
    let server = async {
        let mut heads = ["503 Service Unavailable\r\nretry-after: 0"].into_iter();
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let head = heads.next().unwrap_or("200 OK");
            let answer = format!("HTTP/1.1 {head}\r\nconnection: close\r\ncontent-length: 6\r\n\r\npasted");
            let _ = stream.read(&mut [0; 1024]).await;
            // An attempt that was cut does not read it.
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    };
    let client = Client::builder().no_proxy().build().unwrap();
    let url = format!("http://{address}/");
    tokio::select! {
        text = price(&client, &url) => println!("{}", text.unwrap()),
        () = server => {}
    }
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
    let [request, other] = blocks("rust")[..] else {
        panic!("the page has two functions");
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
    let main = format!("#![deny(warnings)]\n{request}{other}{MAIN}");
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
    assert_eq!(String::from_utf8_lossy(&output.stdout), "pasted\n");
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
