//! Listeners: they receive a report when a call ends. A pointer that is set around each poll leads to them.
//!
//! It is not the pointer to the frame: `with_report` and a test scope do not change what a call sees of its outer calls.

use std::cell::{Cell, OnceCell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;
use scoped_tls_hkt::ScopedKey;

use crate::context::{Frame, outer};
use crate::opaque::opaque;
use crate::report::Report;
use crate::test_scope::TestScope;

/// A `const`, as in `context/frame.rs`: each call that begins looks at it.
const LISTENER: ScopedKey<Listener> = ScopedKey {
    inner: {
        thread_local!(static POINTER: Cell<Option<&'static Listener>> = const { Cell::new(None) });
        &POINTER
    },
};

/// Receives the reports of the calls that end while it is lent.
#[derive(Debug, Default)]
pub(crate) struct Listener {
    /// The outer frame of the listener, as an address to compare; 0 for none.
    mark: Cell<usize>,
    /// The report of the outermost call that ended last.
    last: RefCell<Option<Report>>,
    /// The test scope of the calls inside: its own, or that of an outer listener.
    scope: OnceCell<Arc<TestScope>>,
}

impl Listener {
    /// Makes the listener of a test scope.
    pub(crate) fn of(scope: Arc<TestScope>) -> Self {
        Self {
            scope: OnceCell::from(scope),
            ..Self::default()
        }
    }

    /// Runs one poll of the code inside.
    pub(crate) fn lend<T>(&self, poll: impl FnOnce() -> T) -> T {
        self.mark.set(mark());
        // Unless it has one.
        let _ = test_scope_around().map(|scope| self.scope.set(scope));
        LISTENER.set(self, poll)
    }

    /// Returns the last report, and passes it to the outer listener.
    pub(crate) fn pass_on(&self) -> Option<Report> {
        let report = self.last.take()?;
        listener(|outer| outer.record(report.clone()));
        Some(report)
    }

    /// Records the report of a call that ended, unless another call is between the listener and that call.
    pub(crate) fn record(&self, report: Report) {
        let is_within = outer(|frame| frame.is_call() && mark() != self.mark.get());
        if !is_within.unwrap_or_default() {
            *self.last.borrow_mut() = Some(report);
        }
    }
}

/// Whether there is a listener, around the code or for the process.
#[inline]
pub(crate) fn is_listening() -> bool {
    LISTENER.is_set() || OF_PROCESS.get().is_some()
}

type OfProcess = Box<dyn Fn(&Report) + Send + Sync>;

/// The listener of the process.
pub(crate) static OF_PROCESS: OnceLock<OfProcess> = OnceLock::new();

/// Installs a function that gets the [`Report`] of each call in this process when the call ends, also when it is dropped: for
/// your own metrics, or for a list of the functions that were called. Returns whether it was installed: `false` if there is one
/// already, which then stays.
///
/// It runs in the task of the call, so it must not block, and it must not make calls of annotated functions, whose reports it
/// would get too. Until it is installed, calls pay nothing for it. Without it, use [`with_report`] for the report of one call.
///
/// # Panics
///
/// - A call panics when it ends, if the function does. While another panic unwinds, that of the function is caught.
///
/// # Examples
///
/// ```
/// # use reattempt_runtime as reattempt;
/// use std::collections::BTreeMap;
/// use std::sync::Mutex;
///
/// use reattempt::Report;
///
/// /// The last report of each function.
/// static SEEN: Mutex<BTreeMap<&str, Report>> = Mutex::new(BTreeMap::new());
///
/// let installed = reattempt::set_listener(|report| {
///     SEEN.lock().unwrap().insert(report.function(), report.clone());
/// });
/// assert!(installed);
/// ```
pub fn set_listener(listener: impl Fn(&Report) + Send + Sync + 'static) -> bool {
    OF_PROCESS.set(Box::new(listener)).is_ok()
}

/// Runs code of a user while a call is dropped. While a panic unwinds, a panic of the code is caught, because it would abort the
/// process.
pub(crate) fn notify(code: impl FnOnce()) {
    if std::thread::panicking() {
        let _ = catch_unwind(AssertUnwindSafe(code));
    } else {
        code();
    }
}

/// Shows the outer listener to `f`, if there is one.
pub(crate) fn listener<T>(f: impl FnOnce(&Listener) -> T) -> Option<T> {
    LISTENER.is_set().then(|| LISTENER.with(f))
}

/// The test scope that the code is in, if it is in one.
#[inline]
pub(crate) fn test_scope_around() -> Option<Arc<TestScope>> {
    if cfg!(not(feature = "testing")) {
        // No program without it links what scopes keep.
        return None;
    }
    listener(|listener| listener.scope.get().cloned())?
}

/// The outer frame, as an address to compare while it is lent; 0 for none.
fn mark() -> usize {
    outer(Frame::mark).unwrap_or(0)
}

/// Returns the output of a future together with the [`Report`] of the call in it.
///
/// Of several outermost calls in the future, the report is that of the call that ended last. It is `None` if no call
/// ended. A call that is dropped within the future, for example by a timeout, reports
/// [`Outcome::Dropped`](crate::Outcome::Dropped). Calls in spawned tasks do not report.
///
/// Begin the call within the future. A call that was polled before may not report.
///
/// Calls without a listener pay nothing for this.
///
/// # Cancel safety
///
/// Dropping it drops the future, and there is no report.
pub fn with_report<F: Future>(future: F) -> WithReport<F> {
    WithReport::with(Listener::default(), future)
}

pin_project! {
    /// The future of [`with_report`].
    #[must_use = "futures do nothing unless polled"]
    pub struct WithReport<F> {
        listener: Listener,
        #[pin]
        future: Option<F>,
    }
}

impl<F> WithReport<F> {
    pub(crate) fn with(listener: Listener, future: F) -> Self {
        Self {
            listener,
            future: Some(future),
        }
    }
}

impl<F: Future> Future for WithReport<F> {
    type Output = (F::Output, Option<Report>);

    /// Once the future is ready, it is dropped, so that the calls it still holds end too. Then the last report goes to the
    /// outer listener, and is returned.
    ///
    /// # Panics
    ///
    /// - If it is polled after it was ready.
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        let output = ready!(this.listener.lend(|| {
            let future = this.future.as_mut().as_pin_mut();
            let polled = future.expect("polled after it was ready").poll(context);
            if polled.is_ready() {
                this.future.set(None);
            }
            polled
        }));
        Poll::Ready((output, this.listener.pass_on()))
    }
}

opaque! { WithReport [F] [F]; }
