//! The chain of sources of an error, link by link.

use std::error::Error;
use std::io;
use std::sync::Arc;

/// The most links of a chain of errors that are visited. Without a bound, nothing would end at an error that is its own
/// source.
pub(crate) const MAX_LINKS: usize = 32;

/// An error and its sources, from the outside in.
///
/// `io::Error`, `Arc<dyn Error>` and the error of `reqwest-middleware` hide the error that they hold from `source()`, which
/// returns the source of that error. This walk visits the held error too.
pub(crate) struct Links<'a> {
    next: Option<&'a (dyn Error + 'static)>,
    left: usize,
}

impl<'a> Links<'a> {
    pub(crate) fn of(first: &'a (dyn Error + 'static)) -> Self {
        Self {
            next: Some(first),
            left: MAX_LINKS,
        }
    }
}

impl<'a> Iterator for Links<'a> {
    type Item = &'a (dyn Error + 'static);

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let link = self.next?;
        self.next = after(link);
        Some(link)
    }
}

/// Returns the link as an `A`, also if it is a `Box<A>` or an `Arc<A>`.
pub(crate) fn as_type<'a, A: Error + 'static>(link: &'a (dyn Error + 'static)) -> Option<&'a A> {
    link.downcast_ref::<A>()
        .or_else(|| link.downcast_ref::<Box<A>>().map(|boxed| &**boxed))
        .or_else(|| link.downcast_ref::<Arc<A>>().map(|shared| &**shared))
}

/// Returns the source of a link, or the error inside a wrapper whose `source()` skips that error.
fn after<'a>(link: &'a (dyn Error + 'static)) -> Option<&'a (dyn Error + 'static)> {
    if let Some(error) = as_type::<io::Error>(link) {
        return error.get_ref().map(|inner| inner as &(dyn Error + 'static));
    }
    if let Some(shared) = link.downcast_ref::<Arc<dyn Error + Send + Sync>>() {
        return Some(&**shared);
    }
    if let Some(shared) = link.downcast_ref::<Arc<dyn Error>>() {
        return Some(&**shared);
    }
    #[cfg(feature = "reqwest-middleware")]
    if let Some(error) = as_type::<reqwest_middleware::Error>(link) {
        return Some(match error {
            reqwest_middleware::Error::Middleware(error) => error.as_ref(),
            reqwest_middleware::Error::Reqwest(error) => error,
        });
    }
    link.source()
}
