//! `attempts` and `factor`.

use syn::{Expr, ExprPath, Lit, LitInt};

use super::expression::{self, is_constant_name, lone_name, negated, value};
use crate::errors::{Fault, value as wording};
use crate::given::Given;
use crate::model::Written;
use crate::operand::peel;
use crate::paths::last_two;
use crate::text;
use crate::tokens::is_among;

/// What people write for "no limit".
const UNLIMITED: &str = "unlimited infinite infinity inf forever endless unbounded max always";

/// What people write for "one attempt".
const ONCE: &str = "none never no off once";

pub(super) fn attempts(given: &Given) -> Result<Written<Option<u32>>, Fault> {
    let found = given.typed();
    let expr = given.expr()?;
    let is_unlimited = |name: &str| text::among(UNLIMITED, &name.to_lowercase());
    let message = match peel(&expr) {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Int(int) => return count(given, int),
            _ => return Err(given.wrong()),
        },
        Expr::Path(path) => match lone_name(&expr) {
            Some(name) if name == "unlimited" => return Ok(Written::Fixed(None)),
            Some(name) if !is_constant_name(name) && is_unlimited(&name.to_string()) => {
                wording::attempts_unlimited(&found)
            }
            Some(name) if is_among(name, ONCE) => wording::attempts_once(&found),
            _ if is_largest(path) => wording::attempts_unlimited(&found),
            _ => return value(given, &expr).map(Written::Expr),
        },
        other if negated(other).and_then(number).is_some() => wording::attempts_negative(&found),
        _ => return value(given, &expr).map(Written::Expr),
    };
    Err(given.fault(message))
}

fn count(given: &Given, int: &LitInt) -> Result<Written<Option<u32>>, Fault> {
    if !matches!(int.suffix(), "" | "u32") {
        return Err(given.wrong_but(int.base10_digits()));
    }
    match int.base10_parse::<u32>() {
        Ok(0) => Err(given.fault(wording::attempts_zero())),
        // The largest number stands for "no limit" in a policy.
        Ok(u32::MAX) | Err(_) => Err(given.fault(wording::attempts_out_of_range(&given.typed()))),
        Ok(count) => Ok(Written::Fixed(Some(count))),
    }
}

/// Whether a path is the largest value of a type, such as `u32::MAX`. Its author means `"unlimited"`.
fn is_largest(path: &ExprPath) -> bool {
    const NUMBERS: &str = "u8 u16 u32 u64 u128 usize i32 i64";
    last_two(&path.path).is_some_and(|[ty, name]| name == "MAX" && is_among(ty, NUMBERS))
}

pub(super) fn factor(given: &Given) -> Result<Written<f64>, Fault> {
    let found = given.typed();
    // `"NaN"` and `"inf"` parse as an `f64`, but not as a Rust expression.
    if let Some(Ok(number)) = given.text().map(|text| text.parse()) {
        return checked(given, number);
    }
    let expr = given.expr()?;
    let negated = negated(&expr);
    let operand = negated.unwrap_or(&expr);
    if let Some(number) = number(operand) {
        return checked(given, if negated.is_some() { -number } else { number });
    }
    match peel(operand) {
        Expr::Lit(_) => Err(given.wrong()),
        Expr::Path(path) if is_not_finite(path) => {
            Err(given.fault(wording::factor_not_finite(&found)))
        }
        _ => value(given, &expr).map(Written::Expr),
    }
}

fn checked(given: &Given, number: f64) -> Result<Written<f64>, Fault> {
    let found = given.typed();
    let fault = if !number.is_finite() {
        wording::factor_not_finite(&found)
    } else if number < 1.0 {
        wording::factor_below_one(&found)
    } else if number > 1000.0 {
        wording::factor_above_limit(&found)
    } else {
        return Ok(Written::Fixed(number));
    };
    Err(given.fault(fault))
}

/// Whether a path names NaN or infinity: `f64::NAN`, `INFINITY`, `nan`.
fn is_not_finite(path: &ExprPath) -> bool {
    path.path.segments.last().is_some_and(|segment| {
        let name = segment.ident.to_string().to_lowercase();
        text::among("nan infinity inf neg_infinity", &name)
    })
}

fn number(expr: &Expr) -> Option<f64> {
    let (digits, suffix) = expression::number(expr)?;
    matches!(suffix, "" | "f64").then(|| digits.parse().ok())?
}
