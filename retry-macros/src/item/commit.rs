//! What a body must not do twice by accident: a transaction that its own method commits, and a POST or PATCH.
//!
//! The error of `transaction.commit()` looks like that of a statement, and a timeout may cut it. So the attempt has to know of
//! it. Whether `commit` is that of a transaction, and `post` that of a client, only rustc knows.

use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};
use quote::quote_spanned;

use crate::tokens::{
    any_text, before, delimiter, grouped, has_word, inside, is_punct, is_word, located,
};

/// The body, in which the attempt gets what each `.commit()`, `.post(…)` and `.patch(…)` returns, and whether there is one.
///
/// ```text
/// Input:   transaction.commit().await?
/// Output:  transaction.commit().__retry_commit(|commit| Commit::of(&commit).track(commit)).await?
/// ```
///
/// If it is `hedged`, a second attempt may run beside the first. If it is `said` whether running twice does harm, or the body has a key,
/// a request is not asked about.
pub(crate) fn with_commits(body: TokenStream, hedged: bool, said: bool) -> (TokenStream, bool) {
    let keyed = || has_word(&body, "attempt_headers") || names_key(&body);
    let sends = !said && has_word(&body, "post patch") && !keyed();
    // Most bodies stay as they are.
    if !sends && !has_word(&body, "commit") {
        return (body, false);
    }
    let attempt = if hedged { "track_beside" } else { "track" };
    let mut walk = Walk {
        attempt,
        sends,
        found: false,
    };
    (walk.tracked(body, attempt), walk.found)
}

/// Whether a body names an idempotency key, such as the header that it sets.
pub(crate) fn names_key(body: &TokenStream) -> bool {
    any_text(body, |text| text.to_lowercase().contains("idempotency"))
}

struct Walk {
    /// The method for a commit in the attempt itself.
    attempt: &'static str,
    sends: bool,
    found: bool,
}

impl Walk {
    /// `track` is the method for a commit in this part of the body.
    fn tracked(&mut self, body: TokenStream, track: &str) -> TokenStream {
        let tokens: Vec<_> = body.into_iter().collect();
        let mut code = TokenStream::new();
        for (at, token) in tokens.iter().enumerate() {
            let previous = before(&tokens, at, 1);
            let is_call = is_punct(before(&tokens, at, 2), ".")
                && delimiter(Some(token)) == Some(Delimiter::Parenthesis);
            let commits = is_word(previous, "commit") && is_empty(token);
            let sends = self.sends && is_word(previous, "post patch");
            if let Some(method) = previous.filter(|_| is_call && (commits || sends)) {
                self.found = true;
                // This span puts rustc's "would run the transaction again" on the method.
                let span = located(method.span());
                let track = Ident::new(if sends { "send" } else { track }, span);
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
                        word if is_word(word, "propagate") => self.attempt,
                        _ => track,
                    };
                    let inner = self.tracked(group.stream(), track);
                    grouped(group.delimiter(), inner, group.span())
                }
                token => token.clone(),
            }]);
        }
        code
    }
}

fn is_empty(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Group(group) if inside(group).is_empty())
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
                let (code, found) = with_commits(body.parse().unwrap(), hedged, false);
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

    #[test]
    fn a_request_is_asked_about_unless_that_is_said_or_it_has_a_key() {
        for (body, asks) in [
            ("client.post(url).send().await?;", 1),
            ("client.patch(url).body(client.post(a).await?)", 2),
            ("set.spawn(client.post(url).send());", 1),
            ("client.get(url).send().await?; self.post; post(url);", 0),
            ("client.post(url).attempt_headers().send().await?;", 0),
            ("client.post(url).header(IDEMPOTENCY_KEY, key)", 0),
            ("client.post(url).header(\"Idempotency-Key\", key)", 0),
        ] {
            let (code, found) = with_commits(body.parse().unwrap(), false, false);
            let code = code.to_string();
            let words = code.split_whitespace();
            assert_eq!(
                words.filter(|word| *word == "__retry_commit").count(),
                asks,
                "{body}"
            );
            assert_eq!(found, asks > 0, "{body}");
            assert!(
                !with_commits(body.parse().unwrap(), false, true).1,
                "{body}"
            );
        }
    }
}
