//! The macro reads the tokens of a function a fixed number of times, however many there are of anything.

use super::expand;
use crate::tokens::steps;

/// Ten times as many take at most twelve times the steps.
fn grows_linearly(what: &str, function: impl Fn(usize) -> String) {
    let steps = |size| {
        let function = function(size);
        steps::of(|| drop(expand(&function)))
    };
    let (few, many) = (steps(30), steps(300));
    assert!(few > 30, "{what}: {few} steps of 30");
    assert!(many < 12 * few, "{what}: {few} steps of 30, {many} of 300");
}

/// `piece` with each number up to `size` for its `#`.
fn repeated(size: usize, piece: &str) -> String {
    let pieces = (0..size).map(|number| piece.replace('#', &number.to_string()));
    pieces.collect()
}

#[test]
fn a_thousand_arguments_types_and_uses_take_steps_in_proportion() {
    grows_linearly("arguments", |size| {
        let (arguments, uses) = (repeated(size, "a#: String, "), repeated(size, "f(a#);"));
        format!("#[retry] async fn g({arguments}) -> R {{ {uses} Ok(()) }}")
    });
    grows_linearly("arguments that convert", |size| {
        let (arguments, uses) = (
            repeated(size, "a#: impl Into<X>, "),
            repeated(size, "f(a#);"),
        );
        format!("#[retry] async fn g({arguments}) -> R {{ {uses} Ok(()) }}")
    });
    grows_linearly("patterns", |size| {
        let (arguments, uses) = (repeated(size, "P(a#): P<X>, "), repeated(size, "f(a#);"));
        format!("#[retry] async fn g({arguments}) -> R {{ {uses} Ok(()) }}")
    });
    grows_linearly("types", |size| {
        let types = repeated(size, "T#: Into<X>, ");
        let clauses = repeated(size, "T#: Send, ");
        let (arguments, uses) = (repeated(size, "a#: T#, "), repeated(size, "f(a#);"));
        format!(
            "#[retry] async fn g<{types}>({arguments}) -> R where {clauses} {{ {uses} Ok(()) }}"
        )
    });
    grows_linearly("uses", |size| {
        let uses = repeated(size, "f(&a, a.b, move || a.c); let c = |x| a.d(x);");
        format!("#[retry] async fn g(&mut self, a: A) -> R {{ {uses} Ok(()) }}")
    });
    grows_linearly("bindings", |size| {
        let uses = repeated(size, "let a# = f(&a#); h(a#, |a#| a#);");
        let arguments = repeated(size, "a#: A, ");
        format!("#[retry(on_end = |_| f(&a1))] async fn g({arguments}) -> R {{ {uses} Ok(()) }}")
    });
}

#[test]
fn a_thousand_attributes_lifetimes_and_blocks_take_steps_in_proportion() {
    grows_linearly("attributes", |size| {
        let (arguments, uses) = (
            repeated(size, "@[cfg(a#)] a#: A, "),
            repeated(size, "@[cfg(a#)] f(a#);"),
        );
        format!("#[retry] async fn g({arguments}) -> R {{ {uses} f() }}").replace('@', "#")
    });
    grows_linearly("fields", |size| {
        let (fields, uses) = (repeated(size, "@[cfg(a)] a#, "), repeated(size, "f(a#);"));
        format!("#[retry] async fn g(A {{ {fields} }}: A) -> R {{ {uses} f() }}").replace('@', "#")
    });
    grows_linearly("lifetimes", |size| {
        let (lifetimes, arguments) = (
            repeated(size, "'a#: 'a0, "),
            repeated(size, "a#: &'a# mut A, "),
        );
        let result = repeated(size, "&'a# A, ");
        format!("#[retry] async fn g<{lifetimes}>({arguments}) -> Result<({result})> {{ f() }}")
    });
    grows_linearly("types of errors", |size| {
        let (on, unless) = (repeated(size, "T#, "), repeated(size, "U#, "));
        format!("#[retry(on({on}), unless({unless}))] async fn g() -> R {{ f() }}")
    });
    grows_linearly("a rule", |size| {
        let (arguments, rule) = (repeated(size, "a#: A, "), repeated(size, "b#();"));
        format!("#[retry(when = |_| {{ {rule} }})] async fn g({arguments}) -> R {{ f() }}")
    });
    grows_linearly("`move` blocks", |size| {
        let blocks = repeated(size, "let a# = async move { x.b() };");
        format!("#[retry] async fn g(x: A) -> R {{ {blocks} f() }}")
    });
}

#[test]
fn layers_take_steps_in_proportion() {
    let nested = |size: usize, open: &str, close: &str| {
        let (open, close) = (open.repeat(size), close.repeat(size));
        format!("#[retry] async fn g(e: Option<E>) -> R {{ {open} f(e) {close} }}")
    };
    grows_linearly("layers of `match`", |size| {
        nested(size, "match e { Some(e) => {", "} None => g(e) }")
    });
    grows_linearly("layers of `if let`", |size| {
        nested(size, "if let Some(e) = e {", "} else { g(e) }")
    });
    grows_linearly("layers of closures", |size| {
        nested(size, "f(move |e| {", "}, e)")
    });
}
