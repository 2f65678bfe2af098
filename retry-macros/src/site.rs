//! The site of an annotated function as code, and what each call evaluates.

use std::collections::BTreeMap;
use std::time::Duration;

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned as _;
use syn::{Expr, Signature};

use crate::constant::{is_constant, is_letter, is_static};
use crate::future::{name_of, typed_arguments};
use crate::keys::Id as Key;
use crate::model::{Model, Spanned, Written};
use crate::operand::operand;
use crate::tokens::{self, generated, located};

/// The settings of a site.
pub(crate) struct SiteCode {
    /// The name of the site, if the attribute says it.
    pub(crate) name: Option<TokenStream>,
    /// The policy of the site: an expression of type `Policy`.
    pub(crate) policy: TokenStream,
    /// A reference to what `policy` gives.
    pub(crate) given: Option<TokenStream>,
    /// What changes the policy, if that is known at compile time or is a preset: `const fn __retry_change…`.
    pub(crate) change: Option<TokenStream>,
    /// Whether a timer, `cancel` or `until` may cut an attempt. `None` if the policy decides it.
    pub(crate) limited: Option<bool>,
    /// What comes after `SiteSettings::new(…)`: `.with_idempotent(false).with_budget(Some(&PAYMENTS))`.
    pub(crate) setters: TokenStream,
    /// Bindings of what a call borrows: `let delays = &self.delays;`.
    pub(crate) borrowed: TokenStream,
    /// Whether each call evaluates settings, other than its policy. Most functions have none.
    pub(crate) evaluates: bool,
    /// What a call sets on the settings of its site: what it evaluates or, with a `policy`, all other settings.
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
pub(crate) fn site(model: &Model, signature: &Signature) -> SiteCode {
    let generics = &signature.generics;
    let arguments = typed_arguments(signature).filter_map(name_of).cloned();
    let types = generics.type_params().map(|it| it.ident.clone());
    let constants = generics.const_params().map(|it| it.ident.clone());
    let mut sorted = Sorted {
        parameters: types.chain(constants).chain(arguments).collect(),
        ..Sorted::default()
    };
    sorted.delays(model.delays.as_ref());
    if model.owned_delays.is_some() && model.attempts.is_none() {
        // The end of the delays ends the call.
        sorted
            .constant
            .extend(generated!(.with_attempts(4_294_967_294)));
    }
    sorted.policy(model);
    let policy = model.policy.as_ref();
    let is_constant = policy.is_some_and(|expr| sorted.is_constant(expr));
    let given = policy.map(|expr| {
        let policy = operand(expr);
        // This span puts "expected a `Policy`" on the expression.
        quote_spanned!(located(expr.span())=> __retry::policy(&#policy))
    });
    let limits = [Key::Timeout, Key::Deadline].map(|key| model.length(key));
    let has_limit =
        limits.iter().any(Option::is_some) || model.cancels().is_some() || model.until.is_some();
    let limited = (has_limit || model.policy.is_none()).then_some(has_limit);
    let (name, name_of_call) = sorted.known(Key::Name, model.name.as_ref());
    let (budget, budget_of_call) = sorted.budget(model.budget.as_ref());
    let (idempotent, idempotent_of_call) = sorted.known(Key::Idempotent, model.idempotent.as_ref());
    let idempotent = idempotent.map(|idempotent| generated!(.with_idempotent(#idempotent)));
    let sensitive = model.sensitive.then(|| generated!(.with_sensitive(true)));
    let hears = model.on_retry.is_some() || model.on_end.is_some();
    let listener = hears.then(|| generated!(.with_listener()));
    let dynamic: TokenStream = sorted.dynamic.into_values().collect();
    let (constant, delays) = (sorted.constant, sorted.delays);
    let changed = |setters: &TokenStream| {
        (!setters.is_empty()).then(|| generated!(.with_policy(|__policy| __policy #setters)))
    };
    let last = changed(&sorted.last);
    let of_call = quote!(#name_of_call #delays #last #budget_of_call #idempotent_of_call);
    let evaluates = !dynamic.is_empty() || !of_call.is_empty();
    let new = generated!(__retry::Policy::new());
    let (policy, change, changed_policy) = match &given {
        None => (quote!(#new #constant), None, changed(&dynamic)),
        Some(given) if is_constant => (
            generated!(__retry_change(#given.of_site())),
            // A function, so that rustc checks these settings once.
            Some(generated! {
                const fn __retry_change(__policy: __retry::Policy) -> __retry::Policy {
                    __policy #constant
                }
            }),
            Some(generated!(.with_policy(|__policy| __retry_change(__policy) #dynamic))),
        ),
        // Only the call can evaluate this policy. All other settings are then set on it.
        Some(_) => (new, None, changed(&quote!(#constant #dynamic))),
    };
    SiteCode {
        name,
        policy,
        given,
        change,
        limited,
        setters: quote!(#idempotent #sensitive #listener #budget),
        borrowed: sorted.borrowed.into_values().collect(),
        evaluates,
        of_call: quote!(#changed_policy #of_call),
    }
}

/// The setter or the value of the site, and the setter of a call.
type Setters = (Option<TokenStream>, Option<TokenStream>);

#[derive(Default)]
struct Sorted {
    /// The arguments of the function, and what it is generic over. No item within the function can name them.
    parameters: Vec<Ident>,
    /// Setters of the policy, by when they are called. Calls evaluate expressions in the order of the source.
    constant: TokenStream,
    dynamic: BTreeMap<usize, TokenStream>,
    /// Setters that come after `delays`, because delays that the call evaluates set the attempts and the jitter.
    last: TokenStream,
    /// Sets the delays that the call evaluates.
    delays: Option<TokenStream>,
    borrowed: BTreeMap<usize, TokenStream>,
}

impl Sorted {
    fn policy(&mut self, model: &Model) {
        let variant = |of, word: &TokenStream| {
            let of = Ident::new(of, Span::mixed_site());
            Some(generated!(__retry::#of::#word))
        };
        let unsuffixed = |count: &Option<u32>| count.map(Literal::u32_unsuffixed);
        self.add(Key::Attempts, &model.attempts, unsuffixed);
        for key in Key::ALL {
            self.add(*key, model.length(*key), |length| Some(duration(length)));
        }
        self.room_for_delays(model);
        self.add(Key::Factor, &model.factor, |factor| Some(*factor));
        self.add(Key::Backoff, &model.backoff, |word| {
            variant("Backoff", word)
        });
        self.add(Key::Jitter, &model.jitter, |word| variant("Jitter", word));
        if model.silent {
            self.constant.extend(generated!(.with_silent(true)));
        }
        self.add(Key::Nested, &model.nested, |word| variant("Nested", word));
    }

    /// The value of a setting, if it is known at compile time, or else the setter of a call.
    fn known<T: ToTokens>(&self, key: Key, setting: Option<&Spanned<Written<T>>>) -> Setters {
        match setting.map(|setting| &setting.value) {
            None => (None, None),
            Some(Written::Fixed(value)) => (Some(value.to_token_stream()), None),
            // A `bool` may be one that the `impl` is generic over.
            Some(Written::Expr(expr)) if key == Key::Name && self.is_constant(expr) => {
                (Some(expr.to_token_stream()), None)
            }
            Some(Written::Expr(expr)) => {
                // This span puts rustc's "arguments to this method are incorrect" on the value.
                let setter = Ident::new(&format!("with_{}", key.key()), located(expr.span()));
                (None, Some(generated!(.#setter(#expr))))
            }
        }
    }

    fn delays(&mut self, delays: Option<&Spanned<Written<Vec<Written<Duration>>>>>) {
        let Some(delays) = delays else { return };
        let (constant, list) = match &delays.value {
            Written::Fixed(elements) => {
                let list = elements.iter().map(|element| match element {
                    Written::Fixed(length) => duration(length),
                    Written::Expr(expr) => expr.to_token_stream(),
                });
                let mut expressions = elements.iter().filter_map(Written::expr);
                let constant = expressions.all(|expr| self.is_constant(expr));
                (constant, generated!([#(#list),*]))
            }
            Written::Expr(expr) => (false, operand(expr)),
        };
        if constant {
            self.constant
                .extend(generated!(.with_delays(const { &#list })));
            return;
        }
        let name = self.borrow("__delays", delays.span, delays.position, &list);
        let slice = quote_spanned!(name.span()=> __retry::DelaysOf::delays(#name));
        self.delays = Some(generated!(.with_delays(#slice)));
    }

    fn budget(&mut self, budget: Option<&Spanned<Written<()>>>) -> Setters {
        let Some(budget) = budget else {
            return (None, None);
        };
        match &budget.value {
            Written::Fixed(()) => (Some(generated!(.with_budget(__retry::None))), None),
            Written::Expr(expr)
                if (is_static(expr) || is_letter(expr)) && !self.names_a_parameter(expr) =>
            {
                (Some(generated!(.with_budget(__retry::Some(&#expr)))), None)
            }
            Written::Expr(expr) => {
                let name = self.borrow("__budget", expr.span(), budget.position, &operand(expr));
                let of = quote_spanned!(name.span()=> __retry::BudgetOf::budget(#name));
                (None, Some(generated!(.with_budget(#of))))
            }
        }
    }

    /// Binds a reference to a value that the call borrows. Returns its name.
    fn borrow(&mut self, name: &str, at: Span, position: usize, value: &TokenStream) -> Ident {
        let name = Ident::new(name, located(at));
        let binding = generated!(let #name = &#value;);
        self.borrowed.insert(position, binding);
        name
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
            self.dynamic.insert(usize::MAX, setter);
        }
    }

    /// Adds one setting. `fixed` gives what the setter takes for a literal, or `None` for "no limit".
    fn add<'s, T: 's, C: ToTokens>(
        &mut self,
        key: Key,
        setting: impl Into<Option<&'s Spanned<Written<T>>>>,
        fixed: impl Fn(&T) -> Option<C>,
    ) {
        let Some(setting) = setting.into() else {
            return;
        };
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
                let at = located(expr.span());
                let typed = !constant || is_static(expr);
                if typed && matches!(key, Key::Timeout | Key::Deadline) {
                    let setter = Ident::new(&format!("with_optional_{name}"), Span::mixed_site());
                    let limit = operand(expr);
                    let limit = quote_spanned!(at=> __retry::limit(&#limit).get());
                    (constant, generated!(.#setter(#limit)))
                } else {
                    let setter = Ident::new(&format!("with_{name}"), at);
                    (constant, generated!(.#setter(#expr)))
                }
            }
        };
        if self.delays.is_some() && matches!(key, Key::Attempts | Key::Jitter) {
            self.last.extend(code);
        } else if constant {
            self.constant.extend(code);
        } else {
            self.dynamic.insert(setting.position, code);
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

fn duration(duration: &Duration) -> TokenStream {
    let (seconds, nanos) = (duration.as_secs(), duration.subsec_nanos());
    let (unit, length) = match nanos {
        0 => ("from_secs", seconds.into()),
        _ if nanos % 1_000_000 == 0 => ("from_millis", duration.as_millis()),
        _ => return generated!(__retry::Duration::new(#seconds, #nanos)),
    };
    let unit = Ident::new(unit, Span::mixed_site());
    let length = Literal::u128_unsuffixed(length);
    generated!(__retry::Duration::#unit(#length))
}
