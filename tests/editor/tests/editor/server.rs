//! rust-analyzer, and the file that it has open.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::{env, fs};

use serde_json::{Value, json};

/// A package whose one file the questions are about. The versions are those of the workspace, and it shares the compiled
/// crates, so that cargo downloads and builds little.
fn package() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("edited");
    let manifest = format!(
        "[package]\nname = \"edited\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\nreattempt = {{ path = '{}' }}\n",
        root.display()
    );
    fs::create_dir_all(folder.join("src")).unwrap();
    fs::write(folder.join("Cargo.toml"), manifest).unwrap();
    fs::write(folder.join("src/lib.rs"), "").unwrap();
    fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock")).unwrap();
    folder
}

/// It ends when its input ends, at the end of this process.
pub(crate) struct Server {
    _process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    file: String,
    version: u64,
    sent: u64,
    is_ready: bool,
}

impl Server {
    /// Starts it, and waits until it has read the package.
    pub(crate) fn start() -> Self {
        let folder = package();
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
        let mut process = Command::new("rust-analyzer")
            .current_dir(&folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut server = Self {
            input: process.stdin.take().unwrap(),
            output: BufReader::new(process.stdout.take().unwrap()),
            _process: process,
            file: format!("file://{}", folder.join("src/lib.rs").display()),
            version: 0,
            sent: 0,
            is_ready: false,
        };
        server.ask(
            "initialize",
            &json!({
                "rootUri": format!("file://{}", folder.display()),
                "capabilities": {
                    "general": { "positionEncodings": ["utf-8"] },
                    "experimental": { "serverStatusNotification": true },
                    "textDocument": {
                        "diagnostic": {},
                        "hover": { "contentFormat": ["markdown"] },
                        "rename": { "prepareSupport": true },
                    },
                    "workspace": { "workspaceEdit": { "documentChanges": true } },
                },
                "initializationOptions": {
                    "cargo": { "targetDir": target },
                    "cachePriming": { "enable": false },
                    "checkOnSave": false,
                },
            }),
        );
        server.tell("initialized", &json!({}));
        while !server.is_ready {
            server.receive();
        }
        server
    }

    /// Shows a text, and asks about the place of its `$0`. Returns the answer.
    pub(crate) fn ask_about(&mut self, method: &str, text: &str, more: &Value) -> Value {
        let (before, after) = text.split_once("$0").unwrap_or((text, ""));
        self.show(&format!("{before}{after}"));
        let line = before.matches('\n').count();
        let column = before.len() - before.rfind('\n').map_or(0, |at| at + 1);
        let mut params = json!({
            "textDocument": { "uri": self.file },
            "position": { "line": line, "character": column },
        });
        for (name, value) in more.as_object().into_iter().flatten() {
            params[name] = value.clone();
        }
        self.ask(method, &params)
    }

    fn show(&mut self, text: &str) {
        self.version += 1;
        let (uri, version) = (&self.file, self.version);
        let (method, params) = if version == 1 {
            let document = json!({
                "uri": uri, "version": version, "languageId": "rust", "text": text,
            });
            ("textDocument/didOpen", json!({ "textDocument": document }))
        } else {
            let document = json!({ "uri": uri, "version": version });
            let changes = json!([{ "text": text }]);
            let params = json!({ "textDocument": document, "contentChanges": changes });
            ("textDocument/didChange", params)
        };
        self.tell(method, &params);
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        /// The text has changed, or work goes on in the background.
        const ASK_AGAIN: [i64; 2] = [-32801, -32802];
        loop {
            self.sent += 1;
            let id = self.sent;
            self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
            let mut answer = loop {
                let message = self.receive();
                if message["id"] == id && message["method"].is_null() {
                    break message;
                }
            };
            match answer["error"]["code"].as_i64() {
                Some(code) if ASK_AGAIN.contains(&code) => {}
                Some(_) => panic!("{method}: {}", answer["error"]),
                None => return answer["result"].take(),
            }
        }
    }

    fn tell(&mut self, method: &str, params: &Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    fn send(&mut self, message: &Value) {
        let text = message.to_string();
        write!(self.input, "Content-Length: {}\r\n\r\n{text}", text.len()).unwrap();
        self.input.flush().unwrap();
    }

    /// Receives a message, and answers it if it is a question.
    fn receive(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            self.output.read_line(&mut line).unwrap();
            assert!(!line.is_empty(), "rust-analyzer has ended");
            match line.trim().split_once(": ") {
                Some(("Content-Length", found)) => length = found.parse().unwrap(),
                Some(_) => {}
                None => break,
            }
        }
        let mut text = vec![0; length];
        self.output.read_exact(&mut text).unwrap();
        let message: Value = serde_json::from_slice(&text).unwrap();
        match message["method"].as_str() {
            Some("experimental/serverStatus") => {
                self.is_ready = message["params"]["quiescent"] == true;
            }
            Some(_) if !message["id"].is_null() => {
                self.send(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": null }));
            }
            _ => {}
        }
        message
    }
}

/// Why the questions cannot be asked here.
pub(crate) fn missing() -> Option<&'static str> {
    let answer = |program: &str, arguments: &[&str]| {
        let output = Command::new(program).args(arguments).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        output.status.success().then(|| text.trim().to_owned())
    };
    let sysroot = answer("rustc", &["--print", "sysroot"]).unwrap_or_default();
    let has_source = Path::new(&sysroot)
        .join("lib/rustlib/src/rust/library")
        .exists();
    let has_server = answer("rust-analyzer", &["--version"]).is_some();
    (!has_source || !has_server)
        .then_some("rust-analyzer is not installed: rustup component add rust-analyzer rust-src")
}
