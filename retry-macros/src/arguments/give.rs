//! What each attempt gets of an argument: the table of the page.

use proc_macro2::TokenStream;

use super::kind::{ArgumentKind as Kind, Loan};
use crate::usage::{Mention, Use};

/// How the attempts run the body.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum AttemptKind {
    /// One after the other, as futures.
    Futures,
    /// One after the other, as closures. Nothing crosses threads.
    Closures,
    /// Two side by side. Neither captures anything uniquely, and each owns its own values.
    Pair,
}

/// What each attempt gets.
pub(super) enum Give {
    /// The argument as it is.
    AsIs,
    /// A unique reference to it, which the attempt captures.
    Borrow,
    /// A unique reference to what it refers to, which the attempt captures.
    BorrowTarget,
    /// A `&mut` to what it refers to, which the attempt binds.
    Reborrow,
    /// The same, from this method.
    ReborrowBy(&'static str),
    /// A `&mut` to it, which the attempt binds.
    Lend,
    /// A clone of what it converts into, if that is `Clone`, else of itself.
    Convert(TokenStream),
    /// What this method of the runtime's `Argument` makes of it: a clone, else a reference or a compile error.
    Made(&'static str),
    /// The same of `self`, with the error where the body moves it.
    MadeOfSelf(&'static str),
    /// A compile error: both attempts would borrow it mutably.
    Hedged,
    /// A compile error: it would drop a clone.
    Dropped,
    /// A compile error: what the first attempt returns may borrow it mutably.
    Returned,
}

/// `mutable` says whether the argument is declared as `mut`.
#[expect(clippy::match_same_arms, reason = "the order of the rows counts")]
pub(super) fn give(kind: Kind, mention: Mention, mutable: bool, attempts: AttemptKind) -> Give {
    let Mention { used, held, .. } = mention;
    let by_value = used >= Use::Part;
    let (pair, uniquely) = (
        attempts == AttemptKind::Pair,
        attempts == AttemptKind::Futures && !held,
    );
    match (kind, used) {
        (_, Use::No) => Give::AsIs,
        (Kind::Shared, _) if !mutable => Give::AsIs,

        (Kind::Mutable(_) | Kind::Within(_), _) if pair => Give::Hedged,
        (Kind::Within(method), _) => Give::ReborrowBy(method),
        (Kind::Mutable(Loan::Surely), _) => Give::Returned,
        (Kind::Mutable(_), _) if mutable => Give::Reborrow,
        (Kind::Mutable(_), Use::Macro | Use::Whole | Use::Moved | Use::Task) => Give::Reborrow,
        (Kind::Mutable(Loan::Perhaps), _) => Give::AsIs,
        (Kind::Mutable(_), Use::Given | Use::Dropped) => Give::Reborrow,
        (Kind::Mutable(_), _) if uniquely => Give::BorrowTarget,
        (Kind::Mutable(_), _) => Give::AsIs,

        (Kind::OfSelf, _) if mutable => Give::MadeOfSelf("own_mut_self"),
        (Kind::OfSelf, _) if used >= Use::Moved => Give::MadeOfSelf("own_self"),
        (_, Use::Dropped) => Give::Dropped,
        (Kind::Into(target), _) if by_value && !mutable => Give::Convert(target),

        (Kind::Calls { .. }, Use::Task) => Give::Made("own"),
        (Kind::Calls { is_closed: true }, Use::Given) => Give::Made("own"),
        (Kind::Calls { .. }, _) if pair => Give::Hedged,
        (Kind::Calls { .. }, _) if by_value && !held => Give::Lend,
        (Kind::Calls { .. }, _) if uniquely => Give::Borrow,
        (Kind::Calls { .. }, _) if !held => Give::AsIs,

        (Kind::CalledOnce, _) => Give::Made("own"),
        _ if mutable => Give::Made("own"),
        (Kind::Owned, _) if by_value => Give::Made("own"),
        (Kind::Closed | Kind::Unknown, _) if used >= Use::Moved => Give::Made("own"),
        (_, Use::Task) => Give::Made("own"),
        _ if by_value && attempts == AttemptKind::Closures => Give::Made("on_this_thread"),
        _ if by_value => Give::Made("for_each_attempt"),
        (Kind::Unknown, _) | (_, Use::Lent) => Give::AsIs,
        _ if uniquely => Give::Borrow,
        _ => Give::AsIs,
    }
}
