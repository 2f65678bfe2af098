//! What rust-analyzer is asked. `$0` is where the cursor is.

use std::sync::{LazyLock, Mutex, PoisonError};

use serde_json::{Value, json};

use crate::server::Server;

/// What all texts begin with.
const TYPES: &str = r"
use std::{fmt, io};
use reattempt::{Policy, Retryable, Stopped, retry};
const QUICK: Policy = reattempt::FAST_IO;
#[derive(Clone)]
pub struct Request { pub path: String }
#[derive(Debug)]
pub struct Reply { pub status: u16 }
#[derive(Debug, Retryable)]
pub enum Failure {
    #[retryable(transient)]
    Status(u16),
    #[retryable(forward)]
    Io(io::Error),
    #[retryable(forward)]
    Stopped(Stopped),
}
impl From<Stopped> for Failure { fn from(error: Stopped) -> Self { Self::Stopped(error) } }
async fn send(_: Request) -> Result<Reply, Failure> { Ok(Reply { status: 200 }) }
fn is_busy(_: &Failure) -> bool { true }
";

/// A body without mistakes.
const BODY: &str = "
    let length = request.path.len();
    println!(\"{length}\");
    send(request).await";

fn ask(method: &str, text: &str, more: &Value) -> Value {
    static SERVER: LazyLock<Mutex<Server>> = LazyLock::new(|| Mutex::new(Server::start()));
    let mut server = SERVER.lock().unwrap_or_else(PoisonError::into_inner);
    server.ask_about(method, &format!("{TYPES}{text}"), more)
}

fn function(attribute: &str, body: &str) -> String {
    format!(
        "{attribute}\nasync fn probe(request: Request) -> Result<Reply, Failure> {{{body}\n}}\n"
    )
}

/// The words that are offered at the cursor.
fn completions(text: &str) -> Vec<String> {
    let answer = ask("textDocument/completion", text, &Value::Null);
    let items = answer["items"].as_array().or(answer.as_array()).cloned();
    let words = items.unwrap_or_default().into_iter().map(|item| {
        let label = item["label"].as_str().unwrap();
        let ends = |char: char| !(char.is_alphanumeric() || char == '_');
        label.split(ends).next().unwrap_or_default().to_owned()
    });
    words.collect()
}

#[track_caller]
fn completes(text: &str, word: &str) {
    let words = completions(text);
    assert!(words.iter().any(|found| found == word), "{text}\n{words:?}");
}

fn hover(text: &str) -> String {
    let answer = ask("textDocument/hover", text, &Value::Null);
    answer["contents"]["value"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

/// The first lines of what a word means, each with the name of its file.
fn definitions(text: &str) -> Vec<(String, u64)> {
    let answer = ask("textDocument/definition", text, &Value::Null);
    let targets = answer.as_array().into_iter().flatten().map(|target| {
        let (_, file) = target["uri"].as_str().unwrap().rsplit_once('/').unwrap();
        (
            file.to_owned(),
            target["range"]["start"]["line"].as_u64().unwrap(),
        )
    });
    targets.collect()
}

/// Where the first line of the file is that has this text.
fn line_of(text: &str) -> u64 {
    let line = TYPES.lines().position(|line| line.contains(text));
    line.unwrap() as u64
}

/// Lines from the attribute on, with the errors and warnings that they have.
fn diagnostics(text: &str) -> Vec<(u64, String)> {
    let answer = ask("textDocument/diagnostic", text, &Value::Null);
    let items = answer["items"].as_array().unwrap().iter();
    let seen = items.filter(|item| item["severity"].as_u64() <= Some(2));
    let mut seen: Vec<_> = seen
        .map(|item| {
            let line = item["range"]["start"]["line"].as_u64().unwrap();
            let line = line - TYPES.matches('\n').count() as u64;
            (line, item["message"].as_str().unwrap().to_owned())
        })
        .collect();
    seen.sort();
    seen
}

pub(crate) fn keys_and_values_are_completed() {
    for (attribute, word) in [
        ("attem$0", "attempts"),
        ("attempts = 3, $0", "timeout"),
        ("$0, attempts = 3", "timeout"),
        ("attempts = 3, tim$0, jitter = \"full\"", "timeout"),
        ("attempts = request.path.$0", "len"),
        ("attempts = $0", "request"),
        ("policy = QUI$0", "QUICK"),
        ("policy = QUICK.$0", "with_attempts"),
        ("jitter = reattempt::Jitter::$0", "Full"),
        ("delays = [\"1s\", std::time::Duration::$0]", "from_secs"),
        ("when = is_b$0", "is_busy"),
        ("when = |error| error.$0", "verdict"),
        ("unless = |error| error.$0", "verdict"),
        ("retry_after = |error| error.$0", "verdict"),
        ("when_ok = |reply| reply.$0", "status"),
        ("until = |reply| reply.$0", "status"),
        ("on_retry = |event| event.$0", "attempt"),
        ("on_end = |report| report.$0", "attempts"),
        ("when = |error| matches!(error, Failure::$0)", "Status"),
        ("on(io::Er$0)", "Error"),
        ("on = Fail$0", "Failure"),
        ("unless = io::Error | Fail$0", "Failure"),
        ("before_retry = sen$0", "send"),
    ] {
        completes(&function(&format!("#[retry({attribute})]"), BODY), word);
    }
}

/// `run!(KEYS, async || { BODY })` in a function.
fn closure(keys: &str, body: &str) -> String {
    format!(
        "async fn caller(request: Request) {{\n    let _ = reattempt::run!({keys}async || {{{body}}}).await;\n}}\n"
    )
}

pub(crate) fn keys_and_types_of_a_closure_are_completed() {
    for (keys, word) in [
        ("attem$0, ", "attempts"),
        ("attempts = 3, tim$0, ", "timeout"),
        ("attempts = 3, policy = QUI$0, ", "QUICK"),
        ("when = |error| error.$0, ", "verdict"),
        ("when_ok = |reply| reply.$0, ", "status"),
        (
            "before_retry = async |error| matches!(error, Some(Failure::$0)), ",
            "Status",
        ),
        ("on_end = |report| report.$0, ", "attempts"),
    ] {
        completes(&closure(keys, "send(request.clone()).await"), word);
    }
    completes(&closure("attempts = 3, ", "request.$0"), "path");
    completes(
        &closure(
            "attempts = 3, ",
            "let reply = send(request.clone()).await?; reply.$0",
        ),
        "status",
    );
    completes("async fn caller() { reattempt::run!(attem$0) }", "attempts");
    let text = "async fn caller(request: Request) {\n    let reply = reattempt::run!(attempts = 3, async || send(request.clone()).await).await;\n    reply.unwrap().$0\n}\n";
    completes(text, "status");
}

pub(crate) fn the_list_of_keys_has_nothing_else_and_no_key_is_offered_elsewhere() {
    let keys = completions(&function("#[retry($0)]", BODY));
    assert!(keys.len() > 30, "{keys:?}");
    let reference = include_str!("../../../../src/retry.md");
    for key in &keys {
        assert!(reference.contains(&format!("| `{key}` |")), "{key}");
    }
    let elsewhere = completions(&function("#[retry]", "\n    let x = throttled_ba$0;"));
    assert!(
        !elsewhere.iter().any(|word| word == "throttled_base"),
        "{elsewhere:?}"
    );
}

pub(crate) fn words_of_the_derive_are_completed() {
    let derived = |word| {
        let judge = "fn judge(_: &u16) -> reattempt::Verdict { reattempt::Verdict::Permanent }";
        format!(
            "#[derive(Retryable)]\nenum Own {{\n#[retryable({word})]\nStatus(u16),\n}}\n{judge}"
        )
    };
    completes(&derived("tra$0"), "transient");
    completes(&derived("$0"), "transient");
    completes(&derived("with = ju$0"), "judge");
    let text = hover(&derived("conf$0lict"));
    assert!(text.contains("another caller was faster"), "{text}");
    completes("fn f(error: Failure) { error.ver$0 }", "verdict");
}

pub(crate) fn a_body_is_completed_while_it_is_written() {
    for attribute in ["#[retry]", "#[retry(attemps = 3)]", "#[retry(timeout = )]"] {
        for body in [
            "let x = request.$0",
            "request.$0\n    let y = 1;\n    send(request).await",
            "let x = send(request.$0",
            "let x = if request.$0",
        ] {
            completes(&function(attribute, &format!("\n    {body}")), "path");
        }
    }
}

pub(crate) fn a_closure_of_a_run_knows_its_argument() {
    for (rule, field) in [
        ("when(|error| error.$0)", "kind"),
        ("unless(|error| error.$0)", "kind"),
        ("retry_after(|error| error.$0)", "kind"),
        ("verdict(|error| error.$0)", "kind"),
        ("on_retry(|event| event.$0)", "delay"),
        ("when_ok(|value| value.$0)", "leading_zeros"),
    ] {
        let text = format!(
            "async fn get() -> std::io::Result<u8> {{ Ok(1) }}\n\
             async fn call() -> std::io::Result<u8> {{\n    reattempt::FAST_IO.run(get).{rule}\n}}\n"
        );
        completes(&text, field);
    }
}

pub(crate) fn each_key_is_explained_by_its_row_of_the_reference() {
    let reference = include_str!("../../../../src/retry.md");
    let (_, table) = reference
        .split_once("| key | value | default | meaning |\n")
        .unwrap();
    let rows = table
        .lines()
        .skip(1)
        .take_while(|line| line.starts_with("| "));
    let mut count = 0;
    for row in rows.filter(|row| !row.starts_with("| `crate`")) {
        let (key, meaning) = row.trim_end_matches(" |").rsplit_once(" | ").unwrap();
        let key = key.split('`').nth(1).unwrap();
        let text = hover(&function(&format!("#[retry($0{key})]"), BODY));
        let meaning = meaning.split('[').next().unwrap();
        assert!(
            text.contains(&format!("meaning: {meaning}")),
            "{key}: {text}"
        );
        count += 1;
    }
    assert!(count > 30, "{count}");
    let page = hover(&function("#[ret$0ry]", BODY));
    assert!(
        page.contains("`deadline`") && page.contains("docs.rs"),
        "{page}"
    );
}

pub(crate) fn what_the_attribute_names_is_found_and_renamed() {
    let file = |line| vec![("lib.rs".to_owned(), line)];
    for (attribute, target) in [
        ("when = is_$0busy", "fn is_busy"),
        ("when = \"is_$0busy\"", "fn is_busy"),
        ("when = |error| is_$0busy(error)", "fn is_busy"),
        ("policy = QUI$0CK", "const QUICK"),
        ("on(Fail$0ure)", "enum Failure"),
        ("on = \"Fail$0ure\"", "enum Failure"),
        (
            "when = |error| matches!(error, Failure::Sta$0tus(_))",
            "Status(u16)",
        ),
        ("unless = \"Fail$0ure\"", "enum Failure"),
    ] {
        let text = function(&format!("#[retry({attribute})]"), BODY);
        assert_eq!(definitions(&text), file(line_of(target)), "{attribute}");
    }
    for (attribute, places) in [
        ("when = is_$0busy", 2),
        ("policy = QUI$0CK", 2),
        ("attempts = reque$0st.path.len() as u32", 4),
    ] {
        let text = function(&format!("#[retry({attribute})]"), BODY);
        let answer = ask(
            "textDocument/rename",
            &text,
            &json!({ "newName": "renamed" }),
        );
        let edits = answer["documentChanges"][0]["edits"].as_array().cloned();
        assert_eq!(
            edits.unwrap_or_default().len(),
            places,
            "{attribute}: {answer}"
        );
    }
}

pub(crate) fn the_words_of_a_function_are_those_of_the_plain_one() {
    let texts = [
        function("@", "\n    send(reque$0st).await"),
        function("@", BODY).replacen("request:", "reque$0st:", 1),
        function("@", BODY).replacen(": Request", ": Requ$0est", 1),
        function("@", BODY).replacen("Failure>", "Fail$0ure>", 1),
        function("@", BODY).replacen(" probe", " pro$0be", 1),
        function("@", BODY).replacen("length =", "len$0gth =", 1),
    ];
    for text in texts {
        let [plain, retried] = ["", "#[retry(when = is_busy, timeout = \"1s\")]"]
            .map(|attribute| text.replace('@', attribute));
        assert_eq!(hover(&retried), hover(&plain), "{text}");
        assert_eq!(definitions(&retried), definitions(&plain), "{text}");
        assert_eq!(definitions(&retried).len(), 1, "{text}");
    }
}

pub(crate) fn a_function_without_mistakes_has_no_diagnostic() {
    for attribute in [
        "#[retry]",
        "#[retry()]",
        "#[retry(attempts = 4, timeout = \"1s\", on = \"Failure | fmt::Error\", unless(io::Error))]",
        "#[retry(when = |error| matches!(error, Failure::Status(500..=599) | Failure::Io(_)), delays = [\"1s\", LONG])]",
        "#[retry(when = is_busy, when_ok = |reply| reply.status == 1, on_end = |it| println!(\"{it}\"))]",
        "#[retry(jitter = none, backoff = linear, budget = none, attempts = unlimited, on(Failure))]",
        "#[retry(policy = &QUICK, before_retry = async || (), cancel = std::future::pending::<()>())]",
        "#[retry(crate = \"::reattempt\", name = \"probe\", sensitive, nested = \"add\")]",
    ] {
        let long = "const LONG: std::time::Duration = std::time::Duration::from_secs(9);";
        let text = format!("{}{long}", function(attribute, BODY));
        assert_eq!(diagnostics(&text), [], "{attribute}");
    }
    let error = "#[derive(Retryable)] enum Own { #[retryable(throttled, after = wait)] Busy { wait: std::time::Duration } }";
    assert_eq!(diagnostics(error), []);
}

pub(crate) fn a_body_with_mistakes_has_the_diagnostics_of_the_plain_one() {
    let mut seen = 0;
    for body in [
        "\n    let n: u32 = request.path.len();\n    send(request).await",
        "\n    let n = send().await?;\n    Ok(n)",
        "\n    let n = send(request).await?;",
        "\n    let x = request.",
        "\n    let x = send(request",
        "\n    match 1u8 {\n        0 => {}\n    }\n    send(request).await",
    ] {
        let [plain, retried] = ["//", "#[retry(attempts = 4, when = is_busy)]"]
            .map(|attribute| diagnostics(&function(attribute, body)));
        let lines =
            |found: &[(u64, String)]| found.iter().map(|(line, _)| *line).collect::<Vec<_>>();
        seen += plain.len();
        assert_eq!(lines(&retried), lines(&plain), "{body}: {retried:?}");
    }
    assert!(seen > 4, "{seen}");
}

pub(crate) fn a_mistake_in_the_attribute_is_one_error_on_its_line() {
    for (attribute, message) in [
        ("attemps = 3", "unknown key"),
        ("timeout = ", "has no value"),
        ("when = ", "has no value"),
        ("jitter = \"fu\"", "unknown jitter"),
        ("policy = QUICK.", "expected a `Policy`"),
    ] {
        let found = diagnostics(&function(&format!("#[retry({attribute})]"), BODY));
        let [(0, text)] = &found[..] else {
            panic!("{attribute}: {found:?}");
        };
        assert!(text.contains(message), "{attribute}: {text}");
    }
}

pub(crate) fn the_expansion_is_what_the_compiler_gets() {
    let text = function("#[re$0try(attempts = 4)]", BODY);
    let answer = ask("rust-analyzer/expandMacro", &text, &Value::Null);
    let expansion = answer["expansion"].as_str().unwrap();
    assert!(expansion.contains("with_attempts(4)"), "{expansion}");
}
