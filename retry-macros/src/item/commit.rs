//! A transaction that its own method commits, in a function whose error is a `TransactionError`.
//!
//! The error of `transaction.commit()` looks like that of a statement, so a transaction whose `COMMIT` took effect could run
//! again. The adapter has a `commit` of its own, whose error says where it comes from.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::{GenericArgument, PathArguments, Type};

use super::Function;
use super::types::visible_error;
use crate::errors::{At, Errors, item as wording, whole};
use crate::paths::peel_type;
use crate::tokens::{before, delimiter, inside, is_punct, is_word};

/// Reports each `.commit()` in the body.
pub(super) fn check(function: &Function, errors: &mut Errors) {
    let Some(module) = visible_error(&function.output).and_then(module) else {
        return;
    };
    let mut open = vec![function.body.clone()];
    while let Some(tokens) = open.pop() {
        let tokens: Vec<_> = tokens.into_iter().collect();
        for (at, token) in tokens.iter().enumerate() {
            if let TokenTree::Group(group) = token {
                open.push(group.stream());
            }
            if is_word(Some(token), "commit")
                && is_punct(before(&tokens, at, 1), ".")
                && is_empty_call(tokens.get(at + 1))
            {
                let receiver = receiver(&tokens, at.saturating_sub(1));
                errors.push(At::of(token), wording::own_commit(&receiver, &module));
            }
        }
    }
}

/// The module of a `TransactionError`. `None` for any other error.
fn module(error: &Type) -> Option<String> {
    let Type::Path(error) = peel_type(error) else {
        return None;
    };
    let mut segments = error.path.segments.iter().rev();
    let last = segments
        .next()
        .filter(|last| last.ident == "TransactionError")?;
    if segments.next().is_some() {
        let mut path = whole(&error.path.to_token_stream());
        path.truncate(path.rfind("::TransactionError")?);
        return Some(path);
    }
    let client = match &last.arguments {
        PathArguments::AngleBracketed(client) => client.args.first(),
        _ => None,
    };
    let name = match client {
        Some(GenericArgument::Type(Type::Path(client))) => match client.path.segments.first() {
            Some(first) if first.ident == "DbErr" => "sea_orm".to_owned(),
            Some(first) if client.path.segments.len() > 1 => first.ident.to_string(),
            _ => "…".to_owned(),
        },
        _ => "…".to_owned(),
    };
    Some(format!("reattempt::{name}"))
}

fn is_empty_call(token: Option<&TokenTree>) -> bool {
    delimiter(token) == Some(Delimiter::Parenthesis)
        && matches!(token, Some(TokenTree::Group(group)) if inside(group).is_empty())
}

/// The name before the dot at `dot`, with the fields that lead to it. Anything longer is `transaction`.
fn receiver(tokens: &[TokenTree], dot: usize) -> String {
    let mut from = dot;
    while let Some(TokenTree::Ident(_)) = before(tokens, from, 1) {
        from -= 1;
        if !is_punct(before(tokens, from, 1), ".") {
            break;
        }
        from -= 1;
    }
    let named = tokens.get(from..dot).unwrap_or_default();
    match named.first() {
        Some(TokenTree::Ident(_)) => whole(&named.iter().cloned().collect::<TokenStream>()),
        _ => "transaction".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    fn mistakes(function: &str) -> Vec<String> {
        let mut errors = Errors::default();
        parse(&function.parse().unwrap(), None, &mut errors);
        let mistakes = errors.into_mistakes().into_iter();
        mistakes.map(|(_, message)| message).collect()
    }

    #[test]
    fn a_transaction_that_its_own_method_commits_is_refused_with_the_line_to_write() {
        for (result, commit, line) in [
            (
                "TransactionError<sqlx::Error>",
                "tx.commit().await?;",
                "write `commit(tx)`, with `use reattempt::sqlx::{TransactionError, commit};`",
            ),
            (
                "TransactionError<tokio_postgres::Error>",
                "if a { return Ok(self.tx.commit().await?); }",
                "write `commit(self.tx)`, with `use reattempt::tokio_postgres::{TransactionError, commit};`",
            ),
            (
                "TransactionError<DbErr>",
                "tokio::join!(async { begin().await?.commit().await });",
                "write `commit(transaction)`, with `use reattempt::sea_orm::{TransactionError, commit};`",
            ),
            (
                "::retry::sqlx_0_8::TransactionError<Error>",
                "tx.commit().await?;",
                "write `commit(tx)`, with `use ::retry::sqlx_0_8::{TransactionError, commit};`",
            ),
            (
                "TransactionError<E>",
                "tx.commit().await?;",
                "write `commit(tx)`, with `use reattempt::…::{TransactionError, commit};`",
            ),
        ] {
            let function = format!("async fn f() -> Result<(), {result}> {{ {commit} }}");
            let found = mistakes(&function);
            assert_eq!(found.len(), 1, "{function} {found:?}");
            assert!(found[0].contains(line), "{function} {found:?}");
        }
    }

    #[test]
    fn a_commit_of_anything_else_is_none_of_our_business() {
        for (result, commit) in [
            ("TransactionError<sqlx::Error>", "commit(tx).await?;"),
            (
                "TransactionError<sqlx::Error>",
                "Transaction::commit(savepoint).await?;",
            ),
            ("TransactionError<sqlx::Error>", "log.commit(offset)?;"),
            (
                "TransactionError<sqlx::Error>",
                "tx.rollback().await?; self.commit;",
            ),
            ("sqlx::Error", "tx.commit().await?;"),
        ] {
            let function = format!("async fn f() -> Result<(), {result}> {{ {commit} }}");
            assert!(mistakes(&function).is_empty(), "{function}");
        }
    }
}
