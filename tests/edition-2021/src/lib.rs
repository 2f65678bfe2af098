//! See `tests/shapes` of the workspace: the same table, compiled in another edition.
