//! A transaction that its own method commits, in a function whose error is a `TransactionError`.
//!
//! The error of `transaction.commit()` looks like that of a statement, so a transaction whose `COMMIT` took effect could run
//! again. The adapter has a `commit` of its own, whose error says where it comes from.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::Type;

use super::Function;
use super::types::visible_error;
use crate::errors::{At, Errors, item as wording, whole};
use crate::paths::{ends_in, peel_type};
use crate::tokens::{before, delimiter, inside, is_punct, is_word};

/// Reports each `.commit()` in the body.
pub(super) fn check(function: &Function, errors: &mut Errors) {
    if !visible_error(&function.output).is_some_and(is_of_transaction) {
        return;
    }
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
                errors.push(At::of(token), wording::own_commit(&receiver));
            }
        }
    }
}

fn is_of_transaction(error: &Type) -> bool {
    matches!(peel_type(error), Type::Path(error) if ends_in(&error.path, "TransactionError"))
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
        for (result, commit, write) in [
            (
                "TransactionError<sqlx::Error>",
                "tx.commit().await?;",
                "write `commit(tx)`,",
            ),
            (
                "TransactionError<tokio_postgres::Error>",
                "if a { return Ok(self.tx.commit().await?); }",
                "write `commit(self.tx)`,",
            ),
            (
                "::retry::sqlx_0_8::TransactionError<Error>",
                "tokio::join!(async { begin().await?.commit().await });",
                "write `commit(transaction)`,",
            ),
        ] {
            let function = format!("async fn f() -> Result<(), {result}> {{ {commit} }}");
            let found = mistakes(&function);
            assert_eq!(found.len(), 1, "{function} {found:?}");
            assert!(found[0].contains(write), "{function} {found:?}");
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
