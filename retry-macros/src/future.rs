//! Functions that are not `async` and return a future. People write these by hand, or `#[async_trait]` rewrites
//! an async method before our attribute sees it.

use std::collections::HashSet;

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::{
    Block, Expr, FnArg, GenericArgument, Ident, Local, Pat, PatType, PathArguments, Signature,
    Stmt, Token, Type, TypeParamBound,
};

use crate::conditions::only;
use crate::operand::lone_name;
use crate::paths::{boxed_bounds, ends_in, inside, peel_type, traits, type_arguments};
use crate::tokens;

/// A body that returns a future.
pub(crate) struct Handmade {
    pub(crate) kind: FutureKind,
    /// `None` for any body but such a block. Each attempt evaluates it as a whole.
    pub(crate) block: Option<FutureBlock>,
}

/// The type that the function returns.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum FutureKind {
    /// `Pin<Box<dyn Future<Output = …>>>`, `BoxFuture<'_, …>`, `LocalBoxFuture<'_, …>`.
    Boxed,
    /// `impl Future<Output = …>`.
    Opaque,
}

/// `STATEMENTS Box::pin(async move { REBINDINGS BODY })`. The loop goes into the block, without another allocation.
pub(crate) struct FutureBlock {
    /// The statements before the future. They run once in a call.
    pub(crate) statements: TokenStream,
    /// Those of them that bind a name, as `let x = …`, with their `cfg` and without a `mut`.
    pub(crate) locals: Vec<Local>,
    /// The function that boxes the future: `Box::pin`. Empty for an opaque future.
    pub(crate) wrapper: TokenStream,
    /// The first statements of the block, which bind arguments again: `let x = x;`.
    pub(crate) rebindings: Vec<Local>,
    pub(crate) body: TokenStream,
}

/// The new name of `self`, if a `let` gives it one: `__self`.
pub(crate) fn name_of_self(rebinding: &Local) -> Option<&Ident> {
    let argument = rebound(rebinding)?;
    match &rebinding.pat {
        Pat::Ident(it) if it.ident == "__self" && argument == "self" => Some(&it.ident),
        _ => None,
    }
}

/// The argument that a `let` binds again: `let PATTERN = ARGUMENT;`.
pub(crate) fn rebound(rebinding: &Local) -> Option<&Ident> {
    let init = rebinding.init.as_ref()?;
    if init.diverge.is_some() || matches!(rebinding.pat, Pat::Type(_)) {
        return None;
    }
    argument_of(&init.expr)
}

/// The output of the future, and its kind. `None` if the type is not written as a future.
pub(crate) fn output_of(ty: &Type) -> Option<(Type, FutureKind)> {
    let ty = peel_type(ty);
    match ty {
        Type::ImplTrait(found) => Some((future_output(&found.bounds)?, FutureKind::Opaque)),
        Type::Path(path) => {
            let segment = path.path.segments.last()?;
            let output = match segment.ident.to_string().as_str() {
                "BoxFuture" | "LocalBoxFuture" => (*type_arguments(segment).last()?).clone(),
                "Pin" => future_output(boxed_bounds(inside(ty, "Pin")?)?)?,
                _ => return None,
            };
            Some((output, FutureKind::Boxed))
        }
        _ => None,
    }
}

fn future_output(bounds: &Punctuated<TypeParamBound, Token![+]>) -> Option<Type> {
    let mut futures = traits(bounds).filter_map(|bound| bound.path.segments.last());
    let future = futures.find(|last| last.ident == "Future")?;
    let PathArguments::AngleBracketed(arguments) = &future.arguments else {
        return None;
    };
    arguments.args.iter().find_map(|argument| match argument {
        GenericArgument::AssocType(output) if output.ident == "Output" => Some(output.ty.clone()),
        _ => None,
    })
}

/// The block of the future, if the body ends with such a block.
pub(crate) fn block_of(
    kind: FutureKind,
    signature: &Signature,
    body: TokenStream,
) -> Option<FutureBlock> {
    let statements = Block::parse_within.parse2(body).ok()?;
    let (last, before) = statements.split_last()?;
    let Stmt::Expr(tail, None) = last else {
        return None;
    };
    let (wrapper, block) = match (kind, tail) {
        (FutureKind::Opaque, Expr::Async(block)) => (TokenStream::new(), block),
        (FutureKind::Boxed, Expr::Call(call)) => match (&*call.func, call.args.first()) {
            (Expr::Path(function), Some(Expr::Async(block)))
                if ends_in(&function.path, "pin") && call.args.len() == 1 =>
            {
                (function.to_token_stream(), block)
            }
            _ => return None,
        },
        _ => return None,
    };
    block.capture.as_ref()?;
    let mut rest = block.block.stmts.as_slice();
    if rest.first().is_some_and(is_typed_branch) {
        rest = rest.get(1..).unwrap_or_default();
    }
    let mut rebindings = Vec::new();
    let names: HashSet<_> = typed_arguments(signature).filter_map(name_of).collect();
    let is_argument = |name: &Ident| name == "self" || names.contains(name);
    while let [Stmt::Local(local), after @ ..] = rest {
        if !rebound(local).is_some_and(is_argument) {
            break;
        }
        rebindings.push(local.clone());
        rest = after;
    }
    Some(FutureBlock {
        statements: quote!(#(#before)*),
        locals: before.iter().filter_map(local).collect(),
        wrapper,
        rebindings,
        body: quote!(#(#rest)*),
    })
}

/// A statement that binds a name: `let x = …;`. Attempts use names within a pattern as they are.
fn local(statement: &Stmt) -> Option<Local> {
    let Stmt::Local(local) = statement else {
        return None;
    };
    let mut local = local.clone();
    local.attrs = only(&local.attrs, "cfg");
    match &mut local.pat {
        Pat::Ident(pattern) => pattern.mutability = None,
        _ => return None,
    }
    Some(local)
}

/// Whether a statement is `if let Some(__ret) = None::<…> { return __ret; }`, by which `#[async_trait]` gives its
/// block a type. The attempt has such a statement.
fn is_typed_branch(statement: &Stmt) -> bool {
    let Stmt::Expr(Expr::If(branch), _) = statement else {
        return false;
    };
    let Expr::Let(condition) = &*branch.cond else {
        return false;
    };
    matches!(&*condition.expr, Expr::Path(none) if ends_in(&none.path, "None"))
        && tokens::has_word(&condition.pat, "__ret")
}

/// The name of an argument that is not a pattern.
pub(crate) fn name_of(argument: &PatType) -> Option<&Ident> {
    match &*argument.pat {
        Pat::Ident(pattern) => Some(&pattern.ident),
        _ => None,
    }
}

pub(crate) fn argument_named<'a>(signature: &'a Signature, name: &Ident) -> Option<&'a PatType> {
    typed_arguments(signature).find(|argument| name_of(argument) == Some(name))
}

/// The arguments without `self`.
pub(crate) fn typed_arguments(signature: &Signature) -> impl Iterator<Item = &PatType> {
    signature.inputs.iter().filter_map(|input| match input {
        FnArg::Typed(typed) => Some(typed),
        FnArg::Receiver(_) => None,
    })
}

/// The argument in `x`, or in `{ let x = x; x }`.
fn argument_of(value: &Expr) -> Option<&Ident> {
    match value {
        Expr::Block(block) => match block.block.stmts.as_slice() {
            [Stmt::Local(_), Stmt::Expr(value, None)] => lone_name(value),
            _ => None,
        },
        _ => lone_name(value),
    }
}
