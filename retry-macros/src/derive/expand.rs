//! Writes the code of the implementation from the model. It cannot fail.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{format_ident, quote, quote_spanned};
use syn::Type;
use syn::spanned::Spanned as _;

use super::lower::{Case, ErrorField, ErrorType, HintSource, VerdictSource};
use crate::tokens::{self, located};

// Input:
//     enum Error {
//         #[retryable(transient)] Closed,
//         #[retryable(throttled, after = "wait")] Busy { wait: Duration },
//         #[retryable(forward)] Io(io::Error),
//     }
// Output:
//     impl ::reattempt::Retryable for Error {
//         fn verdict(&self) -> ::reattempt::Verdict {
//             match self {
//                 Self::Closed { .. } => ::reattempt::Verdict::Transient,
//                 Self::Busy { .. } => ::reattempt::Verdict::Throttled,
//                 Self::Io { 0: field0, .. } => <io::Error as ::reattempt::__private::Forwards>::verdict(field0),
//             }
//         }
//         fn hint(&self) -> Option<Duration> {
//             match self {
//                 Self::Closed { .. } => None,
//                 Self::Busy { wait: field0, .. } => ::reattempt::__private::hint_in(field0),
//                 Self::Io { 0: field0, .. } => <io::Error as ::reattempt::__private::Forwards>::hint(field0),
//             }
//         }
//         // The same for `timed_out` and `may_have_run`, if a case forwards.
//     }
pub(crate) fn implementation(model: &ErrorType<'_>) -> TokenStream {
    let root = &model.root;
    let verdict = each_case(model, |case| verdict(case, root));
    // If no case has a hint, or forwards to a client, the default method of the trait is right.
    let mut hints = model.cases.iter().map(|case| &case.hint);
    let hinted = hints.any(|hint| !matches!(hint, HintSource::None));
    let hint = hinted.then(|| {
        let arms = each_case(model, |case| hint(case, root));
        quote! {
            fn hint(&self) -> ::core::option::Option<::core::time::Duration> {
                #arms
            }
        }
    });
    let mut verdicts = model.cases.iter().map(|case| &case.verdict);
    let forwards = verdicts.any(|verdict| matches!(verdict, VerdictSource::Forward(_)));
    let methods = [("timed_out", false), ("may_have_run", true)];
    let forwarded = methods
        .iter()
        .filter(|_| forwards)
        .map(|(method, by_verdict)| {
            let arms = each_case(model, |case| forwarded(case, root, method, *by_verdict));
            let method = Ident::new(method, Span::mixed_site());
            quote! {
                fn #method(&self) -> ::core::primitive::bool {
                    #arms
                }
            }
        });
    around(
        model,
        &quote! {
            fn verdict(&self) -> #root::Verdict {
                #verdict
            }
            #hint
            #(#forwarded)*
        },
    )
}

/// The implementation that stands beside errors. Its verdict is always `Unknown`.
pub(crate) fn stand_in(model: &ErrorType<'_>) -> TokenStream {
    let root = &model.root;
    around(
        model,
        &quote! {
            fn verdict(&self) -> #root::Verdict {
                #root::Verdict::Unknown
            }
        },
    )
}

fn around(model: &ErrorType<'_>, body: &TokenStream) -> TokenStream {
    let ErrorType { root, ident, .. } = model;
    let mut generics = model.generics.clone();
    let forwarded = model.cases.iter().filter_map(|case| match &case.verdict {
        VerdictSource::Forward(field) => Some(field.ty),
        VerdictSource::Word(_) | VerdictSource::With(..) => None,
    });
    for ty in forwarded.filter(|ty| mentions_parameter(ty, model) && !mentions_itself(ty, model)) {
        let clauses = &mut generics.make_where_clause().predicates;
        clauses.push(syn::parse_quote!(#ty: #root::Retryable));
    }
    let (parameters, arguments, clause) = generics.split_for_impl();
    quote! {
        #[automatically_derived]
        #[allow(deprecated, reason = "the implementation has to name deprecated variants")]
        impl #parameters #root::Retryable for #ident #arguments #clause {
            #body
        }
    }
}

fn each_case(model: &ErrorType<'_>, arm: impl Fn(&Case<'_>) -> TokenStream) -> TokenStream {
    if model.cases.is_empty() {
        return quote!(match *self {});
    }
    let arms = model.cases.iter().map(arm);
    quote!(match self { #(#arms)* })
}

fn verdict(case: &Case<'_>, root: &TokenStream) -> TokenStream {
    let (bound, value) = match &case.verdict {
        VerdictSource::Word(word) => (vec![], quote!(#root::Verdict::#word)),
        VerdictSource::Forward(field) => (vec![field], ask(field, root, "verdict")),
        VerdictSource::With(path, None) => (vec![], quote_spanned!(path.span()=> #path(self))),
        VerdictSource::With(path, Some(fields)) => {
            // rustc reports an argument of the wrong type where the user named the function.
            let at = located(path.span());
            let arguments = fields.iter().map(|field| binding(field, at));
            let called = quote_spanned!(at=> #path(#(#arguments),*));
            (fields.iter().collect(), called)
        }
    };
    arm(case, &bound, &value)
}

fn hint(case: &Case<'_>, root: &TokenStream) -> TokenStream {
    let (bound, value) = match &case.hint {
        HintSource::None => (vec![], quote!(::core::option::Option::None)),
        HintSource::Forward(field) => (vec![field], ask(field, root, "hint")),
        HintSource::Field(field, named_at) => {
            // rustc reports a field of the wrong type where the user named the field.
            let argument = binding(field, located(*named_at));
            (vec![field], quote!(#root::__private::hint_in(#argument)))
        }
        HintSource::Method(path) => {
            let called = quote_spanned!(path.span()=> #path(self));
            (vec![], quote!(#root::__private::hint_in(&#called)))
        }
    };
    arm(case, &bound, &value)
}

/// What only a field that gives the verdict knows. Else it follows from the verdict, or is false.
fn forwarded(case: &Case<'_>, root: &TokenStream, method: &str, by_verdict: bool) -> TokenStream {
    if let VerdictSource::Forward(field) = &case.verdict {
        return arm(case, &[field], &ask(field, root, method));
    }
    let verdict = quote!(#root::Retryable::verdict(self));
    let otherwise = if by_verdict {
        quote!(#root::Verdict::may_have_run(#verdict))
    } else {
        quote!(false)
    };
    arm(case, &[], &otherwise)
}

/// `<Type as Forwards>::method(field)`. rustc reports a type without a verdict at the field.
fn ask(field: &ErrorField<'_>, root: &TokenStream, method: &str) -> TokenStream {
    let method = Ident::new(method, Span::mixed_site());
    let ty = match field.ty {
        // A bound may end in `+`, and `+ as` is no Rust.
        Type::TraitObject(ty) => quote!((#ty)),
        ty => quote!(#ty),
    };
    let binding = binding(field, Span::mixed_site());
    quote!(<#ty as #root::__private::Forwards>::#method(#binding))
}

fn arm(case: &Case<'_>, bound: &[&ErrorField<'_>], value: &TokenStream) -> TokenStream {
    let variant = case.variant.map(|variant| quote!(::#variant));
    let bindings = bound.iter().map(|field| {
        let (member, binding) = (&field.member, binding(field, Span::mixed_site()));
        quote!(#member: #binding,)
    });
    quote!(Self #variant { #(#bindings)* .. } => #value,)
}

fn binding(field: &ErrorField<'_>, at: Span) -> Ident {
    format_ident!("__retry_field{}", field.index, span = at)
}

/// Whether a type mentions a type parameter, at any depth. Only such a type needs a bound.
fn mentions_parameter(ty: &Type, model: &ErrorType<'_>) -> bool {
    tokens::any_word(ty, &|word| {
        let mut parameters = model.generics.type_params();
        parameters.any(|parameter| parameter.ident == *word)
    })
}

/// Whether a type mentions the error type itself, by its name without a path. A bound on such a type would hold only if it
/// held already, so that the error would never have a verdict.
fn mentions_itself(ty: &Type, model: &ErrorType<'_>) -> bool {
    let tokens: Vec<_> = tokens::deep(ty).collect();
    tokens.iter().enumerate().any(|(at, token)| {
        let is_name = matches!(token, TokenTree::Ident(word) if word == model.ident);
        is_name && !tokens::follows_path(&tokens, at)
    })
}
