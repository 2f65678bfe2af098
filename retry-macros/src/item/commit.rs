//! What a body must not do twice by accident: a transaction that its own method commits, and a POST or PATCH.
//!
//! The error of `transaction.commit()` looks like that of a statement, and a timeout may cut it. So the attempt has to know of
//! it. Whether `commit` is that of a transaction, and `post` that of a client, only rustc knows.

use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};
use quote::{ToTokens as _, quote_spanned};

use crate::text::among;
use crate::tokens::{
    any_text, any_word, before, delimiter, follows_path, generated, grouped, has_word, inside,
    is_punct, is_word, located, unraw,
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

/// A method that is called, and its arguments.
type Call = (String, TokenStream);

/// Methods that are called one after the other: `.header(…)?.send().await`.
#[derive(Default)]
struct Chain {
    calls: Vec<Call>,
    /// Whether what it gives has the name that it begins with: `request = request.body(…);`.
    is_assigned: bool,
}

/// What sends a request that the attempt knows.
const TRACKED: &str = "send_once send_checked send_with";

impl Chain {
    /// The chain that goes on here, and the tokens behind it.
    fn read(mut tokens: &[TokenTree]) -> (Self, &[TokenTree]) {
        let mut chain = Self::default();
        loop {
            tokens = match tokens {
                [mark, rest @ ..] if is_punct(Some(mark), "?") => rest,
                [dot, TokenTree::Ident(name), rest @ ..] if is_punct(Some(dot), ".") => {
                    let is_generic = is_punct(rest.first(), ":");
                    let is_group = |it: &TokenTree| delimiter(Some(it)).is_some();
                    let at = rest.iter().position(is_group).filter(|_| is_generic);
                    match rest.get(at.unwrap_or(0)..) {
                        Some([TokenTree::Group(arguments), rest @ ..])
                            if arguments.delimiter() == Delimiter::Parenthesis =>
                        {
                            chain.calls.push((unraw(name), arguments.stream()));
                            rest
                        }
                        _ => rest,
                    }
                }
                _ => return (chain, tokens),
            };
        }
    }

    /// The chain behind each use of a name, at any depth. What is assigned to it is no use.
    fn of(name: &Ident, tokens: &[TokenTree]) -> Vec<Self> {
        let mut chains = Vec::new();
        for (at, token) in tokens.iter().enumerate() {
            let previous = before(tokens, at, 1);
            match token {
                TokenTree::Group(group) => chains.extend(Self::of(name, &inside(group))),
                TokenTree::Ident(word)
                    if word == name
                        && !is_punct(previous, ".")
                        && !is_punct(tokens.get(at + 1), "=") =>
                {
                    let (mut chain, rest) = Self::read(after(tokens, at));
                    chain.is_assigned = is_punct(previous, "=")
                        && is_word(before(tokens, at, 2), &name.to_string())
                        && is_punct(rest.first(), ";");
                    chains.push(chain);
                }
                _ => {}
            }
        }
        chains
    }

    fn is_tracked(&self) -> bool {
        self.calls.iter().any(|(name, _)| among(TRACKED, name))
    }

    /// Whether it sets the header of a key, also by a map among these tokens: `.headers(map)`.
    fn is_keyed(&self, tokens: &[TokenTree]) -> bool {
        let sets = |it: TokenTree| matches!(it, TokenTree::Ident(map) if Self::of(&map, tokens).iter().any(Self::sets_header));
        let is_keyed = |(name, arguments): &Call| match name.as_str() {
            "attempt_headers" => true,
            "headers" => arguments.clone().into_iter().any(sets),
            _ => false,
        };
        self.sets_header() || self.calls.iter().any(is_keyed)
    }

    /// Whether it has a call such as `.header(IDEMPOTENCY_KEY, …)`.
    fn sets_header(&self) -> bool {
        self.calls.iter().any(|(name, arguments)| {
            let arguments = arguments.clone().into_iter();
            let is_name = |token: &TokenTree| !is_punct(Some(token), ",");
            let header: TokenStream = arguments.take_while(is_name).collect();
            among("header insert append", name)
                && any_text(&header, |text| text.to_lowercase().contains("idempotency"))
        })
    }
}

/// The method that asks about the request whose arguments stand at `at`. None is needed if its chain sets a key, or is tracked.
fn asks_about(tokens: &[TokenTree], at: usize, track: &str) -> Option<&'static str> {
    let (first, rest) = Chain::read(after(tokens, at));
    // `let request = client.post(url);` goes on where the name stands.
    let begun = tokens.get(..at)?.rsplit(|it| is_punct(Some(it), ";"));
    let words = begun.take(1).flatten();
    let mut words = words.filter(|it| !is_word(Some(it), "mut"));
    let is_let = is_word(words.next(), "let") && is_punct(rest.first(), ";");
    let others = match words.next() {
        Some(TokenTree::Ident(name)) if is_let => Chain::of(name, rest),
        _ => Vec::new(),
    };
    let mut all = others.iter().chain([&first]);
    if all.any(|chain| chain.is_keyed(tokens)) {
        return None;
    }
    // Elsewhere, the name may be sent by another method.
    let sent: Vec<_> = others.iter().filter(|it| !it.is_assigned).collect();
    let is_tracked = !sent.is_empty() && sent.iter().all(|it| it.is_tracked());
    match track {
        _ if !(is_tracked || first.is_tracked()) => Some("send"),
        "track_apart" => Some("send_apart"),
        "track_beside" => Some("send_beside"),
        _ => None,
    }
}

/// The tokens behind the one at `at`.
fn after(tokens: &[TokenTree], at: usize) -> &[TokenTree] {
    tokens.get(at + 1..).unwrap_or_default()
}

/// Whether the body sets the header of a key somewhere.
fn sets_key(body: &TokenStream) -> bool {
    let tokens: Vec<_> = body.clone().into_iter().collect();
    let each = tokens.iter().enumerate();
    let mut each = each.map(|(at, token)| match token {
        TokenTree::Group(group) => sets_key(&group.stream()),
        token => {
            is_punct(Some(token), ".")
                && Chain::read(tokens.get(at..).unwrap_or_default())
                    .0
                    .sets_header()
        }
    });
    each.any(|sets| sets)
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
            (
                "let mut request = client.post(url); request = request.headers(request); request.send()",
                1,
            ),
            (
                "let mut request = client.post(url); map.append(IDEMPOTENCY_KEY, key); request = request.headers(map); request.send()",
                0,
            ),
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
