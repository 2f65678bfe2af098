//! `backon-macros`, with the policies of `backon`. The timeout is that of tokio, around the body.

use std::io;

use ::backon_macros::backon;
use tokio::time::timeout;

use super::backon as policies;
use crate::op::{Op, R, big, tiny};
use crate::policy::{TIMEOUT, is_temporary};

macro_rules! free {
    ($name:ident, $body:ident) => {
        #[backon(backoff = policies::free, when = is_temporary)]
        pub(crate) async fn $name(op: &'static Op) -> R {
            $body!(op)
        }
    };
}

macro_rules! limited {
    ($name:ident, $body:ident) => {
        #[backon(backoff = policies::limited, when = is_temporary)]
        pub(crate) async fn $name(op: &'static Op) -> R {
            match timeout(TIMEOUT, async { $body!(op) }).await {
                Ok(result) => result,
                Err(_) => Err(io::ErrorKind::TimedOut.into()),
            }
        }
    };
}

free!(tiny_free, tiny);
free!(big_free, big);
limited!(tiny_limited, tiny);
limited!(big_limited, big);
