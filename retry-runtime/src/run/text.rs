//! The text of an error for events, of an error type that is only known where a run ends.

use std::fmt::Display;

/// What makes the text of an `E`: [`ByDisplay`], or [`ByFunction`], set by [`Run::with_text`](crate::Run::with_text).
#[diagnostic::on_unimplemented(
    message = "`{E}` does not implement `Display`, so events cannot show its text",
    label = "the error type of this run has no text",
    note = "write `.with_text(|error| format!(\"{{error:?}}\"))`, or implement `Display` for `{E}`"
)]
pub trait MakesText<E> {
    /// Returns the function that makes the text.
    fn function(&self) -> fn(&E) -> String;
}

/// The error type implements `Display`. In the alternate form, `anyhow::Error` and `eyre::Report` add their causes.
#[derive(Debug, Clone, Copy)]
pub struct ByDisplay;

#[diagnostic::do_not_recommend]
impl<E: Display> MakesText<E> for ByDisplay {
    fn function(&self) -> fn(&E) -> String {
        |error| format!("{error:#}")
    }
}

/// A function makes the text.
#[derive(Debug)]
pub struct ByFunction<E>(pub(super) fn(&E) -> String);

impl<E> MakesText<E> for ByFunction<E> {
    fn function(&self) -> fn(&E) -> String {
        self.0
    }
}
