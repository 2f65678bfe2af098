//! A transaction that its own method commits.
//!
//! The error of `transaction.commit()` looks like that of a statement, so a transaction whose `COMMIT` took effect could run
//! again. The adapter has a `commit` of its own, whose error says where it comes from. Whether the error of the function may be that
//! of a transaction, only rustc knows.

use proc_macro2::{Delimiter, Span, TokenTree};

use super::Function;
use crate::tokens::{before, delimiter, inside, is_punct, is_word};

/// The places of each `.commit()` in the body.
pub(crate) fn own_commits(function: &Function) -> Vec<Span> {
    let mut found = Vec::new();
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
                found.push(token.span());
            }
        }
    }
    found
}

fn is_empty_call(token: Option<&TokenTree>) -> bool {
    delimiter(token) == Some(Delimiter::Parenthesis)
        && matches!(token, Some(TokenTree::Group(group)) if inside(group).is_empty())
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;
    use crate::errors::Errors;

    #[test]
    fn each_method_call_without_arguments_is_found() {
        for (body, count) in [
            ("tx.commit().await?;", 1),
            (
                "if a { return Ok(self.tx.commit().await?); } tx.commit().await",
                2,
            ),
            ("tokio::join!(async { begin().await?.commit().await });", 1),
            ("commit(tx).await?;", 0),
            ("Transaction::commit(savepoint).await?;", 0),
            ("log.commit(offset)?;", 0),
            ("tx.rollback().await?; self.commit;", 0),
        ] {
            let function = format!("async fn f() -> Result<(), E> {{ {body} }}");
            let mut errors = Errors::default();
            let function = parse(&function.parse().unwrap(), None, &mut errors).unwrap();
            assert_eq!(own_commits(&function).len(), count, "{body}");
            assert!(errors.into_mistakes().is_empty());
        }
    }
}
