//! The code that waits for the end of the pause of a budget.

use proc_macro2::TokenStream;

use crate::model::Model;
use crate::tokens::generated;

/// Waits while the budget is in a pause: before each attempt, and before `before_retry`. Only a function whose attribute
/// names a budget can have one with a pause.
///
/// ```text
/// Output: while let Some(at) = match call.pause() {
///             Ok(at) => at,
///             Err(cut) => return call.cut_between(cut),
///         } {
///             call.wait(at).await;
///         }
/// ```
pub(super) fn pause(
    model: &Model,
    wait: &TokenStream,
    cut: Option<&TokenStream>,
) -> Option<TokenStream> {
    model.budget.as_ref()?.value.expr()?;
    Some(generated! {
        while let __retry::Some(__at) = match __call.pause() {
            __retry::Ok(__at) => __at,
            #cut
        } {
            #wait;
        }
    })
}
