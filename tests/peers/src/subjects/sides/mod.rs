//! The sides. Each has the same functions: for a tiny body and for a body of 1 KiB, without limits and with a
//! timeout and a deadline.

mod backon;
mod backon_macros;
mod hand;
mod mettle;
mod ours;
mod plain;
mod tokio_retry2;
mod tower;

use std::future::Future;

use peers::{Row, Side};

use crate::op::{Op, R};

/// An operation on a function of a side.
pub(crate) trait Visit {
    type Output;

    fn visit<F>(self, call: impl Fn(&'static Op) -> F + 'static) -> Self::Output
    where
        F: Future<Output = R> + 'static;
}

/// Passes the function of a side that does the work of a row to `visitor`.
pub(crate) fn with_row<V: Visit>(side: Side, row: Row, visitor: V) -> V::Output {
    use ours::without_budget;

    match (side, row.limits) {
        (Side::Ours, false) if row.failures > 0 => visitor.visit(without_budget::tiny_free),
        (Side::Ours, true) if row.failures > 0 => visitor.visit(without_budget::tiny_limited),
        (_, false) => with_body(side, Body::Tiny, false, visitor),
        (_, true) => with_body(side, Body::Tiny, true, visitor),
    }
}

#[derive(Clone, Copy)]
pub(crate) enum Body {
    Tiny,
    Big,
}

/// Passes the function of a side with a body to `visitor`.
pub(crate) fn with_body<V: Visit>(side: Side, body: Body, limits: bool, visitor: V) -> V::Output {
    macro_rules! function {
        ($side:ident) => {
            match (body, limits) {
                (Body::Tiny, false) => visitor.visit($side::tiny_free),
                (Body::Tiny, true) => visitor.visit($side::tiny_limited),
                (Body::Big, false) => visitor.visit($side::big_free),
                (Body::Big, true) => visitor.visit($side::big_limited),
            }
        };
    }
    match side {
        Side::Plain => match body {
            Body::Tiny => visitor.visit(plain::tiny),
            Body::Big => visitor.visit(plain::big),
        },
        Side::Hand => function!(hand),
        Side::Ours | Side::Run => function!(ours),
        Side::Backon => function!(backon),
        Side::BackonMacros => function!(backon_macros),
        Side::TokioRetry2 => function!(tokio_retry2),
        Side::Tower => function!(tower),
        Side::Mettle => function!(mettle),
    }
}
