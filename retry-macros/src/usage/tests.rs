use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::ToTokens as _;

use super::{Usage, Uses, read};

fn tokens(body: &str) -> TokenStream {
    body.parse().unwrap()
}

fn uses_in(name: &str, body: &TokenStream) -> Uses {
    let mentions = read([name.to_owned(), "other".to_owned()], body);
    mentions.0[name]
}

fn uses_of_x(body: &str) -> Uses {
    uses_in("x", &tokens(body))
}

#[test]
fn each_use_of_an_argument_is_recognized() {
    for (body, expected) in [
        ("y.x(); x::y(); x!(); Struct { x: 1 }", Usage::Unmentioned),
        ("use y::{self, x}; use y::x::{z, x};", Usage::Unmentioned),
        (
            "f(&x); x.len(); x[0]; x(y); x == y; format!(\"{x}\")",
            Usage::Borrowed,
        ),
        (
            "x.a.len(); x.count + 1; x.done = true; !x.flag; x.id as u64",
            Usage::Borrowed,
        ),
        (
            "y >= x.size; y + x.size; y / x.size; x.size <= y; y != x; y < x.size",
            Usage::Borrowed,
        ),
        (
            "bail!(\"{x}\"); bail!(\"no {}\", x); ensure!(x > 1, \"{x}\"); matches!(x.kind, A)",
            Usage::Borrowed,
        ),
        (
            "format!(\"{:?} {y:x$.2} {:.*x$}\", y); log!(\"{{x}}\")",
            Usage::Borrowed,
        ),
        ("format!(\"{xx} {y} x\"); log!(\"x\")", Usage::Unmentioned),
        ("for y in &x.items { f(y) }", Usage::Borrowed),
        ("for y in x.items { f(y) }", Usage::Moved),
        ("match x { A => 1, B(y) => 2 }", Usage::Moved),
        ("f(x); f(y)", Usage::Moved),
        ("f(x.body)", Usage::Moved),
        ("let y: Vec<u8> = x;", Usage::Moved),
        ("x.body + \"text\"", Usage::Moved),
        ("x.into_parts().0", Usage::Moved),
        ("x.unwrap_or(1)", Usage::Moved),
        ("bail!(x)", Usage::Moved),
        ("async move { x.len() }", Usage::Moved),
        ("f(move |y| x.len(), 1)", Usage::Moved),
        ("f(move |y| 1, x.len())", Usage::Borrowed),
        ("move || move || 1; x.len()", Usage::Borrowed),
        // After a new binding, the name no longer means the argument.
        ("let x = x.as_ref(); f(x)", Usage::Borrowed),
        ("let x: &str = x.as_ref(); f(x)", Usage::Borrowed),
        ("let (x, y) = split(&x); f(x)", Usage::Borrowed),
        ("let a::Pair { x, .. } = split(&x); f(x)", Usage::Borrowed),
        ("{ let x = 1; f(x) } x.len()", Usage::Borrowed),
        (
            "{ let x = 1; { let x = 2; } f(x) } x.len()",
            Usage::Borrowed,
        ),
        ("if let Some(x) = x.get() { f(x) } g(x)", Usage::Moved),
        ("{ let x = 1; } f(x)", Usage::Moved),
        ("let Pair { x: y } = y; f(x)", Usage::Moved),
        ("let y = f(x); let x = y;", Usage::Moved),
        ("#[cfg(a)] let x = 1; f(x)", Usage::Moved),
        // So it does in a closure whose argument has this name.
        ("f(|x| g(x)); x.len()", Usage::Borrowed),
        ("f(|a, (b, x)| { g(x) }); x.len()", Usage::Borrowed),
        ("f(move |x: A| g(x), 1)", Usage::Unmentioned),
        ("f(|x| 1, x)", Usage::Moved),
        ("f(|x| |x| 1, x)", Usage::Moved),
        ("f(|x| { 1 }); g(x)", Usage::Moved),
        ("f(|y| x)", Usage::Moved),
        // Attributes use nothing.
        (
            "#[cfg(x = \"y\")] f(); #[allow(x)] g();",
            Usage::Unmentioned,
        ),
    ] {
        assert_eq!(uses_of_x(body).usage, expected, "{body}");
    }
}

/// A reference in the place of the value would keep alive what it guards.
#[test]
fn each_place_that_may_not_ask_for_the_type_is_recognized() {
    for (body, expected) in [
        ("f(x)", true),
        ("y.f(1, x)", true),
        ("f::<A>(x)?", true),
        ("Some(x)", true),
        ("Struct { x }; f()", true),
        ("Struct { y: x }", true),
        ("(x, 1)", true),
        ("[x]; f()", true),
        ("vec![x]", true),
        ("hold!(x)", true),
        ("let _held = x;", true),
        ("let y: A = x; f()", true),
        ("let y: (A, u8) = x;", true),
        ("#[allow(a)] let y = x;", true),
        ("let mut y = x;", true),
        ("let ref y = x;", true),
        ("y = x;", true),
        ("let y = { x };", true),
        ("if y { x } else { z }", true),
        ("match y { A => x, _ => z }", true),
        ("|| x", true),
        ("return x;", true),
        ("x.into(); f()", true),
        ("x.try_into()?", true),
        ("x.into_iter()", true),
        ("x.await", true),
        ("join!(x, y)", true),
        ("bail!(x)", true),
        ("let Job { id, _permit } = x;", true),
        ("let Job { id, permit: _held, .. } = x;", true),
        ("if let Some(_permit) = x { 1 }", true),
        ("match x { None => 1, Some(_permit) => 2 }", true),
        (
            "match x { None => { 1 } Some(_permit) if y => 2, _ => 3 }",
            true,
        ),
        ("for _permit in x { f() }", true),
        ("if let Some(mut y) = x { 1 }", true),
        ("f(&x); x.len(); let y = &x; y == x; y += x.size;", false),
        // rustc refuses these with a reference.
        ("x.unwrap_or(1); x.map(f); *x; f(*x); f(x.body)", false),
        // A pattern takes a value apart by reference too.
        ("match x { A => 1, Some(y) => 2, _ => 3 }", false),
        (
            "match x { Some(y) => { let _held = y; } _ => f(_z) }",
            false,
        ),
        ("if let Some(y) = x { 1 }", false),
        ("if let Kind::A = x { 1 }", false),
        ("let Some(ref mut y) = x else { return };", false),
        ("let Options { name, .. } = x;", false),
        ("let (a, _): (A, B) = x;", false),
        ("for y in x { f(y) }", false),
        ("while let Some(y) = x.next() { f(y) }", false),
    ] {
        let handed_over = uses_of_x(body).handed_over;
        assert_eq!(handed_over.is_some(), expected, "{body}");
    }
}

#[test]
fn a_field_is_moved_without_the_whole() {
    for (body, expected) in [
        ("f(x)", true),
        ("match x { A { b } => f(b) }", true),
        ("let Pair { a, b } = x;", true),
        ("x.map(f)", true),
        ("x.a += 1; Ok(x.a)", false),
        ("f(x.a, &x, x.len())", false),
    ] {
        let uses = uses_of_x(body);
        assert_eq!(
            (uses.whole, uses.is_reborrowed()),
            (expected, expected),
            "{body}"
        );
    }
}

#[test]
fn a_move_block_owns_what_it_mentions() {
    for (body, expected) in [
        ("async move { x.len() }", true),
        ("let y = async move { x.len() };", true),
        ("async move { format!(\"{x}\") }", true),
        ("f(move || x.len())", true),
        ("f(move |y| g(y, &x))", true),
        ("Box::pin(async move { async { x.len() } })", true),
        ("join!(async move { x.len() }, y)", true),
        ("select! { y = async move { x.len() } => 1 }", true),
        ("thread::scope(|s| { s.spawn(move || x.len()); })", true),
        ("async { x.len() }; || x.len(); f(x)", false),
        ("async move { y.x() }; x.len()", false),
        ("async move { let x = 1; f(x) }", false),
        // An attribute has put the block around the body.
        ("let __future = async move { x.len() };", false),
        (
            "let __a = async move { match async move { { x.len() } }.await { Ok(y) => y } };",
            false,
        ),
        ("let __a = async move { f(async move { x.len() }) };", true),
        ("let __a = async move { { async move { x.len() } } };", true),
    ] {
        let uses = uses_of_x(body);
        assert_eq!(uses.moved_in.is_some(), expected, "{body}");
        let wrapped = body.starts_with("let __");
        assert_eq!(uses.in_move_block, expected || wrapped, "{body}");
    }
}

#[test]
fn what_a_task_gets_is_found() {
    for (body, borrowed, owned) in [
        ("tokio::spawn(f(&x))", true, false),
        ("spawn_blocking(|| x.len())", true, false),
        ("tokio::spawn(async move { x.len() })", false, true),
        ("thread::spawn(move || x.len())", false, true),
        // A scope lends to its threads.
        ("scope.spawn(|| x.len())", false, false),
        ("scope.spawn(move || x.len())", false, false),
    ] {
        let uses = uses_of_x(body);
        assert_eq!(
            (uses.spawned, uses.given_to_task),
            (borrowed, owned),
            "{body}"
        );
    }
}

#[test]
fn a_macro_that_may_write_a_move_closure_is_found() {
    for (body, expected) in [
        ("retry_with!(x.len())", true),
        ("query!(\"…\", f(&x))", true),
        ("log!(\"{x}\")", false),
        ("select! { y = x.next() => 1 }", false),
        ("vec![x.len()]", false),
        ("query!(\"…\", y); x.len()", false),
    ] {
        assert_eq!(uses_of_x(body).in_macro, expected, "{body}");
    }
}

#[test]
fn a_drop_of_an_argument_is_found() {
    for (body, expected) in [
        ("drop(x)", true),
        ("mem::drop(x); f(y)", true),
        ("f(async move { drop(x) })", true),
        (
            "drop(x.a); drop(x.clone()); drop(&x); drop((x, y)); y.drop(x)",
            false,
        ),
        ("let x = f(x); drop(x)", false),
        ("#[cfg(unix)] drop(x);", true),
    ] {
        assert_eq!(uses_of_x(body).dropped.is_some(), expected, "{body}");
    }
}

#[test]
fn an_assignment_to_a_place_is_found() {
    for (body, expected) in [
        ("x.a = 1;", true),
        ("x.a.b += 1;", true),
        ("*x = 1;", true),
        ("x = 1; f(y, x = 1); x.a == 1; x.a => 1; *x == 1", false),
    ] {
        assert_eq!(uses_of_x(body).assigned.is_some(), expected, "{body}");
    }
}

/// The tokens, with `x` in the invisible group of a `$value` of a macro.
fn with_fragments(tokens: TokenStream) -> TokenStream {
    let grouped = tokens.into_iter().map(|token| match token {
        TokenTree::Group(group) => {
            Group::new(group.delimiter(), with_fragments(group.stream())).into()
        }
        TokenTree::Ident(name) if name == "x" => {
            TokenTree::from(Group::new(Delimiter::None, name.into_token_stream()))
        }
        token => token,
    });
    grouped.collect()
}

#[test]
fn an_argument_for_which_a_fragment_of_a_macro_stands_is_recognized() {
    for (body, usage, is_handed_over) in [
        ("f(&x); x.len(); x[0]; x == y", Usage::Borrowed, false),
        ("f(x.body)", Usage::Moved, false),
        ("f(x)", Usage::Moved, true),
        ("x.await", Usage::Moved, true),
        ("drop(x)", Usage::Moved, true),
    ] {
        let fragments = with_fragments(tokens(body));
        // A macro can hand a fragment to another macro.
        for body in [fragments.clone(), with_fragments(fragments)] {
            let uses = uses_in("x", &body);
            let found = (uses.usage, uses.handed_over.is_some());
            assert_eq!(found, (usage, is_handed_over), "{body}");
            assert_eq!(uses.dropped.is_some(), body.to_string().contains("drop"));
        }
    }
}

#[test]
fn one_walk_reads_all_names() {
    let mentions = read(
        ["a", "b", "self", "r#type"].map(str::to_owned),
        &tokens("let a = f(&a, b); self.c(a); log!(\"{type}\")"),
    );
    let usage = |name| mentions.0[name].usage;
    let usages = ["a", "b", "self", "r#type"].map(usage);
    let (borrowed, moved) = (Usage::Borrowed, Usage::Moved);
    assert_eq!(usages, [borrowed, moved, borrowed, borrowed]);
}
