//! Attributes that code beside an argument or a use of it has to repeat, such as its `cfg`.

use proc_macro2::TokenTree;
use quote::quote;
use syn::parse::Parser as _;
use syn::punctuated::Punctuated;
use syn::{Attribute, Meta, Path, Token};

use crate::tokens::is_punct;

/// Whether it is `cfg`. Code that names an argument needs the `cfg` of that argument.
pub(crate) fn is_cfg(path: &Path) -> bool {
    path.is_ident("cfg")
}

/// The attributes of which `keep` is true, also those within a `cfg_attr`.
pub(crate) fn only<'a>(
    attributes: impl IntoIterator<Item = &'a Attribute>,
    keep: impl Fn(&Path) -> bool,
) -> Vec<Attribute> {
    let attributes = attributes.into_iter().filter_map(|attribute| {
        let mut attribute = attribute.clone();
        attribute.meta = only_within(attribute.meta, &keep)?;
        Some(attribute)
    });
    attributes.collect()
}

fn only_within(meta: Meta, keep: &dyn Fn(&Path) -> bool) -> Option<Meta> {
    let Meta::List(mut list) = meta else {
        return keep(meta.path()).then_some(meta);
    };
    if !list.path.is_ident("cfg_attr") {
        return keep(&list.path).then_some(Meta::List(list));
    }
    // `cfg_attr(condition, attribute, …)`.
    let mut tokens = list.tokens.into_iter();
    let is_part = |token: &TokenTree| !is_punct(Some(token), ",");
    let condition: Vec<_> = tokens.by_ref().take_while(is_part).collect();
    let inner = Punctuated::<Meta, Token![,]>::parse_terminated
        .parse2(tokens.collect())
        .ok()?;
    let kept = inner.into_iter().filter_map(|meta| only_within(meta, keep));
    let kept: Vec<_> = kept.collect();
    list.tokens = quote!(#(#condition)*, #(#kept),*);
    (!kept.is_empty()).then_some(Meta::List(list))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_within_a_cfg_attr_are_chosen_one_by_one() {
        for (typed, expected) in [
            ("#[cfg(unix)]", "#[cfg(unix)]"),
            ("#[allow(unused)]", ""),
            ("#[doc = \"cfg\"]", ""),
            (
                "#[cfg_attr(unix, cfg(test))]",
                "#[cfg_attr(unix, cfg(test))]",
            ),
            (
                "#[cfg_attr(all(a, b), allow(unused), cfg(test), x::cfg)]",
                "#[cfg_attr(all(a, b), cfg(test))]",
            ),
            (
                "#[cfg_attr(true, cfg_attr(unix, inline, cfg(test)))]",
                "#[cfg_attr(true, cfg_attr(unix, cfg(test)))]",
            ),
            ("#[cfg_attr(unix, inline)] #[cfg(test)]", "#[cfg(test)]"),
            ("#[cfg_attr(unix)]", ""),
            ("#[cfg_attr]", ""),
        ] {
            let attributes = Attribute::parse_outer.parse_str(typed).unwrap();
            let kept = only(&attributes, is_cfg);
            let expected = Attribute::parse_outer.parse_str(expected).unwrap();
            let text = |attributes: &[Attribute]| quote!(#(#attributes)*).to_string();
            assert_eq!(text(&kept), text(&expected), "{typed}");
        }
    }
}
