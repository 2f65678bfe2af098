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
/// If it is `hedged`, a second attempt may run beside the first. If it is `said` whether running twice does harm, or the chain of
/// calls behind a request sets the header of an idempotency key, the request is not asked about. Nor is one that `send_checked` or its
/// like sends there, but for a task that does not know its attempt, and for a hedge.
pub(crate) fn with_commits(body: TokenStream, hedged: bool, said: bool) -> [TokenStream; 2] {
    let note = sets_key(&body).then(|| generated!(__retry::note_key();));
    let is_asked = |word: &Ident| among("commit post patch POST PATCH", &unraw(word));
    // Most bodies stay as they are.
    if !any_word(&body, &is_asked) {
        return [generated!(#note), body];
    }
    let sends = !said;
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
            "post" | "patch" if is_call && sends => (track, asks_about(&tokens, at, track)),
            "request" if is_call && sends && has_word(group, "POST PATCH") => {
                (track, asks_about(&tokens, at, track))
            }
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

/// The methods of a chain, with their arguments.
type Calls = Vec<(String, TokenStream)>;

/// How to ask about the request whose arguments are at `at`, unless its chain says that it has a key or is tracked.
fn asks_about(tokens: &[TokenTree], at: usize, track: &str) -> Option<&'static str> {
    let (first, rest) = chain(after(tokens, at));
    let mut others = Vec::new();
    // `let request = client.post(url);` goes on where the name stands.
    let begins = (0..at)
        .rev()
        .take_while(|at| !is_punct(tokens.get(*at), ";"));
    let begins = begins.last().filter(|at| is_word(tokens.get(*at), "let"));
    let name = begins.and_then(|at| match after(tokens, at) {
        [TokenTree::Ident(word), TokenTree::Ident(name), ..] if word == "mut" => Some(name),
        [TokenTree::Ident(name), ..] => Some(name),
        _ => None,
    });
    if let Some(name) = name.filter(|_| is_punct(rest.first(), ";")) {
        chains_of(name, rest, &mut others);
    }
    let has = |calls: &Calls, names: &str| calls.iter().any(|(name, _)| among(names, name));
    let mut calls = first.iter().chain(others.iter().flatten());
    if calls.any(|call| is_keyed(call, tokens)) {
        return None;
    }
    // Elsewhere, the name may be sent by another method.
    let is_tracked = |calls: &Calls| has(calls, TRACKED);
    let ends = is_tracked(&first) || !others.is_empty() && others.iter().all(is_tracked);
    match track {
        _ if !ends => Some("send"),
        "track_apart" => Some("send_apart"),
        "track_beside" => Some("send_beside"),
        _ => None,
    }
}

/// What sends a request that the attempt knows.
const TRACKED: &str = "send_once send_checked send_with";

/// The tokens behind the one at `at`.
fn after(tokens: &[TokenTree], at: usize) -> &[TokenTree] {
    tokens.get(at + 1..).unwrap_or_default()
}

/// The calls of the chain that goes on here, and the tokens behind it.
fn chain(mut tokens: &[TokenTree]) -> (Calls, &[TokenTree]) {
    let mut calls = Calls::new();
    loop {
        match tokens {
            [TokenTree::Punct(mark), rest @ ..] if mark.as_char() == '?' => tokens = rest,
            [TokenTree::Punct(dot), TokenTree::Ident(name), rest @ ..] if dot.as_char() == '.' => {
                let is_generic = is_punct(rest.first(), ":");
                let is_group = |token: &TokenTree| matches!(token, TokenTree::Group(_));
                let skipped = rest.iter().position(is_group).filter(|_| is_generic);
                tokens = rest.get(skipped.unwrap_or(0)..).unwrap_or_default();
                if let [TokenTree::Group(arguments), rest @ ..] = tokens {
                    if arguments.delimiter() == Delimiter::Parenthesis {
                        calls.push((unraw(name), arguments.stream()));
                        tokens = rest;
                    }
                }
            }
            _ => return (calls, tokens),
        }
    }
}

/// Adds the chain behind each use of the name, at any depth. What is assigned to it is none.
fn chains_of(name: &Ident, tokens: &[TokenTree], chains: &mut Vec<Calls>) {
    for (at, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Group(group) => {
                let inner: Vec<_> = group.stream().into_iter().collect();
                chains_of(name, &inner, chains);
            }
            TokenTree::Ident(word)
                if word == name
                    && !is_punct(before(tokens, at, 1), ".")
                    && !is_punct(tokens.get(at + 1), "=") =>
            {
                let (calls, rest) = chain(after(tokens, at));
                // What is assigned to it again is sent elsewhere.
                let again = is_punct(before(tokens, at, 1), "=")
                    && is_word(before(tokens, at, 2), &name.to_string())
                    && is_punct(rest.first(), ";");
                if !again || calls.iter().any(|call| is_keyed(call, tokens)) {
                    chains.push(calls);
                }
            }
            _ => (),
        }
    }
}

/// Whether a call sets the header of a key: `.header(IDEMPOTENCY_KEY, …)`, `.attempt_headers()`, or `.headers(map)` with a map that has
/// it.
fn is_keyed((name, arguments): &(String, TokenStream), tokens: &[TokenTree]) -> bool {
    match name.as_str() {
        "attempt_headers" => true,
        "headers" => {
            let mut chains = Vec::new();
            let maps = arguments.clone().into_iter();
            for map in maps.filter_map(|token| match token {
                TokenTree::Ident(map) => Some(map),
                _ => None,
            }) {
                chains_of(&map, tokens, &mut chains);
            }
            let sets = |call: &(String, TokenStream)| call.0 != "headers" && is_keyed(call, &[]);
            chains.iter().flatten().any(sets)
        }
        "header" | "insert" | "append" => {
            let arguments = arguments.clone().into_iter();
            let name: TokenStream = arguments
                .take_while(|token| !is_punct(Some(token), ","))
                .collect();
            any_text(&name, |text| text.to_lowercase().contains("idempotency"))
        }
        _ => false,
    }
}

/// Whether the body sets the header of a key somewhere.
fn sets_key(body: &TokenStream) -> bool {
    let tokens: Vec<_> = body.clone().into_iter().collect();
    tokens.iter().enumerate().any(|(at, token)| {
        let inner = match token {
            TokenTree::Group(group) => sets_key(&group.stream()),
            _ => false,
        };
        let is_header =
            |call: &(String, TokenStream)| is_keyed(call, &[]) && call.0 != "attempt_headers";
        inner
            || chain(tokens.get(at..).unwrap_or_default())
                .0
                .first()
                .is_some_and(is_header)
    })
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
    fn a_tracked_request_is_asked_about_in_a_task_and_with_a_hedge() {
        for (body, hedged, asks) in [
            ("client.post(url).send_checked()", true, "send_beside"),
            ("spawn(client.post(url).send_once())", false, "send_apart"),
            (
                "spawn(propagate(client.post(url).send_once()))",
                true,
                "send_beside",
            ),
        ] {
            let [_, code] = with_commits(body.parse().unwrap(), hedged, false);
            assert!(code.to_string().contains(asks), "{body}");
        }
        let body = "spawn(propagate(client.post(url).send_once()))";
        let [_, code] = with_commits(body.parse().unwrap(), false, false);
        assert_eq!(
            code.to_string(),
            body.parse::<TokenStream>().unwrap().to_string()
        );
    }

    #[test]
    fn only_the_call_that_sets_the_header_notes_a_key() {
        for (body, noted) in [
            ("log(\"no Idempotency-Key\"); idempotency.send()", false),
            (
                "if a { request.headers_mut().insert(IDEMPOTENCY_KEY, key); }",
                true,
            ),
            ("Request::post(url).header(\"idempotency-key\", key)", true),
            ("client.post(url).header(\"x\", idempotency)", false),
        ] {
            let [before, _] = with_commits(body.parse().unwrap(), false, true);
            assert_eq!(before.to_string().contains("note_key"), noted, "{body}");
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
            (
                "let request = client.post(url); request.header(IDEMPOTENCY_KEY, key).send()",
                0,
            ),
            (
                "let mut request = client.post(url)?; if a { request = request.attempt_headers(); } request.send()",
                0,
            ),
            (
                "let mut map = Map::new(); map.insert(IDEMPOTENCY_KEY, key); client.post(url).headers(map).send()",
                0,
            ),
            ("client.post(url).headers(map).send()", 1),
            ("info!(\"no idempotency here\"); client.post(url).send()", 1),
            (
                "let idempotency_is_off = 1; client.post(url).header(\"x\", idempotency_is_off)",
                1,
            ),
            (
                "client.post(a).attempt_headers().send().await?; client.post(b).send().await?",
                1,
            ),
            (
                "client.post(a).header(IDEMPOTENCY_KEY, key).send().await?; client.post(b).send().await?",
                1,
            ),
            ("client.post(url).json(&a).send_checked().await?", 0),
            ("client.post::<A>(url).send_with(&POLICY).await?", 0),
            (
                "client.post(a).with_refusals(|_, _| true).send_once().await?; client.post(b).send().await?",
                1,
            ),
            (
                "let request = client.post(a); request.send_checked().await?",
                0,
            ),
            (
                "let mut request = client.post(a); request = request.body(b); request.send_once().await?",
                0,
            ),
            (
                "let request = client.post(a); if b { request.try_clone().send().await?; } request.send_once()",
                1,
            ),
            (
                "let request = client.post(a); helper(request).send_once()",
                1,
            ),
            (
                "Job { id: client.post(a) }; let send_checked = b; client.post(b).send()",
                2,
            ),
        ] {
            for (said, asks) in [(false, asks), (true, 0)] {
                let [_, code] = with_commits(body.parse().unwrap(), false, said);
                let code = code.to_string();
                assert_eq!(code.matches("__retry_commit").count(), asks, "{body}");
            }
        }
    }
}
