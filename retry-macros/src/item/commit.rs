//! A transaction that its own method commits.
//!
//! The error of `transaction.commit()` looks like that of a statement, and a timeout may cut it. So the attempt has to know of
//! it. Whether `commit` is that of a transaction, only rustc knows.

use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};
use quote::quote_spanned;

use crate::tokens::{before, delimiter, grouped, has_word, inside, is_punct, is_word, located};

/// The body, in which the attempt gets what each `.commit()` returns, and whether there is one.
///
/// ```text
/// Input:   transaction.commit().await?
/// Output:  transaction.commit().__retry_commit(|commit| Commit::of(&commit).track(commit)).await?
/// ```
pub(crate) fn with_commits(body: TokenStream) -> (TokenStream, bool) {
    let mut found = false;
    // Most bodies stay as they are.
    if !has_word(&body, "commit") {
        return (body, found);
    }
    (tracked(body, "track", &mut found), found)
}

fn tracked(body: TokenStream, track: &str, found: &mut bool) -> TokenStream {
    let tokens: Vec<_> = body.into_iter().collect();
    let mut code = TokenStream::new();
    for (at, token) in tokens.iter().enumerate() {
        let previous = before(&tokens, at, 1);
        let is_commit = is_empty_call(token)
            && is_word(previous, "commit")
            && is_punct(before(&tokens, at, 2), ".");
        if let Some(method) = previous.filter(|_| is_commit) {
            *found = true;
            // This span puts rustc's "would run the transaction again" on the method.
            let span = located(method.span());
            let track = Ident::new(track, span);
            code.extend([token.clone()]);
            code.extend(quote_spanned! {span=>
                .__retry_commit(|__commit| __retry::Commit::of(&__commit).#track(__commit))
            });
            continue;
        }
        code.extend([match token {
            TokenTree::Group(group) if !is_text_of(&tokens, at) => {
                // A task knows nothing of the attempt, unless that is propagated to it.
                let track = match previous {
                    Some(TokenTree::Ident(word)) if word.to_string().starts_with("spawn") => {
                        "track_apart"
                    }
                    word if is_word(word, "propagate") => "track",
                    _ => track,
                };
                let inner = tracked(group.stream(), track, found);
                grouped(group.delimiter(), inner, group.span())
            }
            token => token.clone(),
        }]);
    }
    code
}

fn is_empty_call(token: &TokenTree) -> bool {
    delimiter(Some(token)) == Some(Delimiter::Parenthesis)
        && matches!(token, TokenTree::Group(group) if inside(group).is_empty())
}

/// Whether the group at `at` becomes a text: `stringify!(…)`.
fn is_text_of(tokens: &[TokenTree], at: usize) -> bool {
    is_punct(before(tokens, at, 1), "!") && is_word(before(tokens, at, 2), "stringify")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_method_call_without_arguments_is_found() {
        for (body, expected) in [
            ("tx.commit().await?;", "track"),
            (
                "if a { return Ok(self.tx.commit().await?); } tx.commit().await",
                "track track",
            ),
            (
                "tokio::join!(async { begin().await?.commit().await });",
                "track",
            ),
            (
                "tokio::spawn(async move { tx.commit().await });",
                "track_apart",
            ),
            (
                "set.spawn(propagate(tx.commit())); tx.commit()",
                "track track",
            ),
            ("commit(tx).await?;", ""),
            ("Transaction::commit(savepoint).await?;", ""),
            ("log.commit(offset)?;", ""),
            ("stringify!(tx.commit());", ""),
            ("tx.rollback().await?; self.commit;", ""),
        ] {
            let (code, found) = with_commits(body.parse().unwrap());
            let code = code.to_string();
            let words = code.split_whitespace();
            let names: Vec<_> = words.filter(|word| word.starts_with("track")).collect();
            assert_eq!(names.join(" "), expected, "{body}");
            assert_eq!(found, !expected.is_empty(), "{body}");
        }
    }
}
