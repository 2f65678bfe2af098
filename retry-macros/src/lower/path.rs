//! Names of things: `policy`, `budget`, `crate`, and the string `name`.

use syn::{Expr, Lit, LitStr, Path};

use super::expression::{is_constant_name, lone_ident, peel};
use crate::errors::Fault;
use crate::errors::value::path as wording;
use crate::given::{Form, Given};
use crate::model::Budget;
use crate::text;

/// The presets that the facade provides.
const PRESETS: [&str; 3] = ["FAST_IO", "SLOW_IO", "NO_RETRY"];

pub(super) fn policy(given: &Given) -> Result<Path, Fault> {
    let found = given.typed();
    let name = found.trim_matches('"').replace('-', "_").to_uppercase();
    let misspelt = found.trim_matches('"') != name;
    if let Some(preset) = PRESETS.iter().find(|preset| **preset == name && misspelt) {
        return Err(given.fault(wording::preset(given.key, &found, preset)));
    }
    match path(given)? {
        Some(path) => Ok(path),
        None if matches!(given.expr(), Ok(Expr::Lit(_)) | Err(_)) => Err(given.wrong()),
        None => Err(given.fault(wording::expression(
            given.key,
            &found,
            "const MY_POLICY: Policy = …;",
        ))),
    }
}

pub(super) fn budget(given: &Given) -> Result<Budget, Fault> {
    let found = given.typed();
    let word = found.trim_matches('"').to_lowercase();
    if word == "none" {
        return Ok(Budget::None);
    }
    if text::among("off no false 0 null disabled unlimited nothing", &word) {
        return Err(given.wrong_but("\"none\""));
    }
    match path(given)? {
        Some(path) => match path.get_ident() {
            Some(ident) if !is_constant_name(ident) => Err(given.wrong()),
            _ => Ok(Budget::Path(path)),
        },
        None if word.parse::<f64>().is_ok() => Err(given.fault(wording::expression(
            given.key,
            &found,
            &format!("static BUDGET: Budget = Budget::ratio({});", ratio(&word)),
        ))),
        None if matches!(given.expr(), Ok(Expr::Lit(_)) | Err(_)) => Err(given.wrong()),
        None => Err(given.fault(wording::expression(
            given.key,
            &found,
            "static BUDGET: Budget = …;",
        ))),
    }
}

/// A share is a ratio in `[0, 1]`: what is above was meant as a number of something else.
fn ratio(word: &str) -> &str {
    match word.parse::<f64>() {
        Ok(ratio) if (0.0..=1.0).contains(&ratio) => word,
        _ => "0.1",
    }
}

/// A path without `<T as Trait>`; `None` for another expression.
fn path(given: &Given) -> Result<Option<Path>, Fault> {
    match peel(&given.expr()?) {
        Expr::Path(path) if path.qself.is_none() => Ok(Some(path.path.clone())),
        _ => Ok(None),
    }
}

pub(super) fn root(given: &Given) -> Result<Path, Fault> {
    if let Ok(path) = given.form.parse(Path::parse_mod_style) {
        return Ok(path);
    }
    let found = given.typed();
    let underscored = found.trim_matches('"').replace('-', "_");
    if underscored != found.trim_matches('"') && syn::parse_str::<Path>(&underscored).is_ok() {
        return Err(given.fault(wording::hyphen(given.key, &found, &underscored)));
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
            let found = given.typed();
            match peel(&expr) {
                Expr::Path(path) if lone_ident(path).is_some() => {
                    Err(given.wrong_but(&format!("\"{}\"", text::snake_case(&found))))
                }
                Expr::Lit(literal) => match &literal.lit {
                    Lit::Str(text) if text.suffix().is_empty() => Ok(text.clone()),
                    _ => Err(given.wrong()),
                },
                _ => Err(given.wrong()),
            }
        }
    }
}
