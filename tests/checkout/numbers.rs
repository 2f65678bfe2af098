//! The numbers in the promises are those of the code.

use std::collections::BTreeSet;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use reattempt::retry;

use crate::markdown::{part, quoted, read, table};

/// The numbers that pages write as words.
const WORDS: [&str; 13] = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve",
];

fn word(number: u64) -> String {
    let word = usize::try_from(number).ok().and_then(|at| WORDS.get(at));
    word.map_or_else(|| number.to_string(), |word| (*word).to_owned())
}

/// The number after `name` in a source, such as that of `const PRICE: u64 = 16;` or `failure: Self::tokens(2),`.
fn number_after(source: &str, name: &str) -> u64 {
    let (_, rest) = source
        .split_once(name)
        .unwrap_or_else(|| panic!("no `{name}`"));
    rest.split([';', ')']).next().unwrap().parse().unwrap()
}

/// The tokens of the default budget: all of them, then what a failure, a throttled failure and a timeout take, and what comes
/// back in a second.
fn default_budget() -> [u64; 5] {
    let fields = ["capacity", "failure", "throttled", "timeout", "refill"];
    numbers("DEFAULT", fields)
}

/// The tokens of a budget in the code.
fn numbers<const N: usize>(name: &str, fields: [&str; N]) -> [u64; N] {
    let source = read("retry-runtime/src/budget/numbers.rs");
    let (_, numbers) = source
        .split_once(&format!("const {name}: Self = Self {{"))
        .unwrap();
    fields.map(|field| number_after(numbers, &format!("{field}: Self::tokens(")))
}

#[retry(attempts = 4)]
async fn failing(calls: &AtomicU64) -> io::Result<()> {
    calls.fetch_add(1, Ordering::Relaxed);
    Err(io::ErrorKind::ConnectionReset.into())
}

#[retry(attempts = 4)]
async fn around(calls: &AtomicU64) -> io::Result<()> {
    failing(calls).await
}

/// The calls that four attempts around four make.
async fn nested_calls() -> u64 {
    let calls = AtomicU64::new(0);
    around(&calls).await.unwrap_err();
    calls.into_inner()
}

/// How many clients have verdicts for their errors: those whose features the README lists, in any version. A test of the
/// runtime compares that list with the features.
fn clients() -> u64 {
    let part = part("README.md", "features");
    let features = quoted(&part).filter(|name| name.contains(|c: char| c.is_ascii_digit()));
    let features = features.filter(|name| !["tower-0_5"].contains(name) && !name.contains(' '));
    let version = |c: char| c.is_ascii_digit() || matches!(c, '-' | '_');
    let clients: BTreeSet<_> = features
        .map(|name| name.trim_end_matches(version))
        .collect();
    clients.len().try_into().unwrap()
}

/// What the promises may say with a number, in lower case.
async fn held() -> Vec<String> {
    let [full, failure, _, timeout, refill] = default_budget();
    let numbers = read("retry-runtime/src/budget/numbers.rs");
    let free = number_after(&numbers, "const FREE_RETRIES: u32 = ");
    let calls = nested_calls().await;
    vec![
        format!("{} retries", full / failure),
        format!("{} if attempts time out", full / timeout),
        format!("{} per second", word(refill / failure)),
        format!("first {} retries", word(free)),
        format!("{} more for each call under way", word(free)),
        // `tests/behaviour/budget.rs` has such a batch.
        "of 10,000 items, 500 at once and 20 % failing".to_owned(),
        "four attempts around four".to_owned(),
        format!("make {calls} calls, not {}", 4 * 4),
        format!("make at most {calls} calls"),
        format!("{} clients", word(clients())),
        // No numbers of the code.
        "no two calls".to_owned(),
        "runs twice by accident".to_owned(),
    ]
}

/// The promises: those of the list, and those of the README.
fn promises() -> Vec<String> {
    let bullets = part("README.md", "bullets");
    let listed = bullets.split("\n- ").skip(1).map(str::to_owned);
    let rows = table(&read("src/guide/promises.md"), "| | promise | test |");
    listed
        .chain(rows.into_iter().map(|row| row[1].clone()))
        .collect()
}

/// The words of a text, in lower case, without code and the targets of links.
fn plain(text: &str) -> String {
    let prose: String = text.split('`').step_by(2).collect();
    let mut parts = prose.split("](");
    let first = parts.next().unwrap_or_default().to_owned();
    let rest = parts.filter_map(|part| Some(part.split_once(')')?.1));
    let prose: String = std::iter::once(&*first).chain(rest).collect();
    prose
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .to_lowercase()
}

/// The numbers in a text, other than those within what is held.
fn others(text: &str, held: &[String]) -> Vec<String> {
    let text = held
        .iter()
        .fold(plain(text), |text, held| text.replace(held, ""));
    text.replace("one per ", "1 per ")
        .split(|letter: char| !letter.is_alphanumeric())
        .filter(|part| {
            let is_word = WORDS[2..].contains(part) || ["half", "hundred", "twice"].contains(part);
            is_word || part.starts_with(|letter: char| letter.is_ascii_digit())
        })
        .map(str::to_owned)
        .collect()
}

/// A promise with a new number belongs into `held`, with what the number is in the code.
#[tokio::test(start_paused = true)]
async fn each_number_in_a_promise_is_one_of_the_code() {
    let (promises, held) = (promises(), held().await);
    assert_eq!(promises.len(), 5 + 12);
    let wrong: Vec<_> = promises
        .iter()
        .map(|promise| (others(promise, &held), promise))
        .filter(|(others, _)| !others.is_empty())
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}\nexpected only {held:#?}");
}

#[test]
fn other_numbers_are_found() {
    let held = ["7 calls".to_owned()];
    for (text, expected) in [
        ("Four make 7 calls, or 12.", &["four", "12"][..]),
        ("`three` [calls](a/7.md), one per second, one more", &["1"]),
        ("make 17 calls", &["1"]),
    ] {
        assert_eq!(others(text, &held), expected, "{text}");
    }
}

/// The tables of the reference that a promise links to.
#[test]
fn the_tables_of_budgets_and_hedges_have_the_numbers_of_the_code() {
    let [full, failure, throttled, timeout, refill] = default_budget();
    let [saved, calls] = numbers("HEDGES", ["capacity", "failure"]);
    let [call] = numbers("AWS", ["reward"]);
    assert_eq!((saved, call), (10 * calls, 1));
    let percent = f64::from(u32::try_from(calls).unwrap()).recip() * 100.0;
    #[rustfmt::skip]
    let budgets = [
        format!("It holds {full} tokens"),
        format!("| {timeout} | {} retries, then one in {} seconds |", full / timeout, word(timeout / refill)),
        format!("| {throttled} | {} retries, then one in {} seconds |", full / throttled, word(throttled / refill)),
        format!("| {failure} | {} retries, then {} a second |", full / failure, word(refill / failure)),
    ];
    let hedges = [
        "Each call adds a sixteenth of one, and at most ten are saved up".to_owned(),
        format!("{percent} %"),
    ];
    assert_eq!(calls, 16);
    for (page, sentences) in [
        ("src/guide/budgets.md", &budgets[..]),
        ("src/retry.md", &hedges[..]),
    ] {
        let page = read(page).split_whitespace().collect::<Vec<_>>().join(" ");
        for sentence in sentences {
            assert!(page.contains(sentence), "{sentence}");
        }
    }
}

#[test]
fn the_readme_counts_the_other_crates_of_the_comparison() {
    let page = read("docs/COMPARISON.md");
    let headings = (page.lines()).filter(|line| line.starts_with("| | reattempt | "));
    // The first column has the feature, and the second is ours.
    let others: usize = headings
        .map(|heading| heading.split(" | ").count() - 2)
        .sum();
    let said = format!(
        "Compared with {} other crates",
        word(others.try_into().unwrap())
    );
    assert!(read("README.md").contains(&said), "{said}");
}

#[test]
fn the_pages_have_the_size_of_the_future_that_its_test_allows() {
    let cost = read("tests/cost.rs");
    let (_, rest) = cost.split_once("/// The future has at most ").unwrap();
    let (bytes, _) = rest.split_once(" bytes").unwrap();
    assert!(cost.contains(&format!("&limited(&input)), {bytes})")));
    for (page, said) in [
        (
            "src/guide/promises.md",
            format!("at most {bytes} bytes larger"),
        ),
        (
            "docs/RELIABILITY.md",
            format!("at most {bytes} bytes: `cost.rs`"),
        ),
    ] {
        assert!(read(page).contains(&said), "{page}: {said}");
    }
}
