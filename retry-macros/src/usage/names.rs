//! Names that say how a body uses what it calls them on, or with.

/// Methods that take `self` by value, by the naming convention of the standard library.
pub(super) fn takes_self(method: &str) -> bool {
    method == "into"
        || ["into_", "unwrap", "expect"]
            .iter()
            .any(|prefix| method.starts_with(prefix))
}

/// Methods that take `self` by value where the standard library has them: those of `Option`, `Result`,
/// iterators, and the locks of an `Arc`.
pub(super) fn may_take_self(method: &str) -> bool {
    const NAMES: [&str; 30] = [
        "and",
        "and_then",
        "chain",
        "collect",
        "copied",
        "cloned",
        "enumerate",
        "err",
        "filter",
        "filter_map",
        "flat_map",
        "flatten",
        "fold",
        "for_each",
        "is_none_or",
        "is_some_and",
        "map",
        "map_err",
        "map_or",
        "map_or_else",
        "ok",
        "ok_or",
        "ok_or_else",
        "or",
        "or_else",
        "rev",
        "skip",
        "sum",
        "transpose",
        "zip",
    ];
    NAMES.contains(&method) || method.ends_with("_owned") && !method.starts_with("to_")
}

/// Macros that format or log, which take references.
pub(super) fn formats(name: &str) -> bool {
    const NAMES: [&str; 34] = [
        "format",
        "format_args",
        "print",
        "println",
        "eprint",
        "eprintln",
        "write",
        "writeln",
        "panic",
        "todo",
        "unimplemented",
        "unreachable",
        "assert",
        "assert_eq",
        "assert_ne",
        "debug_assert",
        "debug_assert_eq",
        "debug_assert_ne",
        "trace",
        "debug",
        "info",
        "warn",
        "error",
        "event",
        "log",
        "span",
        "trace_span",
        "debug_span",
        "info_span",
        "warn_span",
        "error_span",
        "anyhow",
        "bail",
        "ensure",
    ];
    NAMES.contains(&name)
}
