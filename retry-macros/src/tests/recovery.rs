//! No input makes the macro panic, and every output has the function, whatever the mistake.

use std::time::{Duration, Instant};

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use proptest::prelude::*;
use quote::quote;

use crate::attribute::retry;
use crate::keys::KEYS;
use crate::lower::tests::accepted;
use crate::lower::tests::property::tokens;

/// Functions of each kind, and items that cannot be retried.
const ITEMS: [&str; 13] = [
    "async fn found(a: String) -> io::Result<u8> { send(a).await }",
    "pub async fn found(&mut self, mut a: T, (b, c): (U, V)) -> Result<T, E<'_>> { b.d()?; Ok(a) }",
    "#[doc = \"x\"] pub(crate) async unsafe fn found(self: Arc<Self>) -> Self::R where Self: X { async move { self } }",
    "fn found<'a>(&'a self, r#type: u8) -> Pin<Box<dyn Future<Output = io::Result<u8>> + 'a>> { Box::pin(async move { let r#type = r#type; Ok(1) }) }",
    "fn found() -> impl Future<Output = io::Result<u8>> { async { Ok(1) } }",
    "fn found() -> BoxFuture<'static, Result<(), ()>> { if x { return y; } z() }",
    "async fn found(&self) -> io::Result<u8>;",
    "fn found() -> u8 { 1 }",
    "async fn found() { }",
    "const fn found() -> io::Result<u8> { }",
    "fn found(&mut self, mut a: String) -> io::Result<impl Iterator> { send(a)?; Ok(self.list()) }",
    "default async fn found(a: impl Fn(u8) -> u8, ..., b: [u8; { 1 + 2 }]) -> ! { loop { } }",
    "struct found { field: u8 }",
];

/// Whether the output has each token of the item up to its body, in order.
fn has_head(output: &TokenStream, item: &TokenStream) -> bool {
    let head = |tokens: &TokenStream| -> Vec<String> {
        let mut tokens: Vec<TokenTree> = tokens.clone().into_iter().collect();
        tokens.retain(|token| !matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace));
        tokens.iter().map(ToString::to_string).collect()
    };
    // A plan may add `mut` to the arguments, so only their names are compared.
    let name = |text: &String| text == "found";
    let (output, item) = (head(output), head(item));
    let before = |tokens: &[String]| {
        tokens
            .iter()
            .position(name)
            .map(|at| tokens[..=at].to_vec())
    };
    let (Some(found), Some(expected)) = (before(&output), before(&item)) else {
        return false;
    };
    found == expected
}

/// Whether the output is the item token by token, and then only errors.
fn is_item_and_errors(output: &TokenStream, item: &TokenStream) -> bool {
    let closure = crate::item::is_closure(item);
    let (output, item) = (output.to_string(), item.to_string());
    if closure {
        // An expression stands in place of a closure.
        return output.starts_with("{ :: core :: compile_error !") && output.contains(&item);
    }
    output.strip_prefix(&item).is_some_and(|errors| {
        errors
            .trim_start()
            .starts_with(":: core :: compile_error !")
    })
}

fn is_refused(output: &TokenStream) -> bool {
    output.to_string().contains("compile_error !")
}

/// Each beginning of a list of tokens, within groups too: the states while someone types it.
fn beginnings(tokens: &TokenStream) -> Vec<TokenStream> {
    let mut found = vec![TokenStream::new()];
    let mut before = TokenStream::new();
    for token in tokens.clone() {
        if let TokenTree::Group(group) = &token {
            // The editor closes open groups.
            for inner in beginnings(&group.stream()) {
                let group = Group::new(group.delimiter(), inner);
                found.push(quote!(#before #group));
            }
        }
        before.extend([token]);
        found.push(before.clone());
    }
    found
}

/// The attribute after each keystroke.
fn strokes(attribute: &str) -> impl Iterator<Item = TokenStream> {
    let ends = attribute.char_indices().map(|(at, _)| &attribute[..at]);
    let closed = |typed: &str| {
        let mut open = Vec::new();
        let mut quoted = false;
        for char in typed.chars() {
            match char {
                '"' => quoted = !quoted,
                '(' | '[' | '{' if !quoted => open.push(char),
                ')' | ']' | '}' if !quoted => drop(open.pop()),
                _ => {}
            }
        }
        let mut typed = typed.to_owned();
        if quoted {
            typed.push('"');
        }
        for char in open.into_iter().rev() {
            typed.push(match char {
                '(' => ')',
                '[' => ']',
                _ => '}',
            });
        }
        typed
    };
    ends.filter_map(move |typed| closed(typed).parse().ok())
}

#[test]
fn unfinished_attributes_leave_the_function() {
    let item: TokenStream = ITEMS[1].parse().unwrap();
    let mut seen = 0;
    for (attribute, _) in accepted() {
        let whole: TokenStream = attribute.parse().unwrap();
        for args in beginnings(&whole).into_iter().chain(strokes(attribute)) {
            let text = args.to_string();
            let output = retry(args, &item);
            assert!(has_head(&output, &item), "#[retry({text})] {output}");
            if is_refused(&output) {
                assert!(
                    is_item_and_errors(&output, &item),
                    "#[retry({text})] {output}"
                );
            }
            seen += 1;
        }
    }
    assert!(seen > 2_000, "{seen}");
}

#[test]
fn the_first_keystrokes_are_refused_and_leave_the_function() {
    let item: TokenStream = ITEMS[0].parse().unwrap();
    for args in [
        "att",
        "timeout",
        "timeout =",
        "timeout = ,",
        "attempts = 3, ti",
        "attempts = 3, timeout = \"",
        "on(",
        "when = |",
        "when = |error| error.",
        "unless = \"Failure::",
        "policy = crate::",
    ] {
        let closed = match args {
            "on(" => "on()".to_owned(),
            _ if args.matches('"').count() % 2 == 1 => format!("{args}\""),
            _ => args.to_owned(),
        };
        let output = retry(closed.parse().unwrap(), &item);
        assert!(is_item_and_errors(&output, &item), "{args}: {output}");
    }
}

#[test]
fn a_closure_is_answered_with_an_expression() {
    let closure: TokenStream = "async move |a| -> Result<(), ()> { b(a).await }"
        .parse()
        .unwrap();
    let output = retry(TokenStream::new(), &closure);
    assert!(is_item_and_errors(&output, &closure), "{output}");
    assert!(syn::parse2::<syn::Expr>(output.clone()).is_ok(), "{output}");
    let expected = "found a closure, expected an async function";
    assert!(output.to_string().contains(expected), "{output}");
}

/// Combines every item with every attribute of the tables.
#[test]
fn the_function_is_in_the_output() {
    for item in ITEMS {
        let item: TokenStream = item.parse().unwrap();
        for (attribute, _) in accepted() {
            let output = retry(attribute.parse().unwrap(), &item);
            assert!(has_head(&output, &item), "#[retry({attribute})] {output}");
            if is_refused(&output) {
                assert!(
                    is_item_and_errors(&output, &item),
                    "#[retry({attribute})] {output}"
                );
            }
        }
    }
}

/// An item with some tokens left out, doubled or inserted.
fn damaged() -> impl Strategy<Value = TokenStream> {
    let item = prop::sample::select(ITEMS.to_vec());
    let change = (any::<prop::sample::Index>(), 0..3_u8, tokens());
    (item, prop::collection::vec(change, 0..4)).prop_map(|(item, changes)| {
        let mut tokens: Vec<TokenTree> = item.parse::<TokenStream>().unwrap().into_iter().collect();
        for (at, kind, others) in changes {
            if tokens.is_empty() {
                break;
            }
            let at = at.index(tokens.len());
            match kind {
                0 => drop(tokens.remove(at)),
                1 => tokens.insert(at, tokens[at].clone()),
                _ => drop(tokens.splice(at..at, others)),
            }
        }
        tokens.into_iter().collect()
    })
}

proptest! {
    #[test]
    fn no_tokens_make_it_panic(args in tokens(), item in damaged(), right: bool) {
        let args = if right { TokenStream::new() } else { args };
        let output = retry(args, &item);
        if is_refused(&output) && !is_refused(&item) {
            prop_assert!(is_item_and_errors(&output, &item), "{output}");
        }
    }

    #[test]
    fn any_tokens_are_no_item_or_are_given_back(args in tokens(), item in tokens()) {
        let output = retry(args, &item);
        prop_assert!(is_item_and_errors(&output, &item), "{output}");
    }

    #[test]
    fn a_function_is_in_the_output_whatever_the_attribute_is(args in tokens(), item in prop::sample::select(ITEMS.to_vec())) {
        let item: TokenStream = item.parse().unwrap();
        let output = retry(args, &item);
        prop_assert!(has_head(&output, &item), "{output}");
        if is_refused(&output) {
            prop_assert!(is_item_and_errors(&output, &item), "{output}");
        }
    }
}

/// Reading a number of 100,000 digits takes minutes, and the text of a deep expression overflows the stack.
#[test]
fn a_long_literal_is_refused_at_once_in_a_short_message() {
    let item = quote!(
        async fn found() -> io::Result<u8> {
            Ok(1)
        }
    );
    for (start, piece) in [("", "9"), ("1.", "9"), ("", "x"), ("", "a|"), ("", "a::")] {
        let text = start.to_owned() + &piece.repeat(100_000 / piece.len());
        let numbers = (piece == "9").then(|| text.clone());
        for value in numbers.into_iter().chain([format!("{text:?}")]) {
            for key in KEYS {
                for args in [
                    format!("{} = {value}", key.name),
                    format!("{}({value})", key.name),
                    format!("{} = [1, {value}]", key.name),
                ] {
                    let began = Instant::now();
                    let output = retry(args.parse().unwrap(), &item);
                    let took = began.elapsed();
                    assert!(took < Duration::from_secs(5), "{took:?} {}", key.name);
                    assert!(is_item_and_errors(&output, &item));
                    let length = output.to_string().len();
                    assert!(length < 1_000, "{length} bytes");
                }
            }
        }
    }
}

#[test]
fn a_literal_of_four_kilobytes_is_not_too_long() {
    let item = quote!(
        async fn found() -> io::Result<u8> {
            Ok(1)
        }
    );
    for (letters, refused) in [(4_094, false), (4_095, true)] {
        let args = format!("on_retry = |_| log(\"{}\")", "x".repeat(letters));
        let output = retry(args.parse().unwrap(), &item).to_string();
        let message = "found a literal of 4097 bytes, expected at most 4096";
        assert_eq!(output.contains(message), refused);
        assert_eq!(output.contains("compile_error"), refused);
    }
}
