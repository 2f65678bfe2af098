//! The settings of an annotated function as code: those of its site, and those that each call evaluates.

mod borrowed;

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned as _;
use syn::{Expr, Signature};

use crate::constant::{is_constant, is_letter};
use crate::future::{name_of, typed_arguments};
use crate::keys::Id as Key;
use crate::model::{Model, Spanned, Written};
use crate::operand::operand;
use crate::tokens::{self, generated, located};

/// The settings of an annotated function.
pub(crate) struct SettingsCode {
    /// The policy that is known at compile time: an expression of type `Policy`.
    pub(crate) policy: TokenStream,
    /// Whether a timer, `cancel` or `until` may cut an attempt. `None` if the policy decides it.
    pub(crate) limited: Option<bool>,
    /// The policy that each call evaluates, and its place.
    pub(crate) given: Option<(Span, TokenStream)>,
    /// What comes after `SiteSettings::new(…)`: `.with_idempotent(false).with_budget(Some(&PAYMENTS))`.
    pub(crate) site: TokenStream,
    /// Bindings of what a call borrows: `let delays = &self.delays;`.
    pub(crate) borrowed: TokenStream,
    /// The settings that each call evaluates, as setters of its `SiteSettings`. Empty for most functions.
    pub(crate) of_call: TokenStream,
}

/// Sorts the settings by when they are known.
///
/// ```text
/// Input:   attempts = 4, timeout = self.timeout, delays = &self.delays, budget = self.budget
/// Output:  policy    Policy::new()
///          borrowed  let delays = &&self.delays; let budget = &self.budget;
///          of_call   .with_policy(|policy| policy.with_timeout(self.timeout))
///                    .with_delays(delays.as_ref())
///                    .with_policy(|policy| policy.with_attempts(4))
///                    .with_budget(BudgetOf::budget(budget))
/// ```
pub(crate) fn settings(model: &Model, signature: &Signature) -> SettingsCode {
    let generics = &signature.generics;
    let arguments = typed_arguments(signature).filter_map(name_of).cloned();
    let types = generics.type_params().map(|it| it.ident.clone());
    let constants = generics.const_params().map(|it| it.ident.clone());
    let mut sorted = Sorted {
        parameters: types.chain(constants).chain(arguments).collect(),
        ..Sorted::default()
    };
    sorted.delays(model.delays.as_ref());
    sorted.policy(model);
    let policy = model.policy.as_ref();
    let given = policy.filter(|policy| !sorted.is_constant(policy));
    let limits = [Key::Timeout, Key::Deadline].map(|key| model.length(key));
    let has_limit =
        limits.iter().any(Option::is_some) || model.cancels().is_some() || model.until.is_some();
    let limited = match (has_limit, &model.policy) {
        (true, _) => Some(true),
        (false, None) => Some(false),
        (false, Some(_)) => None,
    };
    let (budget, budget_of_call) = sorted.budget(model.budget.as_ref());
    let (idempotent, idempotent_of_call) = borrowed::idempotent(model.idempotent.as_ref());
    let sensitive = model.sensitive.then(|| generated!(.with_sensitive(true)));
    let hears = model.on_retry.is_some() || model.on_end.is_some();
    let listener = hears.then(|| generated!(.with_listener()));
    let (dynamic, borrowed) = (in_order(&sorted.dynamic), in_order(&sorted.borrowed));
    let (constant, delays) = (sorted.constant, sorted.delays);
    let changed = |setters: &TokenStream| {
        (!setters.is_empty()).then(|| generated!(.with_policy(|__policy| __policy #setters)))
    };
    let new = generated!(__retry::Policy::new());
    let (policy, changed_policy) = match (given, &model.policy) {
        // Only the call can evaluate this policy. All other settings are then set on it.
        (Some(_), _) => (new, changed(&quote!(#constant #dynamic))),
        (None, Some(path)) => {
            let policy = operand(path);
            // This span puts "is a `Preset`" on the path.
            let policy = quote_spanned!(located(path.span())=> __retry::constant(&#policy));
            (
                quote!(__retry::Policy::copied(#policy) #constant),
                changed(&dynamic),
            )
        }
        (None, None) => (quote!(#new #constant), changed(&dynamic)),
    };
    let last = changed(&sorted.last);
    SettingsCode {
        policy,
        limited,
        given: given.map(|expr| (located(expr.span()), operand(expr))),
        site: quote!(#idempotent #sensitive #listener #budget),
        borrowed,
        of_call: quote!(#changed_policy #delays #last #budget_of_call #idempotent_of_call),
    }
}

#[derive(Default)]
struct Sorted {
    /// The arguments of the function, and what it is generic over. No item within the function can name them.
    parameters: Vec<Ident>,
    /// Setters of the policy, by when they are called. Calls evaluate expressions in the order of the source.
    constant: TokenStream,
    dynamic: Vec<(usize, TokenStream)>,
    /// Setters that come after `delays`, because delays that the call evaluates set the attempts and the jitter.
    last: TokenStream,
    /// Sets the delays that the call evaluates.
    delays: Option<TokenStream>,
    borrowed: Vec<(usize, TokenStream)>,
}

impl Sorted {
    fn policy(&mut self, model: &Model) {
        self.add(Key::Attempts, model.attempts.as_ref(), |count| {
            Some(Literal::u32_unsuffixed((*count)?).to_token_stream())
        });
        for key in Key::ALL {
            self.add(*key, model.length(*key), |length| Some(duration(length)));
        }
        self.room_for_delays(model);
        self.add(Key::Factor, model.factor.as_ref(), |factor| {
            Some(factor.to_token_stream())
        });
        self.add(Key::Backoff, model.backoff.as_ref(), |backoff| {
            Some(generated!(__retry::Backoff::#backoff))
        });
        self.add(Key::Jitter, model.jitter.as_ref(), |jitter| {
            Some(generated!(__retry::Jitter::#jitter))
        });
        if model.silent {
            self.constant.extend(generated!(.with_silent(true)));
        }
        // `nested` takes no expression.
        if let Some(nested) = model
            .nested
            .as_ref()
            .and_then(|nested| nested.value.fixed())
        {
            let setter = generated!(.with_nested(__retry::Nested::#nested));
            self.constant.extend(setter);
        }
    }

    /// Lets the default of `max_delay` cut no delay that an expression gives, because no error could say that it does.
    fn room_for_delays(&mut self, model: &Model) {
        let exprs: Vec<_> = [Key::Base, Key::ThrottledBase, Key::MinDelay]
            .into_iter()
            .filter_map(|key| model.length(key)?.value.expr())
            .collect();
        if exprs.is_empty() || model.policy.is_some() || model.length(Key::MaxDelay).is_some() {
            return;
        }
        let setter = generated!(.with_room_for_delays());
        if exprs.iter().all(|expr| self.is_constant(expr)) {
            self.constant.extend(setter);
        } else {
            put(&mut self.dynamic, usize::MAX, setter);
        }
    }

    /// Adds one setting. `fixed` gives what the setter takes for a literal, or `None` for "no limit".
    fn add<T>(
        &mut self,
        key: Key,
        setting: Option<&Spanned<Written<T>>>,
        fixed: impl Fn(&T) -> Option<TokenStream>,
    ) {
        let Some(setting) = setting else { return };
        let name = key.key();
        let (constant, code) = match &setting.value {
            Written::Fixed(value) => {
                let value = fixed(value);
                let limit = if value.is_none() { "unlimited_" } else { "" };
                let setter = Ident::new(&format!("with_{limit}{name}"), Span::mixed_site());
                (true, generated!(.#setter(#value)))
            }
            Written::Expr(expr) => {
                let may_be_generic = key == Key::Attempts && is_letter(expr);
                let constant = self.is_constant(expr) && !may_be_generic;
                // This span puts rustc's "arguments to this method are incorrect" on the value.
                let setter = Ident::new(&format!("with_{name}"), located(expr.span()));
                (constant, generated!(.#setter(#expr)))
            }
        };
        if self.delays.is_some() && matches!(key, Key::Attempts | Key::Jitter) {
            self.last.extend(code);
        } else if constant {
            self.constant.extend(code);
        } else {
            put(&mut self.dynamic, setting.position, code);
        }
    }

    /// Whether a setting that is no number is known at compile time. `N` may be a number that the `impl` is generic over, but
    /// nothing else.
    fn is_constant(&self, expr: &Expr) -> bool {
        (is_constant(expr) || is_letter(expr)) && !self.names_a_parameter(expr)
    }

    fn names_a_parameter(&self, expr: &Expr) -> bool {
        tokens::any_word(expr, &|word| self.parameters.contains(word))
    }
}

/// Puts the code of a setting where its place in the source is.
fn put(settings: &mut Vec<(usize, TokenStream)>, position: usize, code: TokenStream) {
    let at = settings.partition_point(|(other, _)| *other <= position);
    settings.insert(at, (position, code));
}

fn in_order(settings: &[(usize, TokenStream)]) -> TokenStream {
    let code = settings.iter().map(|(_, code)| code);
    quote!(#(#code)*)
}

fn duration(duration: &std::time::Duration) -> TokenStream {
    let (seconds, nanos) = (duration.as_secs(), duration.subsec_nanos());
    let whole = Literal::u64_unsuffixed;
    match nanos {
        0 => {
            let seconds = whole(seconds);
            generated!(__retry::Duration::from_secs(#seconds))
        }
        _ if nanos % 1_000_000 == 0 => {
            let millis = whole(seconds * 1000 + u64::from(nanos / 1_000_000));
            generated!(__retry::Duration::from_millis(#millis))
        }
        _ => generated!(__retry::Duration::new(#seconds, #nanos)),
    }
}
