//! Seals traits: users can call their methods, but not implement them.

/// A trait with this bound can get new methods without breaking users.
#[expect(unnameable_types, reason = "users cannot name it")]
pub trait Sealed {}
