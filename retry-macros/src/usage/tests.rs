use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::{ToTokens as _, quote};
use syn::{Attribute, Meta};

use super::scope::is_rebound;
use super::{MovedField, Usage, read as uses_in};

fn read(body: &str) -> TokenStream {
    body.parse().unwrap()
}

#[test]
fn each_use_of_an_argument_is_recognized() {
    for (body, expected) in [
        ("y.x(); x::y(); x!(); Struct { x: 1 }", Usage::Unmentioned),
        ("use y::{self, x}; use y::x::{z, x};", Usage::Unmentioned),
        (
            "f(&x); x.len(); x[0]; x == y; format!(\"{x}\")",
            Usage::Borrowed,
        ),
        (
            "x.a.len(); x.count + 1; x.done = true; !x.flag; x.id as u64",
            Usage::Borrowed,
        ),
        (
            "match x.kind { _ => 1 }; matches!(x.kind, A)",
            Usage::Borrowed,
        ),
        (
            "match x.kind { Kind::A(ref a) => f(a), Kind::B(&b) => b, Kind::C { .. } if y => 1, D => d }",
            Usage::Borrowed,
        ),
        (
            "if let Some(Kind::A) = x.kind { 1 } else { 2 }",
            Usage::Borrowed,
        ),
        (
            "match x.body { Some(text) => f(text), None => 1 }",
            Usage::InParts,
        ),
        (
            "match x.body { None => { 1 } Some(text) => 2 }",
            Usage::InParts,
        ),
        ("if let Some(mut text) = x.body { f(text) }", Usage::InParts),
        (
            "match x { A => 1, B(y) if z => f(y), _ => 2 }",
            Usage::Moved,
        ),
        ("match x { A => 1, other => f(&other) }", Usage::Moved),
        (
            "match x { A => { 1 } other => f(other) }",
            Usage::HandedOver,
        ),
        (
            "match x { A => (1), other if z => other, }",
            Usage::HandedOver,
        ),
        ("if let Some(y) = x { f(&y) }", Usage::Moved),
        ("if let Some(y) = x { g(1); f(y) }", Usage::HandedOver),
        ("if let Some(mut y) = x { y.send(1) }", Usage::HandedOver),
        (
            "if let Some(ref mut y) = x { 1 } if let Some(&mut y) = x { 1 }",
            Usage::Moved,
        ),
        ("x.inner(); y.inner(x.len())", Usage::InParts),
        ("for y in x.inner() { f(y) }", Usage::InParts),
        (
            "g(move || { for y in x.inner() { f(y) } })",
            Usage::HandedOver,
        ),
        ("f(x)", Usage::HandedOver),
        ("x.into()", Usage::HandedOver),
        ("x.try_into()?", Usage::HandedOver),
        ("x.await", Usage::UsedUp),
        ("drop(x)", Usage::UsedUp),
        ("async move { x.len() }", Usage::Moved),
        // A field may be `Copy`.
        ("f(x.body)", Usage::InParts),
        ("let y = x.body;", Usage::InParts),
        ("for y in x.items { f(y) }", Usage::InParts),
        ("for y in &x.items { f(y) }", Usage::Borrowed),
        ("let y: Vec<u8> = x.body;", Usage::InParts),
        ("let y: Vec<u8> = x;", Usage::Moved),
        (
            "y >= x.size; x.size <= y; y != x; y < x.size",
            Usage::Borrowed,
        ),
        ("x.body.into_bytes()", Usage::InParts),
        ("async move { f(x.body) }", Usage::Moved),
        (
            "bail!(\"{x}\"); bail!(\"no {}\", x); ensure!(x > 1, \"{x}\"); ensure!(x.is_some(), y)",
            Usage::Borrowed,
        ),
        ("bail!(x)", Usage::HandedOver),
        ("spawn(async move { x.len() })", Usage::UsedUp),
        ("scope.spawn(move || x.len())", Usage::Moved),
        ("ensure!(y > 1, x)", Usage::HandedOver),
        // A method may take a reference.
        ("x.max(y)", Usage::Moved),
        // After a new binding, the name no longer means the argument.
        ("let x = x.as_ref(); f(x)", Usage::Borrowed),
        ("let x: &str = x.as_ref(); f(x)", Usage::Borrowed),
        ("let (x, y) = split(&x); f(x)", Usage::Borrowed),
        ("let a::Pair { x, .. } = split(&x); f(x)", Usage::Borrowed),
        ("if let Some(x) = x.get() { f(x) } g(x)", Usage::HandedOver),
        ("{ let x = 1; f(x) } x.len()", Usage::Borrowed),
        ("let Pair { x: y } = y; f(x)", Usage::HandedOver),
        ("let y = f(x); let x = y;", Usage::HandedOver),
    ] {
        assert_eq!(uses_in("x", &read(body)).usage, expected, "{body}");
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
    for (body, expected) in [
        ("f(&x); x.len(); x[0]; x == y", Usage::Borrowed),
        ("f(x.body)", Usage::InParts),
        ("f(x)", Usage::HandedOver),
        ("drop(x)", Usage::UsedUp),
        ("x.await", Usage::UsedUp),
    ] {
        let fragments = with_fragments(read(body));
        assert_eq!(uses_in("x", &fragments).usage, expected, "{body}");
        // A macro can hand a fragment to another macro.
        let twice = with_fragments(fragments);
        assert_eq!(uses_in("x", &twice).usage, expected, "{body}");
    }
    let field = Group::new(Delimiter::None, read("x.body"));
    let uses = uses_in("x", &quote!(f(#field)));
    assert_eq!(uses.fields.len(), 1);
}

#[test]
fn uses_within_a_move_block_are_found() {
    for (body, expected) in [
        ("async move { x.len() }", Usage::Borrowed),
        ("async move { f(&x.body) }", Usage::Borrowed),
        ("async move { f(x) }", Usage::HandedOver),
        ("async move { f(x.body) }", Usage::InParts),
    ] {
        let body = read(body);
        let uses = uses_in("x", &body);
        assert_eq!(
            (uses.in_move_block, uses.apart_from_moves),
            (true, expected),
            "{body}"
        );
    }
}

#[test]
fn fields_that_are_used_by_value_are_found() {
    for (body, expected) in [
        ("f(x.body)", "x . body"),
        ("f(a, x.0.body)", "x . 0 . body"),
        ("Struct { body: x.body }", "x . body"),
        ("x.body.into_bytes()", "x . body"),
        ("let y = x.body;", "x . body"),
        (
            "x.path + \"/y\"; x.name + &y; x.count + 1; x.a + y; y + &x.b",
            "x . path, x . name",
        ),
        ("for y in x.items { f(y) }", "x . items"),
        (
            "for y in &x.items { } for y in x.items.iter() { } for y in x.first..x.last { }",
            "",
        ),
        ("if let Some(body) = x.body { 1 }", "x . body"),
        ("let Some(mut body) = x.body else { return };", "x . body"),
        (
            "match x.body { None => 1, Some(body) if y => 2, _ => 3 }",
            "x . body",
        ),
        (
            "if let Some(_) = x.a { 1 } if let Some(ref b) = x.b { 1 } if let Some((a, b)) = x.c { 1 }",
            "",
        ),
        (
            "f(&x.body); x.body.len(); y.x.body; let x = 1; f(x.body)",
            "",
        ),
        ("println!(\"{}\", x.body); vec![x.body]", ""),
    ] {
        let fields = uses_in("x", &read(body)).fields;
        let fields: Vec<_> = fields.iter().map(|it| it.field.to_string()).collect();
        assert_eq!(fields.join(", "), expected, "{body}");
    }
}

#[test]
fn a_use_of_the_whole_by_value_is_found() {
    for (body, expected) in [
        ("f(x)", true),
        ("Struct { x }; Struct { y: x }", true),
        ("let y = x;", true),
        ("x.into(); x.await", true),
        ("x.into_parts().0", true),
        ("async move { f(x) }", true),
        ("f(&x); x.len(); let y = &x; y == x; y += x;", false),
        ("x.unwrap_or(1); x.collect(); match x { A => 1 }", false),
        ("f(x.body); async move { x.len() }", false),
        ("#[cfg(unix)] f(x);", false),
    ] {
        let whole = uses_in("x", &read(body)).whole;
        assert_eq!(whole.is_some(), expected, "{body}");
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
        ("#[cfg(unix)] drop(x);", false),
    ] {
        let at = uses_in("x", &read(body)).dropped;
        assert_eq!(at.is_some(), expected, "{body}");
    }
}

#[test]
fn a_method_that_uses_up_an_option_is_found() {
    for (body, expected) in [
        ("x.map(f)", true),
        ("f(x.ok_or_else(|| y))", true),
        ("x.as_ref().map(f); x.cmp(&y); x.is_some(); y.map(x)", false),
        ("x.body.map(f)", false),
        ("#[cfg(unix)] x.map(f);", false),
    ] {
        let at = uses_in("x", &read(body)).as_option;
        assert_eq!(at.is_some(), expected, "{body}");
    }
}

#[test]
fn a_result_that_borrows_from_what_is_changed_is_found() {
    for (body, expected) in [
        ("x.a = 1; Ok(&x.a)", true),
        ("x.a += 1; return Ok(&x.a[1]);", true),
        ("match y { A => Ok(&mut x), B => 1 }", true),
        ("Ok(x.a.as_mut().unwrap())", true),
        ("f(&mut x.a.b); Ok(&x.a)", true),
        ("x.a = 1; Ok(&x.ab)", false),
        ("x.a == 1; Ok(&x.a)", false),
        ("f(y, x = 1); Ok(&x)", false),
        ("x.a = 1; let y = Ok(&x.a).map(f); Ok(y)", false),
        ("x.a = 1; Ok(&x.a.len() + 1)", false),
        ("x.a = 1; f(&x.a)", false),
        ("#[cfg(unix)] { x.a = 1; } Ok(&x.a)", false),
    ] {
        let body = read(body);
        let uses = uses_in("x", &body);
        assert_eq!(uses.result_borrows().is_some(), expected, "{body}");
    }
}

#[test]
fn fields_have_the_cfg_of_the_code_around_them() {
    for (body, expected) in [
        ("#[cfg(a)] f(x.a); f(x.b);", "a: x . a, x . b"),
        ("S { #[cfg(a)] a: x.a, b: x.b }", "a: x . a, x . b"),
        ("S { a: x.a, #[cfg(b)] b: x.b }", "x . a, b: x . b"),
        ("f(#[cfg(a)] x.a, x.b)", "a: x . a, x . b"),
        (
            "match y { #[cfg(a)] A => f(x.a), #[cfg(b)] B { c } if d => { f(x.b) } C => f(x.c) }",
            "a: x . a, b: x . b, x . c",
        ),
        (
            "#[cfg(a)] if y { f(x.a) } else if z { f(x.b) } else { f(x.c) } f(x.d)",
            "a: x . a, a: x . b, a: x . c, x . d",
        ),
        (
            "#[cfg(a)] { f(x.a); #[cfg(b)] { f(x.b) } f(x.c) } #[cfg(d)] f(x.d)",
            "a: x . a, a b: x . b, a: x . c, d: x . d",
        ),
        ("#[cfg(a)] #[allow(b)] #[cfg(c)] f(x.a)", "a c: x . a"),
        (
            "#[cfg(a)] let y: Map<A, B> = x.a; f(x.b)",
            "a: x . a, x . b",
        ),
        (
            "#[cfg(a)] f::<A, B>(|c, d| g(x.a)); f(x.b)",
            "a: x . a, x . b",
        ),
        ("#[cfg(a)] let f = |c, d| g(x.a); f(x.b)", "a: x . a, x . b"),
        (
            "#[cfg(a)] let f = || -> A { g(x.a) }, f(x.b)",
            "a: x . a, x . b",
        ),
        (
            "#[cfg(a)] let Some(A { c }) = y else { return f(x.a) }; f(x.b)",
            "a: x . a, x . b",
        ),
        (
            "#[cfg(a)] for A { c } in y { f(x.a) } f(x.b)",
            "a: x . a, x . b",
        ),
        ("#[cfg_attr(a, cfg(b), inline)] f(x.a)", "cfg_attr: x . a"),
        ("#[allow(a)] f(x.a)", "x . a"),
    ] {
        let fields = uses_in("x", &read(body)).fields;
        let condition = |attribute: &Attribute| match &attribute.meta {
            Meta::List(list) if list.path.is_ident("cfg") => list.tokens.to_string(),
            other => other.path().to_token_stream().to_string(),
        };
        let shown = fields.iter().map(|MovedField { cfg, field }| {
            let conditions: Vec<_> = cfg.iter().map(condition).collect();
            match conditions.as_slice() {
                [] => field.to_string(),
                _ => format!("{}: {field}", conditions.join(" ")),
            }
        });
        let shown: Vec<_> = shown.collect();
        assert_eq!(shown.join(", "), expected, "{body}");
    }
}

#[test]
fn attributes_do_not_use_an_argument() {
    for body in [
        "#[cfg(x = \"y\")] f();",
        "#[allow(x)] f();",
        "match y { #[cfg(x)] A => 1 }",
    ] {
        assert_eq!(
            uses_in("x", &read(body)).usage,
            Usage::Unmentioned,
            "{body}"
        );
    }
    let body = "match x.a { #[cfg(unix)] A => 1, B => 2 }";
    assert_eq!(uses_in("x", &read(body)).usage, Usage::Borrowed);
}

#[test]
fn a_let_that_a_cfg_may_leave_out_does_not_hide_an_argument() {
    for (body, expected) in [
        ("#[cfg(a)] let x = 1; f(x)", Usage::HandedOver),
        ("#[cfg(a)] { let x = 1; f(x) } f(&x)", Usage::Borrowed),
        (
            "#[cfg(a)] let x = x.b(); #[cfg(not(a))] let x = x.c(); f(x)",
            Usage::Borrowed,
        ),
        ("#[cfg(a)] let y = 1; let x = x.b(); f(x)", Usage::Borrowed),
        ("#[allow(a)] let x = x.b(); f(x)", Usage::Borrowed),
    ] {
        assert_eq!(uses_in("x", &read(body)).usage, expected, "{body}");
    }
}

#[test]
fn each_new_binding_of_a_name_is_found() {
    for body in [
        "let x = 1;",
        "let mut x = 1;",
        "if let Some(x) = y {}",
        "for x in y {}",
        "for (x, y) in z {}",
        "f(|x| x.id)",
        "f(|a, x| x.id)",
        "match y { x => 1 }",
        "match y { Some(x) => 1 }",
        "match y { Pair { x, .. } if z => 1 }",
        "match y { x @ 1 => 1 }",
    ] {
        assert!(is_rebound("x", &read(body)), "{body}");
    }
    for body in [
        "f(x)",
        "let y = x;",
        "match x { y => 1 }",
        "if x.a == y {}",
        "f(|y| x.id(y))",
    ] {
        assert!(!is_rebound("x", &read(body)), "{body}");
    }
}
