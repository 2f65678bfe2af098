//! The attribute on an item, and the derive.

use proc_macro2::TokenStream;

/// The text has the arguments of the attribute, an empty line, and the item.
pub(crate) fn attribute(text: &str) {
    const ITEM: &str =
        "async fn found(&mut self, a: String) -> io::Result<u8> { send(a)?; Ok(self.x) }";
    let (args, item) = text.split_once("\n\n").unwrap_or((text, ITEM));
    let (Ok(args), Ok(item)) = (args.parse(), item.parse::<TokenStream>()) else {
        return;
    };
    let is_function = syn::parse2::<syn::ItemFn>(item.clone()).is_ok();
    let output = expansion::retry(args, item.clone());
    let shown = output.to_string();
    // A mistake keeps the item as it was typed.
    if shown.contains(":: core :: compile_error !") {
        assert!(shown.contains(&item.to_string()), "lost the item: {shown}");
    }
    if is_function {
        let parsed = syn::parse2::<syn::File>(output);
        assert!(parsed.is_ok(), "{:?}: {shown}", parsed.err());
    }
}

/// The text of a duration, for the attribute and for the settings.
pub(crate) fn duration(text: &str) {
    attribute(&format!("timeout = {text:?}"));
    crate::settings::json(&serde_json::json!({ "timeout": text }).to_string());
}

pub(crate) fn derive(text: &str) {
    let Ok(input) = text.parse() else {
        return;
    };
    let output = expansion::retryable(input);
    let shown = output.to_string();
    let parsed = syn::parse2::<syn::File>(output);
    assert!(parsed.is_ok(), "{:?}: {shown}", parsed.err());
}
