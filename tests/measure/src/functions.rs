//! The functions of a file that can be annotated.

use proc_macro2::Span;
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};
use syn::{Attribute, ReturnType, Signature, Type, Visibility};

/// An `async fn` that returns some `Result`.
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) file: String,
    pub(crate) name: String,
    /// Its first line, from 1.
    pub(crate) first: usize,
    pub(crate) last: usize,
    /// The column of the attribute, in characters from 0.
    column: usize,
}

/// Finds the functions of a file. A file that cannot be parsed has none.
pub(crate) fn of(file: &str, text: &str) -> Vec<Function> {
    let mut found = Found {
        file,
        functions: Vec::new(),
    };
    if let Ok(parsed) = syn::parse_file(text) {
        found.visit_file(&parsed);
    }
    found.functions
}

/// Writes the attribute before each function, on the same line, so that line numbers stay.
pub(crate) fn annotate<'a>(
    text: &str,
    functions: impl Iterator<Item = &'a Function>,
    attribute: &str,
) -> String {
    let mut lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
    for function in functions {
        if let Some(line) = lines.get_mut(function.first - 1) {
            let at = line.char_indices().nth(function.column);
            let at = at.map_or(line.len(), |(at, _)| at);
            line.insert_str(at, &format!("#[::reattempt::retry({attribute})] "));
        }
    }
    lines.join("\n")
}

struct Found<'a> {
    file: &'a str,
    functions: Vec<Function>,
}

impl Found<'_> {
    fn take(
        &mut self,
        attributes: &[Attribute],
        visibility: Option<&Visibility>,
        signature: &Signature,
        body: Span,
    ) {
        let fallible = matches!(&signature.output, ReturnType::Type(_, ty) if is_result(ty));
        if signature.asyncness.is_none() || !fallible || attributes.iter().any(is_special) {
            return;
        }
        let start = match visibility {
            None | Some(Visibility::Inherited) => signature.span().start(),
            Some(visibility) => visibility.span().start(),
        };
        self.functions.push(Function {
            file: self.file.to_owned(),
            name: signature.ident.to_string(),
            first: start.line,
            last: body.end().line,
            column: start.column,
        });
    }
}

impl<'ast> Visit<'ast> for Found<'_> {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.take(&item.attrs, Some(&item.vis), &item.sig, item.block.span());
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.take(&item.attrs, Some(&item.vis), &item.sig, item.block.span());
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        if let Some(body) = &item.default {
            self.take(&item.attrs, None, &item.sig, body.span());
        }
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !item.attrs.iter().any(is_special) {
            visit::visit_item_mod(self, item);
        }
    }
}

fn is_result(ty: &Type) -> bool {
    matches!(ty, Type::Path(path) if path.path.segments.last().is_some_and(|last| {
        last.ident.to_string().ends_with("Result")
    }))
}

/// Whether an attribute excludes a function: `#[test]`, `#[tokio::main]`, `#[cfg(test)]`.
fn is_special(attribute: &Attribute) -> bool {
    let is_test = |path: &syn::Path| {
        let last = path.segments.last();
        last.is_some_and(|last| last.ident == "test" || last.ident == "main")
    };
    is_test(attribute.path())
        || attribute.path().is_ident("cfg")
            && attribute
                .parse_args::<syn::Path>()
                .is_ok_and(|path| is_test(&path))
}
