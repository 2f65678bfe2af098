//! How each attempt gets one name that an argument binds.

use proc_macro2::{Ident, Span, TokenStream};
use quote::ToTokens as _;
use syn::{Attribute, Type};

use super::bounds::{converts_to, in_option, seen_as};
use super::pattern::Known;
use super::types::{
    Indirection, Lending, gives_itself_up, indirection, is_called_mutably, is_called_once,
    is_concrete, is_counted, is_made_anew, is_self_by_value, is_static, lending,
};
use crate::item::Function;
use crate::model::Model;
use crate::tokens::located;
use crate::usage::{self, Usage, Uses};

/// A name that an argument binds.
#[expect(
    clippy::struct_excessive_bools,
    reason = "the flags are independent of each other"
)]
pub(super) struct Binding<'a> {
    pub(super) ident: Ident,
    /// The span of its `mut`.
    pub(super) mutable: Option<Span>,
    pub(super) known: Known<'a>,
    pub(super) is_self: bool,
    pub(super) attributes: Vec<Attribute>,
    pub(super) uses: Uses,
    /// Whether it is an `Option` that a method uses up.
    pub(super) used_up_option: bool,
    /// Where the result borrows from what an attempt changes through a `&mut`.
    pub(super) returned: Option<Span>,
    /// Whether a reference can replace the value.
    pub(super) lending: Lending,
    /// The method that clones it or refuses it, and where rustc reports that.
    pub(super) own: Ident,
    /// The `X` of an argument that the body can only convert, `impl Into<X>`.
    pub(super) converts_to: Option<Type>,
    /// The `U` of an argument that the body can only see as a `&U`: `impl AsRef<U>`.
    pub(super) seen_as: Option<Type>,
    /// Whether the call may hold a reference to it while attempts run.
    pub(super) held: bool,
    /// Whether attempts are closures. These need no unique capture, because nothing crosses threads.
    pub(super) blocking: bool,
    /// Whether two attempts may run side by side. Then none captures anything uniquely, and each owns its own values.
    pub(super) hedged: bool,
}

impl<'a> Binding<'a> {
    /// Reads how `body` uses a name. The binding has no `mut` and no attributes.
    pub(super) fn of(
        ident: &Ident,
        known: Known<'a>,
        body: &TokenStream,
        function: &Function,
        model: &Model,
    ) -> Self {
        let text = ident.to_string();
        let uses = usage::read(&text, body);
        let is_mutable = known.ty().and_then(indirection) == Some(Indirection::Mutable);
        let may_be_returned = is_mutable && function.output_may_borrow_from(known.ty(), false);
        Self {
            ident: ident.clone(),
            mutable: None,
            known,
            is_self: false,
            attributes: Vec::new(),
            used_up_option: uses.as_option.and(known.ty()).and_then(in_option).is_some(),
            returned: uses.result_borrows().filter(|_| may_be_returned),
            uses,
            lending: known.ty().map_or(Lending::Fits, |ty| lending(ty, function)),
            own: {
                let ends = |ty| is_made_anew(ty, function) || is_called_once(ty, function);
                let made_anew = known.ty().is_some_and(ends);
                let own = if made_anew { "own_made" } else { "own" };
                Ident::new(own, located(ident.span()))
            },
            converts_to: known.ty().and_then(|ty| converts_to(ty, function)).cloned(),
            seen_as: known.ty().and_then(|ty| seen_as(ty, function)).cloned(),
            held: is_held(&text, model),
            blocking: model.blocking.is_some(),
            hedged: model.hedges(),
        }
    }
}

/// How each attempt gets one binding.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Treatment {
    Leave,
    /// Captured by unique reference.
    Borrow,
    /// `&mut T`: captured by reborrow.
    Reborrow {
        rebind: bool,
    },
    /// `Option<&mut T>`: reborrowed in the attempt.
    ReborrowOption,
    /// `Pin<&mut T>`: reborrowed in the attempt.
    ReborrowPin,
    /// `F: FnMut()`: lent by `&mut` in the attempt.
    Lend,
    /// Cloned if its type is `Clone`, else lent.
    Choose,
    /// Cloned if its type is `Clone`, else lent if a reference meets the bounds of its type.
    ChooseByBound,
    /// Cloned if its type is `Clone`, else lent by `&mut`, so that the body can copy or reborrow its fields.
    ChooseParts,
    /// Converted before the first attempt if the target is `Clone`, then cloned.
    Convert,
    /// Cloned.
    Clone,
}

impl Treatment {
    /// Whether each attempt has its own binding. The `mut` of the argument then belongs to that binding.
    pub(super) fn rebinds(self) -> bool {
        !matches!(
            self,
            Self::Leave | Self::Borrow | Self::Reborrow { rebind: false }
        )
    }

    /// Whether each attempt gets a clone, unless its type is not `Clone` and a reference will do.
    pub(super) fn clones(self) -> bool {
        matches!(
            self,
            Self::Choose | Self::ChooseByBound | Self::ChooseParts | Self::Convert | Self::Clone
        )
    }

    /// Why only one attempt at a time can have it, as a way to change that.
    pub(super) fn of_one_attempt(self) -> Option<&'static str> {
        match self {
            Self::Reborrow { .. } | Self::ReborrowOption | Self::ReborrowPin => {
                Some("take `&T`, and a lock or an atomic for what changes")
            }
            Self::Lend => Some("take `F: Fn()`"),
            _ => None,
        }
    }

    /// Whether the binding outside of the attempts must be `mut`, even if the user wrote no `mut`.
    pub(super) fn needs_mut_outside(self) -> bool {
        matches!(
            self,
            Self::Borrow
                | Self::ReborrowOption
                | Self::ReborrowPin
                | Self::Lend
                | Self::ChooseParts
        )
    }
}

pub(super) fn treatment(binding: &Binding<'_>, function: &Function, model: &Model) -> Treatment {
    match chosen(binding, function, model) {
        // An attempt cannot capture uniquely what the call holds by reference. What a task borrows, rustc would report twice.
        Treatment::Borrow if binding.held || binding.uses.spawned => Treatment::Leave,
        Treatment::Borrow | Treatment::Reborrow { rebind: false } if binding.blocking => {
            Treatment::Leave
        }
        // Two attempts side by side share what they borrow.
        Treatment::Borrow if binding.hedged && is_lent_mutably(binding, function) => {
            Treatment::Lend
        }
        Treatment::Borrow if binding.hedged => Treatment::Leave,
        Treatment::ChooseParts if binding.hedged => Treatment::Choose,
        treatment => treatment,
    }
}

/// Whether the call may hold a reference to the argument of this name, in its `cancel` future, its budget, its
/// delays or its `on_end` hook.
pub(super) fn is_held(name: &str, model: &Model) -> bool {
    let budget = model.budget.as_ref().and_then(|budget| budget.value.expr());
    let delays = model.delays.as_ref().and_then(|delays| delays.value.expr());
    let others = model.cancels().into_iter().chain(&model.on_end);
    let mut held = others.map(|other| &other.value).chain(budget).chain(delays);
    held.any(|expr| usage::read(name, &expr.to_token_stream()).usage != Usage::Unmentioned)
}

fn chosen(binding: &Binding<'_>, function: &Function, model: &Model) -> Treatment {
    let (usage, known) = (binding.uses.usage, binding.known);
    let ty = known.ty();
    let is_lent_if_held = matches!(binding.lending, Lending::IfHeld(_));
    if usage == Usage::Unmentioned {
        return Treatment::Leave;
    }
    let indirection = known.indirection();
    if let Some(list) = &model.clone {
        match indirection {
            _ if list.value.contains(&binding.ident) => return Treatment::Clone,
            // A `mut` argument that `clone` does not name keeps what the attempt before left in it.
            _ if binding.mutable.is_some() => return Treatment::Leave,
            None if known.may_borrow_uniquely(function) => return Treatment::Borrow,
            None | Some(Indirection::Shared) => return Treatment::Leave,
            Some(_) => {}
        }
    }
    match indirection {
        Some(Indirection::Mutable) => {
            let rebind = binding.mutable.is_some() || usage >= Usage::Moved;
            if !rebind && function.output_may_borrow_from(ty, binding.is_self) {
                Treatment::Leave
            } else {
                Treatment::Reborrow { rebind }
            }
        }
        Some(Indirection::MutableOption) => Treatment::ReborrowOption,
        Some(Indirection::MutablePin) => Treatment::ReborrowPin,
        None if is_given_self(binding) => Treatment::Clone,
        // Each attempt gets a clone of a `self: Arc<Self>` that the body hands over, as in a retry by hand.
        None if binding.is_self && !(usage >= Usage::Moved && ty.is_some_and(is_counted)) => {
            Treatment::Borrow
        }
        Some(Indirection::Shared) if binding.mutable.is_none() => Treatment::Leave,
        None if is_lent_mutably(binding, function) => match usage {
            Usage::Moved | Usage::HandedOver => Treatment::Lend,
            _ => Treatment::Borrow,
        },
        None if usage >= Usage::Moved
            && binding.mutable.is_none()
            && binding.converts_to.is_some() =>
        {
            Treatment::Convert
        }
        _ if is_for_one_use(binding, function) => Treatment::Clone,
        None if usage >= Usage::HandedOver && is_lent_if_held => Treatment::ChooseByBound,
        None if usage >= Usage::Moved => Treatment::Choose,
        None if usage == Usage::InParts => {
            if known.may_borrow_uniquely(function) && !binding.held {
                Treatment::ChooseParts
            } else {
                Treatment::Choose
            }
        }
        None if known.may_borrow_uniquely(function) => Treatment::Borrow,
        // The tokens do not show whether a name in a pattern is a reference.
        _ => Treatment::Leave,
    }
}

/// Whether it is a `self` by value that the body uses by value.
fn is_given_self(binding: &Binding<'_>) -> bool {
    let by_value = binding.known.ty().is_some_and(is_self_by_value);
    binding.is_self && binding.uses.whole.is_some() && by_value
}

/// Whether the argument is an `F: FnMut()` that is not `Clone`, and the body can have a `&mut F` instead.
fn is_lent_mutably(binding: &Binding<'_>, function: &Function) -> bool {
    let fits = |ty| match binding.uses.usage {
        Usage::UsedUp => false,
        // Whoever gets it most likely keeps it: `tokio::spawn(f)`.
        Usage::HandedOver => !is_static(ty, function),
        _ => true,
    };
    let by_type = |ty| is_called_mutably(ty, function) && fits(ty);
    !binding.held && binding.known.ty().is_some_and(by_type)
}

/// Whether the body uses up or changes the argument, so that the next attempt would not get what the caller
/// passed. Such an argument has to be `Clone`.
fn is_for_one_use(binding: &Binding<'_>, function: &Function) -> bool {
    let usage = binding.uses.usage;
    let by_type = |ty| {
        is_called_once(ty, function)
            || usage >= Usage::Moved && gives_itself_up(ty, function)
            || usage >= Usage::HandedOver
                && (is_concrete(ty, function) || matches!(binding.lending, Lending::Never))
    };
    binding.mutable.is_some()
        || binding.used_up_option
        || usage == Usage::UsedUp
        || binding.known.ty().is_some_and(by_type)
}
