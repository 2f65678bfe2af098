//! Bodies that are watched, to see that a client has sent them.

use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};

use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;

pin_project! {
    /// A body that is watched.
    pub(crate) struct Watched<B> {
        #[pin]
        body: B,
        alive: Arc<()>,
    }
}

impl<B> Watched<B> {
    /// Returns what is gone once the body is.
    pub(crate) fn of(body: B) -> (Weak<()>, Self) {
        let alive = Arc::new(());
        (Arc::downgrade(&alive), Self { body, alive })
    }

    pub(crate) fn body(&self) -> &B {
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
