//! The sides. Each has the same functions, for a small body and for a big one, without limits and
//! with them.

mod hand;
mod ours;

use peers::Row;

use crate::drive::drive;
use crate::op::Op;

/// Makes calls of one side.
pub(crate) fn call(side: &str, row: Row, calls: u32) {
    match (side, row.limits, row.failures) {
        ("hand", false, _) => drive(row, calls, hand::tiny_free),
        ("hand", true, _) => drive(row, calls, hand::tiny_limited),
        ("ours", false, 0) => drive(row, calls, ours::tiny_free),
        ("ours", true, 0) => drive(row, calls, ours::tiny_limited),
        ("ours", false, _) => drive(row, calls, ours::failing_free),
        ("ours", true, _) => drive(row, calls, ours::failing_limited),
        _ => panic!("no side {side}"),
    }
}

/// The bytes of the futures of one side: a tiny body without limits and with them, then a big one.
pub(crate) fn sizes(side: &str, op: &'static Op) -> [usize; 4] {
    macro_rules! sizes {
        ($side:ident) => {
            [
                size_of_val(&$side::tiny_free(op)),
                size_of_val(&$side::tiny_limited(op)),
                size_of_val(&$side::big_free(op)),
                size_of_val(&$side::big_limited(op)),
            ]
        };
    }
    match side {
        "hand" => sizes!(hand),
        "ours" => sizes!(ours),
        _ => panic!("no side {side}"),
    }
}
