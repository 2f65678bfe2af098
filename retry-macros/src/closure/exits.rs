//! How a body ends, as far as its tokens show.

use proc_macro2::{Delimiter, Ident, Span, TokenStream, TokenTree};
use quote::quote;
use syn::{Block, Expr, Stmt};

use crate::tokens::{delimiter, is_among, is_punct, is_word};

/// The first `Ok(…)`, if a body ends in nothing else, so that nothing says which error it has.
pub(super) fn untyped_ok(body: &TokenStream) -> Option<Span> {
    let block: Block = syn::parse2(quote!({ #body })).ok()?;
    let mut found = Vec::new();
    let known = !of_block(&block, &mut found) || has_typed_exit(body);
    found.first().copied().filter(|_| !known)
}

/// Whether a block ends in an `Ok(…)` in each branch, or not at all.
fn of_block(block: &Block, found: &mut Vec<Span>) -> bool {
    match block.stmts.last() {
        Some(Stmt::Expr(last, None)) => of_expr(last, found),
        Some(Stmt::Expr(Expr::Return(_), _)) => true,
        _ => false,
    }
}

fn of_expr(expr: &Expr, found: &mut Vec<Span>) -> bool {
    match expr {
        Expr::Block(block) if block.label.is_none() => of_block(&block.block, found),
        Expr::Unsafe(block) => of_block(&block.block, found),
        Expr::If(branch) => {
            let first = of_block(&branch.then_branch, found);
            let other = branch.else_branch.as_ref();
            first && other.is_some_and(|(_, other)| of_expr(other, found))
        }
        Expr::Match(branches) => branches.arms.iter().all(|arm| of_expr(&arm.body, found)),
        Expr::Return(_) => true,
        Expr::Call(call) => match &*call.func {
            Expr::Path(path) if path.path.is_ident("Ok") => {
                found.extend(path.path.get_ident().map(Ident::span));
                true
            }
            _ => false,
        },
        _ => false,
    }
}

/// Whether a `return` gives anything but an `Ok(…)`, or a macro may return an error.
fn has_typed_exit(body: &TokenStream) -> bool {
    let tokens: Vec<_> = body.clone().into_iter().collect();
    tokens.iter().enumerate().any(|(at, token)| match token {
        TokenTree::Group(group) => has_typed_exit(&group.stream()),
        TokenTree::Ident(word) if word == "return" => {
            let next = tokens.get(at + 1);
            let arguments = delimiter(tokens.get(at + 2)) == Some(Delimiter::Parenthesis);
            !(is_word(next, "Ok") && arguments)
        }
        TokenTree::Ident(word) => {
            is_punct(tokens.get(at + 1), "!") && is_among(word, "bail ensure")
        }
        _ => false,
    })
}
