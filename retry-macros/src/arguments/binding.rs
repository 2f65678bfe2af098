//! How each attempt gets one name that an argument binds.

use proc_macro2::{Ident, Span};
use quote::quote;
use syn::{Attribute, Type};

use super::bounds::Bounds;
use super::types::{
    Indirection, ends_in_use, indirection, is_called_mutably, is_called_once, is_for_each_its_own,
    is_opaque, is_self_by_value,
};
use crate::item::Function;
use crate::model::Model;
use crate::tokens::located;
use crate::usage::{self, Mentions, Usage, Uses};

/// A name that an argument binds.
#[expect(
    clippy::struct_excessive_bools,
    reason = "the flags are independent of each other"
)]
pub(super) struct Binding<'a> {
    pub(super) ident: Ident,
    /// The span of its `mut`.
    pub(super) mutable: Option<Span>,
    /// Its type, as far as the argument shows it.
    pub(super) ty: Option<&'a Type>,
    pub(super) is_self: bool,
    pub(super) attributes: Vec<Attribute>,
    pub(super) uses: Uses,
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
    /// A binding with these uses, and without `mut` and attributes.
    pub(super) fn of(ident: &Ident, ty: Option<&'a Type>, seen: &Seen<'_>, model: &Model) -> Self {
        Self {
            ident: ident.clone(),
            mutable: None,
            ty,
            is_self: false,
            attributes: Vec::new(),
            uses: seen.body.of(ident),
            converts_to: ty.and_then(|ty| seen.bounds.converts_to(ty)),
            seen_as: ty.and_then(|ty| seen.bounds.seen_as(ty)),
            held: seen.held.of(ident).usage != Usage::Unmentioned,
            blocking: model.blocking.is_some(),
            hedged: model.hedges(),
        }
    }
}

/// How each attempt gets one binding.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Treatment {
    /// As it is.
    Leave,
    /// Captured by unique reference.
    Borrow,
    /// `&mut T`: captured by reborrow.
    Reborrow { rebind: bool },
    /// `Option<&mut T>`, `Pin<&mut T>`: reborrowed in the attempt by this method.
    ReborrowWithin(&'static str),
    /// Cloned if its type is `Clone`, else lent.
    Choose,
    /// `F: FnMut()`: lent by `&mut` in the attempt.
    Lend,
    /// Converted before the first attempt if the target is `Clone`, then cloned.
    Convert,
    /// Cloned, or refused by this method.
    Own(&'static str),
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
        matches!(self, Self::Choose | Self::Convert | Self::Own(_))
    }
}

/// What the function shows of all arguments.
pub(super) struct Seen<'f> {
    pub(super) function: &'f Function,
    pub(super) bounds: Bounds<'f>,
    pub(super) body: Mentions,
    /// In what the call may hold a reference to while attempts run: its `cancel` future, its budget, its delays or its
    /// `on_end` hook.
    pub(super) held: Mentions,
}

impl<'f> Seen<'f> {
    pub(super) fn new(names: &[String], function: &'f Function, model: &Model) -> Self {
        let body = function.block().map_or(&function.body, |block| &block.body);
        let budget = model.budget.as_ref().and_then(|budget| budget.value.expr());
        let delays = model.delays.as_ref().and_then(|delays| delays.value.expr());
        let others = model.cancels().into_iter().chain(&model.on_end);
        let held = others.map(|other| &other.value).chain(budget).chain(delays);
        Self {
            function,
            bounds: Bounds::of(function),
            body: usage::read(names.iter().cloned(), body),
            held: usage::read(names.iter().cloned(), &quote!(#(#held)*)),
        }
    }
}

pub(super) fn treatment(binding: &Binding<'_>, seen: &Seen<'_>) -> Treatment {
    let bounds = &seen.bounds;
    let Binding { uses, ty, .. } = *binding;
    let is_moved = uses.usage == Usage::Moved;
    let is_mutable = binding.mutable.is_some();
    let borrow = if binding.held || binding.hedged || binding.blocking || uses.spawned {
        Treatment::Leave
    } else {
        Treatment::Borrow
    };
    if uses.usage == Usage::Unmentioned {
        return Treatment::Leave;
    }
    match ty.and_then(indirection) {
        Some(Indirection::Mutable) => {
            let rebind = is_mutable || uses.is_reborrowed();
            let returned = seen.function.output_may_borrow_from(ty, binding.is_self);
            return if rebind || !returned && !binding.blocking {
                Treatment::Reborrow { rebind }
            } else {
                Treatment::Leave
            };
        }
        Some(Indirection::Within(method)) => return Treatment::ReborrowWithin(method),
        Some(Indirection::Shared) if !is_mutable => return Treatment::Leave,
        _ => {}
    }
    if binding.is_self {
        return match uses.handed_over.or(uses.moved_in) {
            Some(_) if ty.is_some_and(is_self_by_value) => Treatment::Own("own_self"),
            _ if is_moved => Treatment::Choose,
            _ => borrow,
        };
    }
    if is_moved && !is_mutable && binding.converts_to.is_some() {
        return Treatment::Convert;
    }
    // The type of a local variable is not known.
    let is_closed = ty.is_none_or(|ty| is_for_each_its_own(ty, bounds));
    let kept = uses.given_to_task
        || is_moved && ty.is_some_and(|ty| is_opaque(ty, bounds))
        || uses.handed_over.is_some() && is_closed;
    if ty.is_some_and(|ty| is_called_mutably(ty, bounds)) && !binding.held && !kept {
        return if is_moved || binding.hedged {
            Treatment::Lend
        } else {
            borrow
        };
    }
    let is_for_one_use = ty.is_some_and(|ty| {
        is_called_once(ty, bounds) || (is_moved || is_mutable) && ends_in_use(ty, bounds)
    });
    if is_mutable || kept || is_for_one_use || uses.moved_in.is_some() && is_closed {
        Treatment::Own("own")
    } else if is_moved {
        Treatment::Choose
    } else if ty.is_some() {
        borrow
    } else {
        // The tokens do not show whether a name in a pattern is a reference.
        Treatment::Leave
    }
}

impl Binding<'_> {
    /// The method that clones it or refuses it, and where rustc reports that.
    pub(super) fn own(&self, method: &str) -> Ident {
        let at = self.uses.handed_over.or(self.uses.moved_in);
        let at = at.filter(|_| self.is_self);
        Ident::new(method, located(at.unwrap_or_else(|| self.ident.span())))
    }
}
