use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::ToTokens as _;

use super::{Mention, Use, assignment_to_self, read};

fn tokens(body: &str) -> TokenStream {
    body.parse().unwrap()
}

fn use_in(name: &str, body: &TokenStream) -> Mention {
    let names = [name, "other"].map(str::to_owned);
    let mentions = read(names.into_iter(), body, &TokenStream::new());
    mentions.0[name]
}

fn use_of_x(body: &str) -> Use {
    use_in("x", &tokens(body)).used
}

/// Whether the argument is unmentioned, only borrowed, or perhaps used by value.
fn kind(used: Use) -> Use {
    match used {
        Use::No => Use::No,
        Use::Ref | Use::Macro | Use::Lent => Use::Ref,
        _ => Use::Part,
    }
}

#[test]
fn each_use_of_an_argument_is_recognized() {
    for (body, expected) in [
        ("y.x(); x::y(); x!(); Struct { x: 1 }", Use::No),
        ("use y::{self, x}; use y::x::{z, x};", Use::No),
        (
            "f(&x); x.len(); x[0]; x(y); x == y; format!(\"{x}\")",
            Use::Ref,
        ),
        (
            "x.a.len(); x.count + 1; x.done = true; !x.flag; x.id as u64",
            Use::Ref,
        ),
        (
            "y >= x.size; y + x.size; y / x.size; x.size <= y; y != x; y < x.size",
            Use::Ref,
        ),
        (
            "bail!(\"{x}\"); bail!(\"no {}\", x); ensure!(x > 1, \"{x}\"); matches!(x.kind, A)",
            Use::Ref,
        ),
        (
            "format!(\"{:?} {y:x$.2} {:.*x$}\", y); log!(\"{{x}}\")",
            Use::Ref,
        ),
        ("format!(\"{xx} {y} x\"); log!(\"x\")", Use::No),
        ("for y in &x.items { f(y) }", Use::Ref),
        ("for y in x.items { f(y) }", Use::Part),
        ("match x { A => 1, B(y) => 2 }", Use::Part),
        ("f(x); f(y)", Use::Part),
        ("f(x.body)", Use::Part),
        ("let y: Vec<u8> = x;", Use::Part),
        ("x.body + \"text\"", Use::Part),
        ("x.into_parts().0", Use::Part),
        ("x.unwrap_or(1)", Use::Part),
        ("bail!(x)", Use::Part),
        ("async move { x.len() }", Use::Part),
        ("try_stream! { yield x.len(); }", Use::Part),
        ("f(move |y| x.len(), 1)", Use::Part),
        ("f(move |y| 1, x.len())", Use::Ref),
        ("move || move || 1; x.len()", Use::Ref),
        // After a new binding, the name no longer means the argument.
        ("let x = x.as_ref(); f(x)", Use::Ref),
        ("let x: &str = x.as_ref(); f(x)", Use::Ref),
        ("let (x, y) = split(&x); f(x)", Use::Ref),
        ("let a::Pair { x, .. } = split(&x); f(x)", Use::Ref),
        ("{ let x = 1; f(x) } x.len()", Use::Ref),
        ("{ let x = 1; { let x = 2; } f(x) } x.len()", Use::Ref),
        ("if let Some(x) = x.get() { f(x) } g(x)", Use::Part),
        ("{ let x = 1; } f(x)", Use::Part),
        ("let Pair { x: y } = y; f(x)", Use::Part),
        ("let y = f(x); let x = y;", Use::Part),
        ("#[cfg(a)] let x = 1; f(x)", Use::Part),
        // So it does in a closure whose argument has this name.
        ("f(|x| g(x)); x.len()", Use::Ref),
        ("f(|a, (b, x)| { g(x) }); x.len()", Use::Ref),
        ("f(move |x: A| g(x), 1)", Use::No),
        ("f(|x| 1, x)", Use::Part),
        ("f(|x| |x| 1, x)", Use::Part),
        ("f(|x| { 1 }); g(x)", Use::Part),
        ("f(|y| x)", Use::Part),
        // Attributes use nothing.
        ("#[cfg(x = \"y\")] f(); #[allow(x)] g();", Use::No),
    ] {
        assert_eq!(kind(use_of_x(body)), expected, "{body}");
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
        ("match x { y => f() }", true),
        ("match x { y if g(&y) => f(), z => h() }", true),
        ("match x { y @ _ => { f() } }", true),
        ("match x { A => 1, y => 2 }", false),
        ("match x { ref y => 1, _ => 2 }", false),
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
        // Unless it ends before the body does.
        ("if y { let Options { name, .. } = x; f(&name); }", true),
        ("let (a, _): (A, B) = x;", false),
        ("for y in x { f(y) }", false),
        ("while let Some(y) = x.next() { f(y) }", false),
    ] {
        assert_eq!(use_of_x(body) >= Use::Given, expected, "{body}");
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
        assert_eq!(use_of_x(body) >= Use::Whole, expected, "{body}");
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
        ("async { x.len() }; || x.len(); f(x.a); x.unwrap()", false),
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
        let wrapped = body.starts_with("let __") && !expected;
        let least = if wrapped { Use::Whole } else { Use::Moved };
        let used = use_of_x(body);
        assert_eq!(used >= least, expected || wrapped, "{body}");
        assert!(expected || used != Use::Moved, "{body}");
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
        let used = use_of_x(body);
        assert_eq!(
            (used == Use::Lent, used == Use::Task),
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
        assert_eq!(use_of_x(body) == Use::Macro, expected, "{body}");
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
        assert_eq!(use_of_x(body) == Use::Dropped, expected, "{body}");
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
        let body = body.replace('x', "self");
        let found = assignment_to_self(tokens(&body)).is_some();
        assert_eq!(found, expected, "{body}");
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
        ("f(&x); x.len(); x[0]; x == y", Use::Ref, false),
        ("f(x.body)", Use::Part, false),
        ("f(x)", Use::Part, true),
        ("x.await", Use::Part, true),
        ("drop(x)", Use::Part, true),
    ] {
        let fragments = with_fragments(tokens(body));
        // A macro can hand a fragment to another macro.
        for body in [fragments.clone(), with_fragments(fragments)] {
            let used = use_in("x", &body).used;
            let found = (kind(used), used >= Use::Given);
            assert_eq!(found, (usage, is_handed_over), "{body}");
            assert_eq!(used == Use::Dropped, body.to_string().contains("drop"));
        }
    }
}

#[test]
fn one_walk_reads_all_names() {
    let names = ["a", "b", "self", "r#type"].map(str::to_owned);
    let body = tokens("let a = f(&a, b); self.c(a); log!(\"{type}\")");
    let mentions = read(names.into_iter(), &body, &tokens("|_| f(a)"));
    let usage = |name| kind(mentions.0[name].used);
    let usages = ["a", "b", "self", "r#type"].map(usage);
    let (borrowed, moved) = (Use::Ref, Use::Part);
    assert_eq!(usages, [borrowed, moved, borrowed, borrowed]);
    assert!(mentions.0["a"].held && !mentions.0["b"].held);
}
