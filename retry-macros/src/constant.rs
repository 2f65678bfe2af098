//! Whether an expression is known at compile time, as far as its tokens show.

use syn::{Expr, Path};

use crate::item;
use crate::operand::{lone_name, peel};
use crate::paths::last_two;
use crate::tokens::is_among;

/// Whether an expression can stand in a `const`, as far as its tokens show: literals, names in
/// capitals, variants, the constructors of `Duration`, and `Policy::new()` with setters.
///
/// If unsure, it answers no. A call can evaluate a constant expression too, only slower.
pub(crate) fn is_constant(expr: &Expr) -> bool {
    match peel(expr) {
        Expr::Lit(_) => true,
        path @ Expr::Path(_) => is_static(path),
        // A dereference may run code, such as that of a `LazyLock`.
        Expr::Unary(unary) => !matches!(unary.op, syn::UnOp::Deref(_)) && is_constant(&unary.expr),
        Expr::Binary(binary) => is_arithmetic(&binary.left) && is_arithmetic(&binary.right),
        Expr::Call(call) => {
            const OF_DURATION: &str = "from_secs from_millis from_micros from_nanos new";
            let names = match &*call.func {
                Expr::Path(function) => last_two(&function.path),
                _ => None,
            };
            let known = names.is_some_and(|[ty, name]| {
                ty == "Policy" && name == "new" || ty == "Duration" && is_among(name, OF_DURATION)
            });
            known && call.args.iter().all(is_constant)
        }
        Expr::MethodCall(call) => {
            let setter = call.method.to_string().starts_with("with_");
            setter && is_constant(&call.receiver) && call.args.iter().all(is_constant)
        }
        _ => false,
    }
}

/// Whether an operand is a literal. Arithmetic on numbers is constant and on durations it is not, and a name
/// does not show which of them it is.
fn is_arithmetic(expr: &Expr) -> bool {
    matches!(expr, Expr::Lit(_)) || matches!(expr, Expr::Paren(paren) if is_arithmetic(&paren.expr))
}

/// Whether an expression is a path that names a `static`.
pub(crate) fn is_static(expr: &Expr) -> bool {
    matches!(peel(expr), Expr::Path(path) if path.qself.is_none() && is_constant_path(&path.path))
}

/// Whether an expression is one capital letter: a constant, or a number that the function or its `impl` is generic over.
pub(crate) fn is_letter(expr: &Expr) -> bool {
    let name = lone_name(expr).map(ToString::to_string);
    name.is_some_and(|name| name.len() == 1 && name.starts_with(char::is_uppercase))
}

/// Whether the last name of a path is written like a constant or a variant. The path must not begin with `Self`
/// or a type parameter, which no item within a function can name.
fn is_constant_path(path: &Path) -> bool {
    let through_self = path.segments.first().is_some_and(|first| {
        let parameter = path.segments.len() > 1 && item::looks_generic(&first.ident);
        first.ident == "Self" || parameter
    });
    let mut segments = path.segments.iter();
    let generic = segments.any(|segment| !segment.arguments.is_none());
    let named = path.segments.last().is_some_and(|last| {
        let name = last.ident.to_string();
        let is_capital = |c: char| c.is_uppercase() || c.is_ascii_digit() || c == '_';
        let capitals = name.len() > 1 && name.chars().all(is_capital);
        let variant = path.segments.len() > 1 && name.starts_with(char::is_uppercase);
        capitals || variant
    });
    named && !through_self && !generic
}
