//! Keeps traits that users call, and do not implement.

/// A trait with this bound may get methods without breaking anybody.
#[expect(unnameable_types, reason = "that is what seals a trait")]
pub trait Sealed {}
