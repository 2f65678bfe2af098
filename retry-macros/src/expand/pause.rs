//! The code that waits for the end of the pause of a budget.

use proc_macro2::TokenStream;

use super::blame::Blame;
use super::cancel::Cancel;
use crate::model::Model;
use crate::tokens::generated;

/// Waits while the budget is in a pause: before each attempt, and before `before_retry`. Only a function whose attribute
/// names a budget can have one with a pause. A call that is cancelled is so also if the pause does not fit its deadline.
///
/// ```text
/// Output: while let Some(at) = match call.pause() {
///             Ok(at) => at,
///             Err(cut) => {
///                 let cut = match unless(cancel.as_mut(), ready(cut)).await {
///                     Some(cut) => cut,
///                     None => return call.cut_between(Cut::Cancelled),
///                 };
///                 return call.cut_between(cut);
///             }
///         } {
///             at.wait().await;
///         }
/// ```
pub(super) fn pause(
    model: &Model,
    cancel: &Cancel<'_>,
    blame: Blame,
    wait: &TokenStream,
    limited: bool,
) -> Option<TokenStream> {
    model.budget.as_ref()?.value.expr()?;
    let cut = limited.then(|| {
        let unless_cancelled = cancel.before(generated!(__cut), blame);
        let stopped = blame.call("cut_between", generated!(__cut));
        generated! {
            __retry::Err(__cut) => {
                let __cut = #unless_cancelled;
                return #stopped;
            }
        }
    });
    Some(generated! {
        while let __retry::Some(__at) = match __call.pause() {
            __retry::Ok(__at) => __at,
            #cut
        } {
            #wait;
        }
    })
}
