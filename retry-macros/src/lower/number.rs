//! `attempts` and `factor`.

use syn::{Expr, Lit, LitInt};

use super::expression::{is_constant_name, lone_name, value};
use crate::errors::{Fault, value as wording};
use crate::given::Given;
use crate::model::Written;
use crate::operand::peel;
use crate::text::among;

/// What people write for "no limit".
const UNLIMITED: &str = "unlimited infinite infinity inf forever endless unbounded max always";

/// What people write for "one attempt".
const ONCE: &str = "none never no off once";

pub(super) fn attempts(given: &Given) -> Result<Written<Option<u32>>, Fault> {
    let expr = given.expr()?;
    match peel(&expr) {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Int(int) => count(given, int),
            _ => Err(given.wrong()),
        },
        _ => match lone_name(&expr).filter(|name| !is_constant_name(name)) {
            Some(name) if name == "unlimited" => Ok(Written::Fixed(None)),
            Some(name) if among(UNLIMITED, &name.to_string().to_lowercase()) => {
                Err(given.wrong_but("\"unlimited\""))
            }
            Some(name) if among(ONCE, &name.to_string()) => Err(given.wrong_but("1")),
            _ => value(given, &expr).map(Written::Expr),
        },
    }
}

fn count(given: &Given, int: &LitInt) -> Result<Written<Option<u32>>, Fault> {
    if !matches!(int.suffix(), "" | "u32") {
        return Err(given.wrong_but(int.base10_digits()));
    }
    match int.base10_parse::<u32>() {
        Ok(0) => Err(given.fault(wording::attempts_zero())),
        // The largest number stands for "no limit" in a policy.
        Ok(u32::MAX) | Err(_) => Err(given.wrong_but("\"unlimited\"")),
        Ok(count) => Ok(Written::Fixed(Some(count))),
    }
}

pub(super) fn factor(given: &Given) -> Result<Written<f64>, Fault> {
    let expr = given.expr()?;
    let Expr::Lit(literal) = peel(&expr) else {
        return value(given, &expr).map(Written::Expr);
    };
    let factor: Option<f64> = match &literal.lit {
        Lit::Int(int) if matches!(int.suffix(), "" | "f64") => int.base10_parse().ok(),
        Lit::Float(float) if matches!(float.suffix(), "" | "f64") => float.base10_parse().ok(),
        _ => None,
    };
    let factor = factor.filter(|factor| (1.0..=1000.0).contains(factor));
    factor.map(Written::Fixed).ok_or_else(|| given.wrong())
}
