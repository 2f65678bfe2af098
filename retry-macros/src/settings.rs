//! The policy of an annotated function as code.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::spanned::Spanned as _;
use syn::{Expr, GenericParam, Generics, Path};

use crate::item;
use crate::model::{Attempts, Factor, Length, Model, Word};
use crate::tokens;

/// The policy of an annotated function.
pub(crate) struct Settings {
    /// What is known at compile time: an expression of type `Policy`.
    pub(crate) constant: TokenStream,
    /// What each call works out from `policy`, `policy.with_timeout(self.timeout)`; `None` for most.
    pub(crate) dynamic: Option<TokenStream>,
    /// The name of the policy in `dynamic`.
    pub(crate) policy: syn::Ident,
    /// Whether a timer may cut an attempt: a constant expression of type `bool`, or `None` where the
    /// policy says it.
    pub(crate) limited: Option<bool>,
}

/// Sorts the settings by when they are known.
pub(crate) fn settings(model: &Model, generics: &Generics) -> Settings {
    let plumbing = Span::mixed_site();
    let mut sorted = Sorted {
        generics,
        constant: TokenStream::new(),
        dynamic: TokenStream::new(),
    };
    let policy = quote_spanned!(plumbing=> __retry::Policy);
    let dynamic_policy = model.policy.as_ref().filter(|path| !is_constant_path(path));
    let base = match (&model.policy, dynamic_policy) {
        (Some(path), None) => path.to_token_stream(),
        _ => quote_spanned!(plumbing=> #policy::new()),
    };
    match model.attempts.as_ref().map(|attempts| &attempts.value) {
        Some(Attempts::Count(count)) => {
            sorted.constant(quote_spanned!(plumbing=> .with_attempts(#count)));
        }
        Some(Attempts::Unlimited) => {
            sorted.constant(quote_spanned!(plumbing=> .with_unlimited_attempts()));
        }
        Some(Attempts::Expr(expr)) => sorted.expression("with_attempts", expr),
        None => {}
    }
    let lengths = [
        ("with_timeout", &model.timeout),
        ("with_deadline", &model.deadline),
        ("with_base", &model.base),
        ("with_max_delay", &model.max_delay),
    ];
    for (setter, length) in lengths {
        match length.as_ref().map(|length| &length.value) {
            Some(Length::Fixed(duration)) => {
                let (seconds, nanos) = (duration.as_secs(), duration.subsec_nanos());
                let setter = syn::Ident::new(setter, plumbing);
                sorted.constant(quote_spanned! {plumbing=>
                    .#setter(__retry::Duration::new(#seconds, #nanos))
                });
            }
            Some(Length::Expr(expr)) => sorted.expression(setter, expr),
            None => {}
        }
    }
    match model.factor.as_ref().map(|factor| &factor.value) {
        Some(Factor::Fixed(factor)) => {
            sorted.constant(quote_spanned!(plumbing=> .with_factor(#factor)));
        }
        Some(Factor::Expr(expr)) => sorted.expression("with_factor", expr),
        None => {}
    }
    for (setter, ty, word) in [
        ("with_backoff", "Backoff", &model.backoff),
        ("with_jitter", "Jitter", &model.jitter),
    ] {
        match word.as_ref().map(|word| &word.value) {
            Some(Word::Variant(variant)) => {
                let (setter, ty) = (
                    syn::Ident::new(setter, plumbing),
                    syn::Ident::new(ty, plumbing),
                );
                sorted.constant(quote_spanned!(plumbing=> .#setter(__retry::#ty::#variant)));
            }
            Some(Word::Expr(expr)) => sorted.expression(setter, expr),
            None => {}
        }
    }
    let has_limit = model.timeout.is_some() || model.deadline.is_some() || model.cancel.is_some();
    let Sorted {
        constant, dynamic, ..
    } = sorted;
    let name = syn::Ident::new("__retry_policy", plumbing);
    match dynamic_policy {
        // A policy that only the call can name: everything else is set on it then.
        Some(path) => Settings {
            constant: quote_spanned!(plumbing=> #policy::new()),
            dynamic: Some(quote_spanned!(plumbing=> { let _ = #name; #path #constant #dynamic })),
            policy: name,
            limited: Some(true),
        },
        None => Settings {
            constant: quote_spanned!(plumbing=> #base #constant),
            dynamic: (!dynamic.is_empty()).then(|| quote_spanned!(plumbing=> #name #dynamic)),
            policy: name,
            limited: match (has_limit, &model.policy) {
                (true, _) => Some(true),
                (false, None) => Some(false),
                (false, Some(_)) => None,
            },
        },
    }
}

struct Sorted<'a> {
    /// Those of the function, which no item within it can name.
    generics: &'a Generics,
    constant: TokenStream,
    dynamic: TokenStream,
}

impl Sorted<'_> {
    fn constant(&mut self, setting: TokenStream) {
        self.constant.extend(setting);
    }

    fn names_a_parameter(&self, expr: &Expr) -> bool {
        tokens::any_word(expr, |word| {
            let mut parameters = self.generics.params.iter();
            parameters.any(|parameter| match parameter {
                GenericParam::Type(ty) => ty.ident == *word,
                GenericParam::Const(value) => value.ident == *word,
                GenericParam::Lifetime(_) => false,
            })
        })
    }

    fn expression(&mut self, setter: &str, expr: &Expr) {
        // rustc's "arguments to this method are incorrect" belongs on the value.
        let at = Span::mixed_site().located_at(expr.span());
        let constant = is_constant(expr) && !self.names_a_parameter(expr);
        let setter = match setter {
            // What a constant must not be is refused when it is compiled; a call makes the best of it.
            "with_attempts" | "with_factor" if !constant => format!("{setter}_of_call"),
            setter => setter.to_owned(),
        };
        let setter = syn::Ident::new(&setter, at);
        let setting = quote_spanned!(Span::mixed_site()=> .#setter(#expr));
        if constant {
            self.constant.extend(setting);
        } else {
            self.dynamic.extend(setting);
        }
    }
}

/// Whether an expression can stand in a `const`, as far as its tokens show: literals, names in
/// capitals, variants, and the constructors of `Duration`.
///
/// When in doubt it is not: an expression that each call works out is right too, only slower.
fn is_constant(expr: &Expr) -> bool {
    match expr {
        Expr::Lit(_) => true,
        Expr::Path(path) => path.qself.is_none() && is_constant_path(&path.path),
        Expr::Group(group) => is_constant(&group.expr),
        Expr::Paren(paren) => is_constant(&paren.expr),
        // A dereference runs code: that of a `LazyLock`, say.
        Expr::Unary(unary) => !matches!(unary.op, syn::UnOp::Deref(_)) && is_constant(&unary.expr),
        Expr::Binary(binary) => is_arithmetic(&binary.left) && is_arithmetic(&binary.right),
        Expr::Call(call) => {
            const CONSTRUCTORS: [&str; 5] = [
                "from_secs",
                "from_millis",
                "from_micros",
                "from_nanos",
                "new",
            ];
            let Expr::Path(function) = &*call.func else {
                return false;
            };
            let mut segments = function.path.segments.iter().rev();
            matches!(
                (segments.next(), segments.next()),
                (Some(last), Some(ty)) if ty.ident == "Duration"
                    && CONSTRUCTORS.iter().any(|known| last.ident == known)
            ) && call.args.iter().all(is_constant)
        }
        _ => false,
    }
}

/// Arithmetic on numbers is constant; on durations it is not, and a name does not say which it is.
fn is_arithmetic(expr: &Expr) -> bool {
    matches!(expr, Expr::Lit(_)) || matches!(expr, Expr::Paren(paren) if is_arithmetic(&paren.expr))
}

/// Whether the last name of a path is that of a constant or a variant, and it does not go through
/// `Self` or `T`, which no item within a function can name.
pub(crate) fn is_constant_path(path: &Path) -> bool {
    let through_self = path.segments.first().is_some_and(|first| {
        let parameter = path.segments.len() > 1 && item::looks_generic(&first.ident);
        first.ident == "Self" || parameter
    });
    let generic = path
        .segments
        .iter()
        .any(|segment| !segment.arguments.is_none());
    let named = path.segments.last().is_some_and(|last| {
        let name = last.ident.to_string();
        let capitals = name.len() > 1
            && name
                .chars()
                .all(|c| c.is_uppercase() || c.is_ascii_digit() || c == '_');
        let variant = path.segments.len() > 1 && name.starts_with(char::is_uppercase);
        capitals || variant
    });
    named && !through_self && !generic
}
