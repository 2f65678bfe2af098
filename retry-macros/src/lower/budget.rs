//! `budget`.

use syn::Expr;

use super::expression::value;
use crate::errors::{Fault, value as wording};
use crate::given::Given;
use crate::model::Written;
use crate::operand::peel;
use crate::paths::last_two;
use crate::text;

pub(super) fn budget(given: &Given) -> Result<Written<()>, Fault> {
    let found = given.typed();
    let word = found.trim_matches('"').to_lowercase();
    if word == "none" {
        return Ok(Written::Fixed(()));
    }
    if text::among("off no false 0 null disabled unlimited nothing", &word) {
        return Err(given.wrong_but("\"none\""));
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
