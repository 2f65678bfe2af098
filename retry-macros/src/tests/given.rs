//! What each attempt gets of an argument: the rows of the page, each with functions.

use super::expand;

/// The first cell of each row, then arguments named `x`, bodies, and what is in the code.
const ROWS: &[(&str, &[&str], &[&str], &str)] = &[
    (
        "that the body borrows: `&x`, `x.method()`, a format string",
        &["x: Job", "x: impl Show", "x: Vec<X>", "x: Box<dyn Show>"],
        &["f(&x)", "x.method()", "f(format!(\"{x}\"))", "x.count + 1"],
        "let _ = & mut x ;",
    ),
    (
        "of which it may use a part by value: `f(x.field)`, `match x { … }`",
        &["x: Job", "x: Vec<X>", "x: impl Show", "x: Box<dyn Show>"],
        &[
            "f(x.field)",
            "match x { A => f(), B(y) => g(&y) }",
            "if let Some(y) = x { f() } else { g() }",
            "x.unwrap()",
        ],
        "let mut x = __retry :: Argument :: new (& x) . for_each_attempt () ;",
    ),
    (
        "that it hands over: `f(x)`, `let y = x;`, a `move` block, `x.await`; or `mut x`",
        &[
            "x: Job",
            "x: Vec<X>",
            "x: Box<dyn Show>",
            "x: L::Guard",
            "x: (Job, u8)",
        ],
        &[
            "f(x)",
            "let y = x; f(&y)",
            "async move { f(&x) }.await",
            "x.await",
            "match x { y => f(&y) }",
            "tokio::spawn(async move { f(&x) }).await",
            "if y { let X { a } = x; f(&a) } else { g() }",
        ],
        "let mut x = __retry :: Argument :: new (& x) . own () ;",
    ),
    (
        "`impl Trait` or `T: Trait` that it hands over",
        &["x: impl Show", "x: impl Show + Send", "x: impl Fn()"],
        &["f(x)", "let y = x; f(&y)", "async move { f(&x) }.await"],
        "let mut x = __retry :: Argument :: new (& x) . for_each_attempt () ;",
    ),
    (
        "`impl Into<X>`, or an `Option` of it, with an `X` that is `Clone`",
        &[
            "x: impl Into<X>",
            "x: impl Into<X> + Send",
            "x: Option<impl Into<X>>",
        ],
        &["f(x)", "f(x.into())", "x.map(Into::into)"],
        "let x = __retry :: Convert :: < X , _ > :: of (& x) . once (x) ;",
    ),
    (
        "`impl FnMut()`, `Box<dyn FnMut()>` that is not `Clone`",
        &[
            "x: impl FnMut()",
            "mut x: impl FnMut() + Send",
            "x: Box<dyn FnMut()>",
        ],
        &["f(x)", "let mut y = x; y()", "f(move || x())"],
        "let x = & mut x ;",
    ),
    (
        "`&mut T`, `Option<&mut T>`, `Pin<&mut T>`, `&mut self`",
        &["x: &mut Job"],
        &[
            "f(x)",
            "let y = x; f(y)",
            "async move { f(&x) }.await",
            "m!(x.a())",
        ],
        "let x = & mut * x ;",
    ),
    (
        "that it drops: `drop(x)`",
        &[
            "x: Job",
            "x: impl Show",
            "x: Arc<X>",
            "x: impl FnMut()",
            "mut x: X",
        ],
        &["drop(x); f()", "f(async move { drop(x) })"],
        "compile_error",
    ),
];

/// What a guard may be, and each way to hand one over.
const GUARDS: &[&str] = &[
    "x: Permit",
    "x: MutexGuard<'_, X>",
    "x: TempDir",
    "x: Option<Permit>",
    "x: Vec<Permit>",
    "x: (Permit, u8)",
    "x: [Permit; 2]",
    "x: Box<dyn Guard>",
    "x: Box<dyn Send + Sync>",
    "x: impl Send",
    "x: impl Deref + Sync",
    "x: impl Send + 'static",
    "x: impl Guard<'a>",
    "x: L::Guard",
    "x: <L as Lock>::Guard",
    "x: Arc<Permit>",
    "mut x: Permit",
    "(x, y): (Permit, u8)",
    "Held(x): Held<Permit>",
    "Job { x, .. }: Job",
];

const HANDED_OVER: &[&str] = &[
    "f(x)",
    "a.f(1, x)",
    "f::<X>(x)",
    "let held = x; f()",
    "let _held = x; f()",
    "let ref held = x; f()",
    "let held; held = x; f()",
    "let held @ _ = x; f()",
    "match x { held => f() }",
    "match x { held if f() => g(), held => g() }",
    "match x { Some(_held) => f(), None => g() }",
    "if let held = x { f() } else { g() }",
    "if let Some(_held) = x { f() } else { g() }",
    "for _held in x { f() } g()",
    "while let Some(mut held) = x { f() } g()",
    "if a { let Job { id, permit } = x; f() } else { g() }",
    "let Job { id, permit: _permit } = x; f()",
    "f((x, 1))",
    "f([x])",
    "f(vec![x])",
    "f(Held { x })",
    "f(Held { permit: x })",
    "f(Held { id: 1, ..x })",
    "f({ x })",
    "f(loop { break x; })",
    "f((|| x)())",
    "f(|| { return x; })",
    "f(|a| { let held = x; g() })",
    "f(if a { x } else { b })",
    "async { let held = x; f() }.await",
    "async move { f(&x) }.await",
    "async move { f(format!(\"{x}\")) }.await",
    "f(move || x.read())",
    "f(async move || x.read())",
    "join!(async { let held = x; f() }, g())",
    "join!(x, g())",
    "select! { a = async move { f(&x) } => a, b = g() => b }",
    "hold!(x); f()",
    "hold! { let held = x; } f()",
    "tokio::spawn(async move { f(&x) }).await",
    "thread::spawn(move || x.read()); f()",
    "thread::scope(|s| { s.spawn(move || x.read()); }); f()",
    "Box::pin(async move { f(&x) }).await",
    "f(ready(x).await)",
    "pin!(x); f()",
    "mem::forget(x); f()",
    "f(x.into())",
    "f(x.try_into())",
    "f(x.into_inner())",
    "x.await",
];

fn code(argument: &str, body: &str) -> String {
    let item = format!("#[retry] async fn g<'a, L: Lock>({argument}) -> R {{ {body} }}");
    expand(&item).to_string()
}

#[test]
fn each_row_of_the_page_says_what_the_code_gives() {
    let page = include_str!("../../../src/retry.md");
    let (_, page) = page.split_once("\n# Arguments\n").unwrap();
    let rows = page.lines().skip_while(|line| !line.starts_with("|---"));
    let rows = rows.skip(1).take_while(|line| line.starts_with("| "));
    let cells: Vec<_> = rows.map(|row| row.split(" | ").next().unwrap()).collect();
    let expected: Vec<_> = ROWS.iter().map(|(cell, ..)| format!("| {cell}")).collect();
    assert_eq!(cells, expected);
    for (_, arguments, bodies, expected) in ROWS {
        for (argument, body) in arguments
            .iter()
            .flat_map(|it| bodies.iter().map(move |body| (it, body)))
        {
            let found = code(argument, body);
            assert!(found.contains(expected), "{argument}: {body}: {found}");
        }
    }
}

/// A reference would keep alive what the body lets go.
#[test]
fn no_guard_is_lent() {
    for (argument, body) in GUARDS
        .iter()
        .flat_map(|it| HANDED_OVER.iter().map(move |body| (it, body)))
    {
        let found = code(argument, body);
        let own = "__retry :: Argument :: new (& x) . own ()";
        assert!(found.contains(own), "{argument}: {body}: {found}");
    }
}
