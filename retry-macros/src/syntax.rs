pub(crate) fn parse(
    args: proc_macro2::TokenStream,
    _e: &mut crate::errors::Errors,
) -> Vec<syn::Meta> {
    use syn::parse::Parser;
    syn::punctuated::Punctuated::<syn::Meta, syn::Token![,]>::parse_terminated
        .parse2(args)
        .unwrap()
        .into_iter()
        .collect()
}
