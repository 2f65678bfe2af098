//! Annotates the functions of a checkout, and counts those that compile.
//!
//! ```sh
//! cargo run -p measure -- ../some/checkout          # a package or a workspace that builds
//! cargo run -p measure -- ../some/checkout --all-features
//! ```
//!
//! The arguments after the path go to `cargo check`. The program copies the checkout to `target/measure`, and does
//! not change it. It annotates every `async fn` that returns some `Result` with `#[retry(when = |_| true)]`. It then
//! removes the attribute from functions in which the compiler finds an error, until there are no errors. The
//! functions that are still annotated compile.
//!
//! cargo does not build what depends on a package with an error. So the program asks again without the functions that it
//! has seen, until it has seen those of all packages. It says how many functions no compiler has seen.

mod check;
mod copy;
mod functions;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;
use std::{env, error, fs, mem};

use check::Diagnostic;
use functions::Function;

type Result<T> = std::result::Result<T, Box<dyn error::Error>>;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let mut args = env::args().skip(1);
    let checkout = args.next().ok_or("expected the path of a checkout")?;
    let args: Vec<_> = args.collect();
    let copy = copy::prepare(Path::new(&checkout))?;
    let mut measured = Measured::new(&copy, &args)?;
    measured.leave_out_what_is_not_compiled()?;
    while measured.remove_what_fails()? {}
    measured.report();
    Ok(())
}

/// The functions of a copy, and the results so far.
struct Measured<'a> {
    copy: &'a Path,
    args: &'a [String],
    sources: BTreeMap<String, String>,
    functions: Vec<Function>,
    /// The functions that failed, with their errors.
    failed: Vec<(Function, Vec<Diagnostic>)>,
    /// The number of functions that cause an error outside of all functions.
    elsewhere: usize,
    /// The number of functions that the compiler does not see.
    unseen: usize,
}

impl<'a> Measured<'a> {
    fn new(copy: &'a Path, args: &'a [String]) -> Result<Self> {
        let mut sources = BTreeMap::new();
        let mut functions = Vec::new();
        for file in copy::sources(copy)? {
            let text = fs::read_to_string(copy.join(&file))?;
            functions.extend(functions::of(&file, &text));
            sources.insert(file, text);
        }
        Ok(Self {
            copy,
            args,
            sources,
            functions,
            failed: Vec::new(),
            elsewhere: 0,
            unseen: 0,
        })
    }

    /// Leaves out functions that the compiler does not see, because they are for another platform or behind a feature.
    /// An unknown key gives one error in each function that the compiler sees, in packages that depend on none of these.
    fn leave_out_what_is_not_compiled(&mut self) -> Result<()> {
        let mut compiled = Vec::new();
        loop {
            let said = self.check("not_a_key", self.functions.len())?;
            let (seen, hidden): (Vec<_>, Vec<_>) = mem::take(&mut self.functions)
                .into_iter()
                .partition(|function| said.iter().any(|error| error.is_in(function)));
            self.functions = hidden;
            if seen.is_empty() {
                break;
            }
            compiled.extend(seen);
        }
        compiled.sort_by(|a, b| (&a.file, a.first).cmp(&(&b.file, b.first)));
        self.unseen = self.functions.len();
        self.functions = compiled;
        Ok(())
    }

    /// Checks the functions that are still annotated. Returns whether it had to remove an attribute.
    fn remove_what_fails(&mut self) -> Result<bool> {
        let said = self.check("when = |_| true", self.functions.len())?;
        if said.is_empty() {
            return Ok(false);
        }
        let before = self.functions.len();
        for function in mem::take(&mut self.functions) {
            let errors: Vec<_> = said
                .iter()
                .filter(|error| error.is_in(&function))
                .cloned()
                .collect();
            if errors.is_empty() {
                self.functions.push(function);
            } else {
                self.failed.push((function, errors));
            }
        }
        if self.functions.len() < before {
            return Ok(true);
        }
        let Some(cause) = self.cause_of_errors_elsewhere()? else {
            return Err(format!("it does not compile by itself: {:#?}", said.first()).into());
        };
        let function = self.functions.remove(cause);
        self.failed.push((function, Vec::new()));
        self.elsewhere += 1;
        Ok(true)
    }

    /// The first function, in order, whose attribute causes the errors.
    fn cause_of_errors_elsewhere(&self) -> Result<Option<usize>> {
        if !self.check("when = |_| true", 0)?.is_empty() {
            return Ok(None);
        }
        let (mut good, mut bad) = (0, self.functions.len());
        while bad - good > 1 {
            let middle = usize::midpoint(good, bad);
            if self.check("when = |_| true", middle)?.is_empty() {
                good = middle;
            } else {
                bad = middle;
            }
        }
        Ok(Some(good))
    }

    /// Annotates this many of the functions, and returns the errors.
    fn check(&self, attribute: &str, functions: usize) -> Result<Vec<Diagnostic>> {
        let annotated = self.functions.get(..functions).unwrap_or_default();
        for (file, text) in &self.sources {
            let functions = annotated.iter().filter(|function| function.file == *file);
            let text = functions::annotate(text, functions, attribute);
            measure::write(&self.copy.join(file), text.as_bytes())?;
        }
        check::errors(self.copy, self.args)
    }

    fn report(&self) {
        let once = self.failed.iter().filter(|(_, errors)| errors.len() == 1);
        let all = self.functions.len() + self.failed.len();
        for (function, errors) in &self.failed {
            println!("{}:{} {}", function.file, function.first, function.name);
            for error in errors {
                println!("    {}", error.message);
            }
        }
        println!("annotated           {all}");
        println!("compile             {}", self.functions.len());
        println!("fail with one error {}", once.count());
        println!("fail elsewhere      {}", self.elsewhere);
        println!("not seen            {}", self.unseen);
    }
}
