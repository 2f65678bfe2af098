//! Paths and names: `policy`, `budget`, `crate`, and the string `name`.

use quote::ToTokens as _;
use syn::{Expr, LitStr, Path};

use super::expression::{lone_name, plain_value, value};
use crate::errors::{Fault, value as wording};
use crate::given::{Form, Given};
use crate::model::Written;
use crate::operand::peel;
use crate::paths::last_two;
use crate::text;

/// The presets that the facade provides.
const PRESETS: [&str; 3] = ["FAST_IO", "SLOW_IO", "NO_RETRY"];

pub(super) fn policy(given: &Given) -> Result<Expr, Fault> {
    let found = given.typed();
    let name = found.trim_matches('"').replace('-', "_").to_uppercase();
    let misspelt = found.trim_matches('"') != name;
    if let Some(preset) = PRESETS.iter().find(|preset| **preset == name && misspelt) {
        return Err(given.fault(wording::unknown_preset(given.key, &found, preset)));
    }
    plain_value(given, &given.expr()?)
}

pub(super) fn budget(given: &Given) -> Result<Written<()>, Fault> {
    let found = given.typed();
    let word = found.trim_matches('"').to_lowercase();
    if word == "none" {
        return Ok(Written::Fixed(()));
    }
    if text::among("off no false 0 null disabled unlimited nothing", &word) {
        return Err(given.wrong_but("\"none\""));
    }
    if word.parse::<f64>().is_ok() {
        let item = format!("static BUDGET: Budget = Budget::ratio({});", ratio(&word));
        return Err(given.fault(wording::number_for_budget(given.key, &found, &item)));
    }
    let expr = given.expr()?;
    if is_made_here(&expr) {
        return Err(given.fault(wording::new_budget(&found)));
    }
    value(given, &expr).map(Written::Expr)
}

/// Whether an expression makes a new budget, as in `Budget::ratio(0.1).floor(1.0)`. Calls would not share it.
fn is_made_here(expr: &Expr) -> bool {
    match peel(expr) {
        Expr::MethodCall(call) => is_made_here(&call.receiver),
        Expr::Reference(reference) => is_made_here(&reference.expr),
        Expr::Call(call) => match &*call.func {
            Expr::Path(path) => last_two(&path.path).is_some_and(|[ty, _]| ty == "Budget"),
            _ => false,
        },
        _ => false,
    }
}

/// The ratio to suggest. A number that is not in `[0, 1]` was not meant as a ratio.
fn ratio(word: &str) -> &str {
    match word.parse::<f64>() {
        Ok(ratio) if (0.0..=1.0).contains(&ratio) => word,
        _ => "0.1",
    }
}

pub(super) fn root(given: &Given) -> Result<Path, Fault> {
    if let Ok(path) = given.form.parse(Path::parse_mod_style) {
        return Ok(path);
    }
    let found = given.typed();
    let underscored = found.trim_matches('"').replace('-', "_");
    if underscored != found.trim_matches('"') && syn::parse_str::<Path>(&underscored).is_ok() {
        return Err(given.fault(wording::hyphen_in_path(given.key, &found, &underscored)));
    }
    Err(given.wrong())
}

pub(super) fn name(given: &Given) -> Result<LitStr, Fault> {
    match &given.form {
        Form::Text(text) if text.value().trim().is_empty() => {
            Err(given.fault(wording::empty_name()))
        }
        Form::Text(text) => Ok(text.clone()),
        Form::Rust(_) | Form::List(_) => {
            let expr = given.expr()?;
            if lone_name(&expr).is_some() {
                let found = given.typed();
                let name = text::snake_case(&found);
                return Err(given.fault(wording::name_without_quotes(&found, &name)));
            }
            match Form::of(peel(&expr).to_token_stream()) {
                Form::Text(text) => Ok(text),
                _ => Err(given.wrong()),
            }
        }
    }
}
