//! A value of the user's as an operand of generated code.

use crate::tokens::{grouped, located};
use proc_macro2::{Delimiter, Ident, TokenStream};
use quote::ToTokens as _;
use syn::spanned::Spanned as _;
use syn::{Expr, Lit};

/// An expression that may come after `&`, before `.await`, between `match` and its braces, and at the end of a
/// block. It is in parentheses if an operator next to it could take a part of it, as the `.await` in
/// `&mut ready.await`, or if Rust has another meaning for it there, as for a struct literal after `match`.
pub(crate) fn operand(expr: &Expr) -> TokenStream {
    // rustc would warn of the user's own parentheses where they are not needed.
    if let Expr::Paren(paren) = expr {
        return operand(&paren.expr);
    }
    let tokens = expr.to_token_stream();
    if is_whole(expr) {
        return tokens;
    }
    // No lint warns of parentheses that have the span of generated code.
    grouped(Delimiter::Parenthesis, tokens, located(expr.span())).into()
}

/// The expression without parentheses and without the invisible groups of `macro_rules!`.
pub(crate) fn peel(expr: &Expr) -> &Expr {
    match expr {
        Expr::Paren(inner) if inner.attrs.is_empty() => peel(&inner.expr),
        Expr::Group(inner) if inner.attrs.is_empty() => peel(&inner.expr),
        _ => expr,
    }
}

pub(crate) fn literal(expr: &Expr) -> Option<&Lit> {
    match peel(expr) {
        Expr::Lit(literal) => Some(&literal.lit),
        _ => None,
    }
}

/// The name, if an expression is a single name.
pub(crate) fn lone_name(expr: &Expr) -> Option<&Ident> {
    match peel(expr) {
        Expr::Path(path) => path.path.get_ident(),
        _ => None,
    }
}

/// Whether an expression stays in one piece next to any operator. If unsure, it answers no.
fn is_whole(expr: &Expr) -> bool {
    match expr {
        Expr::Async(_) | Expr::Macro(_) | Expr::Paren(_) | Expr::Path(_) => true,
        // Old compilers do not see the invisible group of a fragment of `macro_rules!`.
        Expr::Group(group) => is_whole(&group.expr),
        Expr::Call(call) => is_whole(&call.func),
        Expr::Field(field) => is_whole(&field.base),
        Expr::Index(index) => is_whole(&index.expr),
        Expr::MethodCall(call) => is_whole(&call.receiver),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use quote::quote;
    use syn::{Block, ExprAwait, ExprMatch, ExprReference, Stmt, parse_str, parse2};

    use super::*;

    /// Expressions of all kinds.
    const EXPRESSIONS: [&str; 30] = [
        "a",
        "1",
        "a.b.c()",
        "a::<B>(c)[0]",
        "<A as B>::C",
        "a as u32",
        "a.len() as u32 + 1",
        "&a",
        "&mut a.b",
        "*a",
        "!a",
        "-a.b()",
        "a + b",
        "a || b",
        "a == B { c: 1 }",
        "A { b: 1 }",
        "A { b: 1 }.c()",
        "if a { b } else { c }",
        "if a { b } else { c } + d",
        "match a { b => c }",
        "{ a }",
        "{ a }[0]",
        "unsafe { a }",
        "unsafe { a }(b)",
        "async { a }",
        "async move { a }.b()",
        "m!(a)",
        "m! { a }.b()",
        "a..b",
        "move || a",
    ];

    #[test]
    fn each_kind_of_expression_stays_in_one_piece() {
        for text in EXPRESSIONS {
            let expr: Expr = parse_str(text).unwrap();
            let value = operand(&expr);
            let borrowed: ExprReference = parse2(quote!(&#value)).expect(text);
            let matched: ExprMatch = parse2(quote!(match #value { _ => {} })).expect(text);
            let block: Block = parse2(quote!({ #value.await })).expect(text);
            let [Stmt::Expr(last, None)] = block.stmts.as_slice() else {
                panic!("{text}: {} statements", block.stmts.len());
            };
            let awaited: ExprAwait = parse2(last.to_token_stream()).expect(text);
            for part in [borrowed.expr, matched.expr, awaited.base] {
                let part = match *part {
                    Expr::Paren(paren) => paren.expr,
                    _ => part,
                };
                let part = part.to_token_stream().to_string();
                assert_eq!(part, expr.to_token_stream().to_string(), "{text}");
            }
        }
    }

    #[test]
    fn a_call_has_no_parentheses_around_it() {
        for text in [
            "a",
            "a.b.c()",
            "a::<B>(c)[0]",
            "(a + b).c()",
            "m!(a)",
            "async { a }",
        ] {
            let expr: Expr = parse_str(text).unwrap();
            let typed = expr.to_token_stream().to_string();
            assert_eq!(operand(&expr).to_string(), typed);
            let parenthesized: Expr = parse_str(&format!("({text})")).unwrap();
            assert_eq!(operand(&parenthesized).to_string(), typed);
        }
    }
}
