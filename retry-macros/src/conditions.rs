//! Attributes that code beside an argument or a use of it has to repeat, such as its `cfg`.

use syn::Attribute;

use crate::tokens::has_word;

/// The attributes with one of these names, which blanks separate, also within a `cfg_attr`.
pub(crate) fn only(attributes: &[Attribute], names: &str) -> Vec<Attribute> {
    let is_kept = |attribute: &&Attribute| has_word(&attribute.meta, names);
    attributes.iter().filter(is_kept).cloned().collect()
}
