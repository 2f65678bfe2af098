//! Plants the faults that `cargo mutants` lists, and says which of them no test notices.
//!
//! A build for each fault would take some thirty hours. So all of them are written into one copy of the source, each behind a
//! question for its number. Each test runs once to find out which faults it reaches; then they run once for each fault that
//! they reach. What cannot be written like this, such as a fault in a constant, and what no test noticed, gets a build of its
//! own after all.
//!
//! Operators are not all. `behaviour.txt` lists changes of behaviour: a rule left out, a rule too many, an order turned round, a
//! state kept too long, a bound from the wrong moment. Each is a text that stands in place of another one, and gets a build.
//!
//! ```text
//! cargo install --locked cargo-mutants
//! cargo run --release -p mutants -- runtime                                          # the other is `macros`
//! cargo run --release -p mutants -- runtime 'retry-runtime/src/budget/**'
//! cargo run --release -p mutants -- behaviour                                        # and then words of the rules to break
//! ```
//!
//! The fates of all faults are in `target/mutants`. `.cargo/mutants.toml` has those that no test could notice, and why.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, fs, thread};

use anyhow::{Context as _, Error, Result, bail, ensure};

use crate::copy::{Asleep, Copy};
use crate::list::Mutant;
use crate::programs::Fate;

mod behaviour;
mod copy;
mod list;
mod plant;
mod programs;

/// Processes with tests at a time: more than cores, since many tests wait.
const WORKERS: usize = 4;

/// What is changed, and what should notice it.
struct Plan {
    /// The files that are changed unless others are named: where a fault would harm a caller.
    files: &'static [&'static str],
    tests: &'static str,
    /// The tests for a mutant that has a build of its own.
    near: &'static [&'static str],
}

const RUNTIME: Plan = Plan {
    files: &[
        "retry-runtime/src/budget/**",
        "retry-runtime/src/call/**",
        "retry-runtime/src/classify/**",
        "retry-runtime/src/context/**",
        "retry-runtime/src/delays.rs",
        "retry-runtime/src/policy.rs",
        "retry-runtime/src/policy/**",
    ],
    // Without optimisation and with `metrics`, a call allocates also if there is no recorder (`metrics.rs`).
    tests: "--all-features --config profile.dev.opt-level=1 \
        -p reattempt-runtime -p reattempt -p scopes -p presets -p metered -p otel -p integrations -p model \
        --lib --bin model \
        --test behaviour --test cost --test filters --test hygiene --test log --test shapes --test switch \
        --test presets --test scopes \
        --test installed --test recorded --test spans \
        --test clients",
    // Without test scopes, and without metrics, calls take shorter ways.
    near: &[
        "-p reattempt-runtime --lib --features http-1,serde",
        "-p reattempt --test behaviour",
        "-p metered",
        "-p scopes",
    ],
};

const MACROS: Plan = Plan {
    files: &[
        "retry-macros/src/lower.rs",
        "retry-macros/src/lower/**",
        "retry-macros/src/syntax.rs",
        "retry-macros/src/syntax/**",
        "retry-macros/src/duration.rs",
        "retry-macros/src/duration/**",
        "retry-macros/src/keys.rs",
        "retry-macros/src/keys/**",
        "retry-macros/src/text.rs",
    ],
    tests: "-p reattempt-macros --lib --config profile.dev.opt-level=1",
    near: &["-p reattempt-macros --lib", "-p presets"],
};

fn main() -> Result<()> {
    let mut arguments = env::args().skip(1);
    let what = arguments.next().unwrap_or_default();
    let mut files: Vec<String> = arguments.collect();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .context("this package is two folders below the root")?;
    if what == "behaviour" {
        return plant_behaviour(root, &files.join(" "));
    }
    let plan = match &*what {
        "runtime" => RUNTIME,
        "macros" => MACROS,
        _ => bail!(
            "expected `runtime` or `macros`, and then files to change in place of the usual ones; or `behaviour`"
        ),
    };
    if files.is_empty() {
        files.extend(plan.files.iter().map(ToString::to_string));
    }
    let mutants = list::of(root, &format!("reattempt-{what}"), &files)?;
    println!("{} mutants", mutants.len());
    ensure!(!mutants.is_empty(), "a plan without a mutant shows nothing");
    let (fates, failing) = fates(root, &what, &plan, &mutants)?;
    let mut report = String::new();
    let mut counts = BTreeMap::<_, usize>::new();
    for (mutant, fate) in mutants.iter().zip(&fates) {
        writeln!(report, "{fate}\t{}", mutant.name)?;
        *counts.entry(fate.word()).or_default() += 1;
        if *fate == Fate::Missed {
            println!("missed: {}", mutant.name);
        }
    }
    let path = root.join("target/mutants").join(format!("{what}.txt"));
    fs::write(path, report)?;
    println!("{counts:?}");
    ensure!(!fates.contains(&Fate::Missed), "some mutants are missed");
    ensure!(failing == 0, "{failing} tests fail without a mutant");
    Ok(())
}

/// Plants the changes of behaviour whose rules have these words, and runs the tests that should notice them.
fn plant_behaviour(root: &Path, words: &str) -> Result<()> {
    let list = fs::read_to_string(root.join("tests/mutants/behaviour.txt"))?;
    let changes = behaviour::changes(&list);
    let changes = changes.iter().filter(|change| change.rule.contains(words));
    let planted = behaviour::plant_each(root, changes).map_err(Error::msg)?;
    let copy = Copy::new(root, "behaviour")?;
    let tests: BTreeSet<_> = planted.iter().map(|(change, _)| change.tests).collect();
    for tests in tests {
        let fate = copy.fate(&[tests])?;
        ensure!(fate == Fate::Missed, "without a change: {fate}");
    }
    let mut noticed = 0;
    for (change, text) in &planted {
        let fate = copy.fate_with(change.file, text, &[change.tests])?;
        println!("{fate}: {}", change.rule);
        noticed += usize::from(matches!(fate, Fate::Caught(_) | Fate::Hung(_)));
    }
    println!("{noticed} of {} changes are noticed", planted.len());
    ensure!(noticed == planted.len() && noticed > 0, "some are not");
    Ok(())
}

/// What became of each mutant, and how many tests fail without one.
fn fates(root: &Path, what: &str, plan: &Plan, mutants: &[Mutant]) -> Result<(Vec<Fate>, usize)> {
    let arguments: Vec<&str> = plan.tests.split_whitespace().collect();
    let asleep = Copy::new(root, what)?.plant_all(
        mutants,
        &format!("retry-{what}/src/lib.rs"),
        &arguments,
    )?;
    let Asleep {
        programs,
        numbers,
        refused,
    } = asleep;
    println!(
        "{} are refused by the compiler, {} asleep in one build",
        refused.len(),
        numbers.len()
    );
    let tests = programs::reach(&programs, &root.join("target/mutants/reached").join(what))?;
    let (failing, tests): (Vec<_>, Vec<_>) = tests.into_iter().partition(|test| test.fails);
    println!("{} tests", tests.len());
    let mut fates: BTreeMap<usize, Fate> = refused
        .into_iter()
        .map(|number| (number, Fate::Refused))
        .collect();
    let (done, total) = (AtomicUsize::new(0), numbers.len());
    fates.extend(workers(numbers.into_iter(), |number| {
        let fate = programs::run(&tests, number)?;
        let done = 1 + done.fetch_add(1, Ordering::Relaxed);
        println!("{done} of {total}: {fate}: {}", mutants[number - 1].name);
        Ok((number, fate))
    })?);
    let alone: BTreeSet<usize> = (1..=mutants.len())
        .filter(|number| matches!(fates.get(number), None | Some(Fate::Missed)))
        .collect();
    if alone.is_empty() {
        return Ok((fates.into_values().collect(), failing.len()));
    }
    let copy = Copy::new(root, &format!("{what}-alone"))?;
    let without = copy.fate(plan.near)?;
    ensure!(without == Fate::Missed, "without a mutant: {without}");
    for (nth, number) in alone.iter().enumerate() {
        let mutant = &mutants[number - 1];
        let fate = copy.fate_of(mutant, plan.near)?;
        println!(
            "{} of {} alone: {fate}: {}",
            nth + 1,
            alone.len(),
            mutant.name
        );
        fates.insert(*number, fate);
    }
    Ok((fates.into_values().collect(), failing.len()))
}

/// Does the work for each item, some at a time.
fn workers<T: Send, R: Send>(
    items: impl Iterator<Item = T> + Send,
    work: impl Fn(T) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let items = Mutex::new(items);
    let done = Mutex::new(Vec::new());
    thread::scope(|scope| {
        let worker = || -> Result<()> {
            loop {
                let next = items.lock().expect("no worker panics").next();
                let Some(item) = next else { return Ok(()) };
                let result = work(item)?;
                done.lock().expect("no worker panics").push(result);
            }
        };
        let workers: Vec<_> = (0..WORKERS).map(|_| scope.spawn(worker)).collect();
        workers
            .into_iter()
            .try_for_each(|worker| worker.join().expect("no worker panics"))
    })?;
    Ok(done.into_inner().expect("no worker panics"))
}
