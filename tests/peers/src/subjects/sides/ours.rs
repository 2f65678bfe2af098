//! The attribute.

use std::io;

use reattempt::retry;

use crate::op::{Op, R, big, tiny};

macro_rules! annotated {
    ($name:ident, $body:ident, $($setting:tt)*) => {
        #[retry(attempts = 4, base = "1ms", max_delay = "1ms", on = "io::Error", $($setting)*)]
        pub(crate) async fn $name(op: &'static Op) -> R {
            $body!(op)
        }
    };
}

annotated!(tiny_free, tiny, jitter = "full");
annotated!(big_free, big, jitter = "full");
annotated!(tiny_limited, tiny, timeout = "1.5s", deadline = "5s");
annotated!(big_limited, big, timeout = "1.5s", deadline = "5s");

/// For rows with failures. A budget would end the retries, and no other side has a budget.
pub(crate) mod without_budget {
    use super::{Op, R, io, retry, tiny};

    annotated!(tiny_free, tiny, budget = "none");
    annotated!(
        tiny_limited,
        tiny,
        budget = "none",
        timeout = "1.5s",
        deadline = "5s"
    );
}
