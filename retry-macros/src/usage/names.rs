//! Names of methods and macros that show how they use their receiver or their arguments.

use proc_macro2::TokenTree;

use crate::tokens::{before, is_punct, is_text, is_word};
use retry_settings::text::among;

/// Methods that take `self` by value, by the naming convention of the standard library.
pub(super) fn takes_self(method: &str) -> bool {
    method.starts_with("unwrap") || method.starts_with("expect") || converts(method)
}

/// Conversions, which take `self` by value. clippy warns of others with such a name (`wrong_self_convention`).
pub(super) fn converts(method: &str) -> bool {
    let method = method.strip_prefix("try_").unwrap_or(method);
    method == "into" || method.starts_with("into_")
}

/// Methods that take `self` by value where the standard library has them: those of `Option`, `Result`,
/// `bool`, the traits of the prelude, and the locks of an `Arc`.
pub(super) fn may_take_self(method: &str) -> bool {
    const NAMES: &str = "and and_then chain clamp cloned cmp collect copied count cycle enumerate err \
        filter filter_map flat_map flatten fold for_each fuse inspect inspect_err is_err_and is_none_or \
        is_ok_and is_some_and last map map_err map_or map_or_else map_while max max_by max_by_key min \
        min_by min_by_key ok ok_or ok_or_else or or_else partition peekable product reduce rev scan skip \
        skip_while step_by sum take_while then then_some transpose unzip xor zip";
    among(NAMES, method) || method.ends_with("_owned") && !method.starts_with("to_")
}

/// Those that use up an `Option`. No reference to one has them.
pub(super) fn uses_up_option(method: &str) -> bool {
    const NAMES: &str = "and and_then filter flatten inspect is_none_or is_some_and map map_or \
        map_or_else ok_or ok_or_else or or_else transpose unzip xor zip";
    among(NAMES, method)
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
    is_punct(before(tokens, at, 1), "!")
        && matches!(before(tokens, at, 2), Some(TokenTree::Ident(name)) if formats(&name.to_string()))
        && !makes_error(tokens, at)
}

/// Whether the group at `at` has no text, and a macro makes an error of what it holds: `bail!(error)`.
pub(super) fn makes_error(tokens: &[TokenTree], at: usize) -> bool {
    is_punct(before(tokens, at, 1), "!")
        && is_word(before(tokens, at, 2), "anyhow bail ensure eyre")
        && matches!(tokens.get(at), Some(TokenTree::Group(group)) if !group.stream().into_iter().any(|token| is_text(Some(&token))))
}

/// Whether a literal captures `name`, as `"{name}"` and `"{name:?}"` do in a format string.
pub(super) fn in_braces(literal: &str, name: &str) -> bool {
    let name = name.strip_prefix("r#").unwrap_or(name);
    literal.split('{').skip(1).any(|rest| {
        rest.strip_prefix(name).is_some_and(|rest| rest.starts_with(['}', ':']))
            // A width or precision: `{:name$}`.
            || rest.split('}').next().is_some_and(|spec| {
                spec.split([':', '.', '<', '>', '^']).any(|part| {
                    part.strip_suffix('$').or_else(|| part.split('$').next().filter(|_| part.contains('$')))
                        == Some(name)
                })
            })
    })
}
