//! Names that say how a body uses what it calls them on, or with.

use crate::text::among;

/// Methods that take `self` by value, by the naming convention of the standard library.
pub(super) fn takes_self(method: &str) -> bool {
    ["into_", "try_into", "unwrap", "expect"]
        .iter()
        .any(|prefix| method.starts_with(prefix))
        || method == "into"
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

/// Macros that format or log, which take references.
pub(super) fn formats(name: &str) -> bool {
    const NAMES: &str = "format format_args print println eprint eprintln write writeln panic todo \
        unimplemented unreachable assert assert_eq assert_ne debug_assert debug_assert_eq debug_assert_ne \
        trace debug info warn error event log span trace_span debug_span info_span warn_span error_span \
        anyhow bail ensure matches";
    among(NAMES, name)
}
