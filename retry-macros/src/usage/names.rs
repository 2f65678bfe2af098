//! Names of methods and macros that show how they use their receiver or their arguments.

use proc_macro2::{Ident, TokenTree};

use crate::text::among;
use crate::tokens::{before, is_among, is_punct, is_text};

/// Methods that take `self` by value, by the naming convention of the standard library or where it has them: those of
/// `Option`, `Result`, iterators and futures.
pub(super) fn takes_self(method: &str) -> bool {
    const NAMES: &str = "and and_then await chain cloned collect copied count enumerate err filter \
        filter_map flat_map flatten fold for_each fuse is_none_or is_some_and last map map_err \
        map_or map_or_else ok ok_or ok_or_else or or_else peekable rev skip take_while then then_some \
        transpose unzip xor zip";
    among(NAMES, method)
        || method.starts_with("unwrap")
        || method.starts_with("expect")
        || method.ends_with("_owned") && !method.starts_with("to_")
        || converts(method)
}

/// Conversions, which take `self` by value. clippy warns of others with such a name (`wrong_self_convention`).
pub(super) fn converts(method: &str) -> bool {
    let method = method.strip_prefix("try_").unwrap_or(method);
    method == "into" || method.starts_with("into_")
}

/// Macros that format or log, which take references.
fn formats(name: &str) -> bool {
    const NAMES: &str = "format format_args print println eprint eprintln write writeln panic todo \
        unimplemented unreachable assert assert_eq assert_ne debug_assert debug_assert_eq debug_assert_ne \
        trace debug info warn error event log span trace_span debug_span info_span warn_span error_span \
        anyhow bail ensure matches";
    among(NAMES, name)
}

/// Whether the group at `at` holds the arguments of a macro that formats or logs.
pub(crate) fn is_formatting(tokens: &[TokenTree], at: usize) -> bool {
    macro_of(tokens, at).is_some_and(|name| formats(&name.to_string())) && !makes_error(tokens, at)
}

/// The name of the macro whose arguments the group at `at` holds.
fn macro_of(tokens: &[TokenTree], at: usize) -> Option<&Ident> {
    match before(tokens, at, 2) {
        Some(TokenTree::Ident(name)) if is_punct(before(tokens, at, 1), "!") => Some(name),
        _ => None,
    }
}

/// Whether the group at `at` has no text, and a macro makes an error of what it holds: `bail!(error)`.
fn makes_error(tokens: &[TokenTree], at: usize) -> bool {
    macro_of(tokens, at).is_some_and(|name| is_among(name, "anyhow bail ensure eyre"))
        && matches!(tokens.get(at), Some(TokenTree::Group(group)) if !group.stream().into_iter().any(|token| is_text(Some(&token))))
}

/// The names that a text captures, if a macro formats it: `"{name}"`, `"{name:?}"`, `"{:name$}"`.
pub(super) fn captured(literal: &str) -> Vec<&str> {
    let is_other = |char: char| !(char.is_alphanumeric() || char == '_');
    let names = literal.split('{').skip(1).flat_map(|rest| {
        let rest = rest.split('}').next().unwrap_or_default();
        // A width or a precision is the word before a `$`.
        let before = rest.rsplit('$').skip(1);
        let widths = before.filter_map(|part| part.rsplit(is_other).next());
        rest.split(':').take(1).chain(widths)
    });
    names.collect()
}

/// Whether the group at `at` holds what a macro writes into an `async move` block, which makes a stream.
pub(super) fn makes_stream(tokens: &[TokenTree], at: usize) -> bool {
    macro_of(tokens, at).is_some_and(|name| is_among(name, "stream try_stream"))
}

/// Whether the group at `at` holds the tokens of a macro that is not known: it may write them into a `move` closure.
pub(super) fn is_unknown_macro(tokens: &[TokenTree], at: usize) -> bool {
    const KNOWN: &str = "join select try_join vec json pin dbg";
    macro_of(tokens, at).is_some_and(|name| !formats(&name.to_string()) && !is_among(name, KNOWN))
}
