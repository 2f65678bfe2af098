//! How a body ends, as far as its tokens show.

use proc_macro2::{Delimiter, Ident, Span, TokenStream, TokenTree};
use quote::quote;
use syn::{Block, Expr, Stmt};

use crate::tokens::{before, deep, delimiter, is_among, is_punct, is_word};

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

/// Each `break` and `continue` that would leave the closure.
pub(super) fn leaving(body: &TokenStream) -> Vec<Ident> {
    let tokens: Vec<_> = deep(body).collect();
    let is_label =
        |three: &&[TokenTree]| is_punct(three.first(), "'") && is_punct(three.get(2), ":");
    let labels = tokens.windows(3).filter(is_label);
    let labels = labels.filter_map(|three| three.get(1));
    let labels: Vec<_> = labels.map(ToString::to_string).collect();
    let mut found = Vec::new();
    leave(body.clone(), false, &labels, &mut found);
    found
}

fn leave(body: TokenStream, in_loop: bool, labels: &[String], found: &mut Vec<Ident>) {
    let tokens: Vec<_> = body.into_iter().collect();
    let mut begins_loop = false;
    for (at, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Ident(word) if is_among(word, "loop while for") => begins_loop = true,
            TokenTree::Ident(word) if is_among(word, "break continue") => {
                let label = tokens.get(at + 2);
                let label = label.filter(|_| is_punct(tokens.get(at + 1), "'"));
                if !label.map_or(in_loop, |label| labels.contains(&label.to_string())) {
                    found.push(word.clone());
                }
            }
            // A macro may write a loop.
            TokenTree::Group(_) if is_punct(before(&tokens, at, 1), "!") => {}
            TokenTree::Group(group) => {
                let is_body = begins_loop && group.delimiter() == Delimiter::Brace;
                begins_loop &= !is_body;
                leave(group.stream(), in_loop || is_body, labels, found);
            }
            _ => {}
        }
    }
}
