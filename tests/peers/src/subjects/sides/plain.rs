//! No retry at all.

use crate::op::{self, Op, R};

pub(crate) async fn tiny(op: &'static Op) -> R {
    op::tiny!(op)
}

pub(crate) async fn big(op: &'static Op) -> R {
    op::big!(op)
}
