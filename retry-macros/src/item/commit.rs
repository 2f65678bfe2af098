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
///
/// If it is `hedged`, a second attempt may run beside the first.
pub(crate) fn with_commits(body: TokenStream, hedged: bool) -> (TokenStream, bool) {
    let mut found = false;
    // Most bodies stay as they are.
    if !has_word(&body, "commit") {
        return (body, found);
    }
    let track = if hedged { "track_beside" } else { "track" };
    (tracked(body, track, track, &mut found), found)
}

/// `attempt` is the method for the code of the attempt itself, and `track` that for this part of it.
fn tracked(body: TokenStream, attempt: &str, track: &str, found: &mut bool) -> TokenStream {
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
            TokenTree::Group(group) if !is_apart(&tokens, at) => {
                // A task knows nothing of the attempt, unless that is propagated to it.
                let track = match previous {
                    Some(TokenTree::Ident(word)) if word.to_string().starts_with("spawn") => {
                        "track_apart"
                    }
                    word if is_word(word, "propagate") => attempt,
                    _ => track,
                };
                let inner = tracked(group.stream(), attempt, track, found);
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

/// Whether the group at `at` becomes a text, `stringify!(…)`, or is a module, `mod name {…}`, which does not see the names of the body.
fn is_apart(tokens: &[TokenTree], at: usize) -> bool {
    let second = before(tokens, at, 2);
    is_word(second, "mod") || is_punct(before(tokens, at, 1), "!") && is_word(second, "stringify")
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
            ("mod end { fn end(tx: T) { tx.commit() } }", ""),
            ("tx.rollback().await?; self.commit;", ""),
        ] {
            for (hedged, track) in [(false, "track"), (true, "track_beside")] {
                let (code, found) = with_commits(body.parse().unwrap(), hedged);
                let code = code.to_string();
                let words = code.split_whitespace();
                let names = words.filter(|word| word.starts_with("track"));
                let expected = expected.split(' ').map(|name| match name {
                    "track" => track,
                    name => name,
                });
                let names: Vec<_> = names.collect();
                assert_eq!(
                    names.join(" "),
                    expected.collect::<Vec<_>>().join(" "),
                    "{body}"
                );
                assert_eq!(found, !names.is_empty(), "{body}");
            }
        }
    }
}
