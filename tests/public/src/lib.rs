//! The public API as text: see `tests/public.rs`.
