pub(crate) mod item;
#[derive(Default)]
pub(crate) struct Errors(Vec<syn::Error>);
impl Errors {
    pub(crate) fn new() -> Self {
        Self::default()
    }
    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }
    pub(crate) fn push(&mut self, span: proc_macro2::Span, m: impl std::fmt::Display) {
        self.0.push(syn::Error::new(span, m))
    }
    pub(crate) fn finish(self) -> Option<proc_macro2::TokenStream> {
        if self.0.is_empty() {
            None
        } else {
            Some(self.0.iter().map(|e| e.to_compile_error()).collect())
        }
    }
}
