//! What a body must not do twice by accident: a transaction that its own method commits, and a POST or PATCH.
//!
//! The error of `transaction.commit()` looks like that of a statement, and a timeout may cut it. So the attempt has to know of
//! it. Whether `commit` is that of a transaction, and `post` that of a client, only rustc knows.

use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};
use quote::{ToTokens as _, quote_spanned};

use crate::text::among;
use crate::tokens::{
    any_text, any_word, before, follows_path, generated, grouped, has_word, is_punct, is_word,
    located, unraw,
};

/// What stands before the body, and the body, in which the attempt gets what each `.commit()`, `.post(…)` and `.patch(…)` returns.
/// A `.request(Method::POST, …)` is as a `.post(…)`.
///
/// ```text
/// Input:   transaction.commit().await?
/// Output:  transaction.commit().__retry_commit(|commit, returned| commit.track(returned)).await?
/// ```
///
/// If it is `hedged`, a second attempt may run beside the first. If it is `said` whether running twice does harm, or the body has an
/// idempotency key, such as a header that it sets, a request is not asked about.
pub(crate) fn with_commits(body: TokenStream, hedged: bool, said: bool) -> [TokenStream; 2] {
    let keyed = any_text(&body, |text| text.to_lowercase().contains("idempotency"));
    let note = keyed.then(|| generated!(__retry::note_key();));
    let is_asked = |word: &Ident| among("commit post patch POST PATCH", &unraw(word));
    // Most bodies stay as they are.
    if !any_word(&body, &is_asked) {
        return [generated!(#note), body];
    }
    let sends = !said && !keyed && !has_word(&body, "attempt_headers");
    let attempt = if hedged { "track_beside" } else { "track" };
    let before = generated! {
        #[allow(unused_imports)]
        use __retry::Returned as _;
        #note
    };
    [before, tracked(body, sends, attempt, attempt)]
}

/// `attempt` is the method for a commit in the attempt itself, and `track` that for one in this part of the body.
fn tracked(body: TokenStream, sends: bool, attempt: &str, track: &str) -> TokenStream {
    let tokens: Vec<_> = body.into_iter().collect();
    let opens = |at: &usize| is_punct(tokens.get(*at), "<") && follows_path(&tokens, *at);
    let each = tokens.iter().enumerate().map(|(at, token)| {
        let TokenTree::Group(group) = token else {
            return token.to_token_stream();
        };
        // The name may stand before a `::<…>`.
        let closes = is_punct(before(&tokens, at, 1), ">");
        let generics = closes.then(|| (0..at).rev().find(opens)).flatten();
        let end = generics.map_or(at, |start| start - 2);
        let (previous, second) = (before(&tokens, end, 1), before(&tokens, end, 2));
        // One becomes a text, and the other does not see the names of the body.
        if is_punct(previous, "!") && is_word(second, "stringify") || is_word(second, "mod") {
            return token.to_token_stream();
        }
        let is_call = is_punct(second, ".") && group.delimiter() == Delimiter::Parenthesis;
        let word = match previous {
            Some(TokenTree::Ident(word)) => unraw(word),
            _ => String::new(),
        };
        let (inside, asks) = match word.as_str() {
            "commit" if is_call && group.stream().is_empty() => (track, Some(track)),
            "post" | "patch" if is_call && sends => (track, Some("send")),
            "request" if is_call && sends && has_word(group, "POST PATCH") => (track, Some("send")),
            // A task knows nothing of the attempt, unless that is propagated to it.
            "propagate" => (attempt, None),
            word if word.starts_with("spawn") => ("track_apart", None),
            _ => (track, None),
        };
        let inner = tracked(group.stream(), sends, attempt, inside);
        let group = grouped(group.delimiter(), inner, group.span());
        let asked = previous.zip(asks).map(|(method, asks)| {
            // This span puts rustc's "would run the transaction again" on the method.
            let span = located(method.span());
            let asks = Ident::new(asks, span);
            quote_spanned! {span=>
                .__retry_commit(|__commit, __returned| __commit.#asks(__returned))
            }
        });
        quote::quote!(#group #asked)
    });
    each.collect()
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
            (
                "tx.r#commit().await?; begin::<T>().commit::<>()",
                "track track",
            ),
            (
                "match tx.end::<T>() { a => (), b => { tx.commit::<>() } }",
                "track",
            ),
            ("commit(tx).await?;", ""),
            ("Transaction::commit(savepoint).await?;", ""),
            ("log.commit(offset)?;", ""),
            ("stringify!(tx.commit());", ""),
            ("mod end { fn end(tx: T) { tx.commit() } }", ""),
            ("tx.rollback().await?; self.commit;", ""),
        ] {
            for (hedged, track) in [(false, "track"), (true, "track_beside")] {
                let [_, code] = with_commits(body.parse().unwrap(), hedged, false);
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
            }
        }
    }

    #[test]
    fn a_request_is_asked_about_unless_that_is_said_or_it_has_a_key() {
        for (body, asks) in [
            ("client.post(url).send().await?;", 1),
            ("client.patch(url).body(client.post(a).await?)", 2),
            ("set.spawn(client.post(url).send());", 1),
            (
                "client.r#post::<Box<str>>(client.request::<_>(POST)).send()",
                2,
            ),
            ("client.request(Method::PATCH, url).send().await?;", 1),
            ("client.request(Method::GET, url); POST; self.request;", 0),
            ("client.get(url).send().await?; self.post; post(url);", 0),
            ("client.post(url).attempt_headers().send().await?;", 0),
            ("client.post(url).header(IDEMPOTENCY_KEY, key)", 0),
            ("client.post(url).header(\"Idempotency-Key\", key)", 0),
        ] {
            for (said, asks) in [(false, asks), (true, 0)] {
                let [_, code] = with_commits(body.parse().unwrap(), false, said);
                let code = code.to_string();
                assert_eq!(code.matches("__retry_commit").count(), asks, "{body}");
            }
        }
    }
}
