//! The label of a method: `shop::App::price`.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Puts the name of a type between module and function: `shop::price` of a `shop::App<T>` is
/// `shop::App::price`. Returns `function` alone if the type has no name of its own (`&T`, `dyn Shop`).
///
/// Each label is made once and never dropped. There is one label for each annotated method and type.
pub(super) fn label(function: &'static str, type_name: &'static str) -> &'static str {
    type Labels = HashMap<(&'static str, &'static str), &'static str>;
    static LABELS: Mutex<Option<Labels>> = Mutex::new(None);
    let mut labels = LABELS.lock().unwrap_or_else(PoisonError::into_inner);
    labels
        .get_or_insert_default()
        .entry((function, type_name))
        .or_insert_with(|| match joined(function, type_name) {
            Some(label) => label.leak(),
            None => function,
        })
}

fn joined(function: &str, type_name: &str) -> Option<String> {
    let path = type_name.split('<').next()?;
    let ty = path.rsplit("::").next()?;
    let named = ty.starts_with(|first: char| first == '_' || first.is_alphabetic());
    if !named || path.contains([' ', '&', '(', '[', '*']) {
        return None;
    }
    match function.rsplit_once("::") {
        Some((module, function)) => Some(format!("{module}::{ty}::{function}")),
        None => Some(format!("{ty}::{function}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_stands_between_module_and_function() {
        for (ty, expected) in [
            ("shop::App", "shop::web::App::price"),
            ("App", "shop::web::App::price"),
            ("shop::_App", "shop::web::_App::price"),
            (
                "shop::App<core::option::Option<u8>>",
                "shop::web::App::price",
            ),
            ("alloc::vec::Vec<u8>", "shop::web::Vec::price"),
            ("&shop::App", "shop::web::price"),
            ("dyn shop::Shop", "shop::web::price"),
            ("(u8, shop::App)", "shop::web::price"),
            ("[shop::App]", "shop::web::price"),
            ("<shop::App as shop::Shop>::Item", "shop::web::price"),
        ] {
            assert_eq!(label("shop::web::price", ty), expected, "{ty}");
        }
        assert_eq!(joined("price", "App").as_deref(), Some("App::price"));
    }

    #[test]
    fn a_label_is_made_once() {
        let first = label("once::f", "once::T");
        assert!(std::ptr::eq(first, label("once::f", "once::T")));
    }
}
