//! Bodies that are watched, to see that a client followed a redirect.

use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};

use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;

/// Tells whether a request that ended with a failed connection had another connection before: the client followed a redirect (301,
/// 302 or 303). The error does not say so, and its URL may be the first one.
///
/// A client drops the body that it has sent, and keeps one that it could not send until it fails. Between the two requests, its
/// future is pending at least once.
pub(crate) struct Witness(Weak<()>);

pin_project! {
    /// A body that is watched.
    pub(crate) struct Watched<B> {
        #[pin]
        body: B,
        alive: Arc<()>,
    }
}

impl Witness {
    pub(crate) fn of<B>(body: B) -> (Self, Watched<B>) {
        let alive = Arc::new(());
        (Self(Arc::downgrade(&alive)), Watched { body, alive })
    }

    /// Whether the body is gone.
    pub(crate) fn saw_it_sent(&self) -> bool {
        self.0.strong_count() == 0
    }
}

impl AsRef<[u8]> for Watched<Vec<u8>> {
    fn as_ref(&self) -> &[u8] {
        &self.body
    }
}

impl<B: Body> Body for Watched<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        waker: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        self.project().body.poll_frame(waker)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
