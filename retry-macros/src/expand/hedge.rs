//! The code of a function with `hedge`, whose second attempt may run beside the first.
//!
//! ```text
//! Output: let mut race = pin!(Race::new());
//!         loop {
//!             let ended = call.race(race.as_mut(), || { EACH async BODY }).await;
//!             …
//!             if call.is_beside() { continue; }
//!             call.wait(at).await;
//!         }
//! ```

use proc_macro2::TokenStream;

use crate::model::Model;
use crate::tokens::generated;

/// The race, and what comes before the wait: if one of two attempts failed, the loop goes on with the other.
pub(super) fn around(model: &Model) -> Option<(TokenStream, TokenStream)> {
    model.hedges().then(|| {
        (
            generated!(let mut __race = ::core::pin::pin!(__retry::Race::new());),
            generated!(if __call.is_beside() {
                continue;
            }),
        )
    })
}

/// Calls `on_retry`, unless the other attempt still runs.
pub(super) fn told(model: &Model, told: TokenStream) -> TokenStream {
    if !model.hedges() {
        return told;
    }
    generated! {
        if __call.is_beside() { __call.keep(__at) } else { #told }
    }
}
