//! The types that `after = "…"` of the derive accepts.

use std::time::Duration;

/// A delay, or none. `after` names a field of this type, or a method that returns this type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a delay",
    label = "expected `Duration` or `Option<Duration>`",
    note = "a method can return it: `after = \"Self::retry_after\"`, with `fn retry_after(&self) -> Option<Duration>`"
)]
pub trait IntoHint: Copy {
    /// Returns the delay, if there is one.
    fn into_hint(self) -> Option<Duration>;
}

#[diagnostic::do_not_recommend]
impl IntoHint for Duration {
    fn into_hint(self) -> Option<Duration> {
        Some(self)
    }
}

#[diagnostic::do_not_recommend]
impl IntoHint for Option<Duration> {
    fn into_hint(self) -> Option<Duration> {
        self
    }
}

/// Reads the delay from a field.
pub fn hint_in<D: IntoHint>(field: &D) -> Option<Duration> {
    field.into_hint()
}

/// Takes the delay that a method returned.
pub fn hint_from<D: IntoHint>(delay: D) -> Option<Duration> {
    delay.into_hint()
}
