//! A `self` that the caller gave away, and of which a body uses the whole or a part by value.

use std::future::Future;
use std::io;
use std::sync::atomic::{AtomicU32, Ordering};

use async_trait::async_trait;
use reattempt::retry;

use crate::{cases, Calls, ATTEMPTS};

/// Counts its clones.
struct Request<'c> {
    calls: &'c Calls,
    clones: &'c AtomicU32,
    text: String,
    tag: Option<String>,
    parts: Vec<String>,
    count: Option<u32>,
    limit: usize,
}

impl Clone for Request<'_> {
    fn clone(&self) -> Self {
        self.clones.fetch_add(1, Ordering::Relaxed);
        Self {
            text: self.text.clone(),
            tag: self.tag.clone(),
            parts: self.parts.clone(),
            ..*self
        }
    }
}

async fn send(request: Request<'_>) -> io::Result<usize> {
    tokio::task::yield_now().await;
    Ok(take(request.text).len())
}

fn take(text: String) -> Vec<u8> {
    assert_eq!(text, "text", "each attempt has what the caller passed");
    text.into_bytes()
}

fn page(limit: usize) -> usize {
    limit
}

impl<'c> Request<'c> {
    fn into_text(self) -> Vec<u8> {
        take(self.text)
    }

    fn new(calls: &'c Calls, clones: &'c AtomicU32) -> Self {
        Self {
            calls,
            clones,
            text: "text".to_owned(),
            tag: Some("text".to_owned()),
            parts: vec!["text".to_owned()],
            count: Some(1),
            limit: 1,
        }
    }

    #[retry]
    async fn handed_over(self) -> io::Result<usize> {
        let calls = self.calls;
        let size = send(self).await?;
        calls.fail::<()>()?;
        Ok(size)
    }

    #[retry]
    #[expect(clippy::manual_async_fn, reason = "the shape that is tried")]
    fn in_a_future_by_hand(self) -> impl Future<Output = io::Result<usize>> + 'c {
        async move {
            tokio::task::yield_now().await;
            let calls = self.calls;
            let size = send(self).await?;
            calls.fail::<()>()?;
            Ok(size)
        }
    }

    #[retry]
    async fn converted(self) -> io::Result<usize> {
        let calls = self.calls;
        let size = self.into_text().len();
        calls.fail::<()>()?;
        Ok(size)
    }

    #[retry(timeout = "1s")]
    async fn changed(mut self) -> io::Result<usize> {
        self.limit += 1;
        tokio::task::yield_now().await;
        assert_eq!(
            self.limit, 2,
            "an attempt starts from what the caller passed"
        );
        self.calls.fail::<()>()?;
        Ok(take(self.text).len())
    }

    #[retry]
    async fn changed_after_an_item_without_braces(mut self) -> io::Result<usize> {
        struct Page(usize);
        {
            self.limit += 1;
        }
        assert_eq!(
            self.limit, 2,
            "an attempt starts from what the caller passed"
        );
        self.calls.fail::<()>()?;
        Ok(Page(self.limit).0)
    }

    #[retry]
    async fn changed_beside_modules(mut self) -> io::Result<usize> {
        use std::fmt::{self, Write as _};
        let page = 1;
        self.limit += self::page(page);
        let mut text = String::new();
        fmt::write(&mut text, format_args!("{}", self.limit)).map_err(io::Error::other)?;
        write!(text, ".").map_err(io::Error::other)?;
        assert_eq!(text, "2.");
        self.calls.fail()
    }

    #[retry]
    async fn field_beside_modules(self) -> io::Result<usize> {
        use std::fmt::{self, Write as _};
        let page = 1;
        let mut text = self.text;
        fmt::write(&mut text, format_args!("{}", self::page(page))).map_err(io::Error::other)?;
        write!(text, ".").map_err(io::Error::other)?;
        assert_eq!(text, "text1.");
        self.calls.fail()
    }

    #[retry(blocking, base = "0s")]
    fn blocking_and_changed(mut self: Box<Self>) -> io::Result<usize> {
        self.limit += 1;
        assert_eq!(
            self.limit, 2,
            "an attempt starts from what the caller passed"
        );
        self.calls.fail()
    }

    #[retry(timeout = "1s")]
    async fn bound(self) -> io::Result<usize> {
        let request = self;
        let calls = request.calls;
        let size = send(request).await?;
        calls.fail::<()>()?;
        Ok(size)
    }

    #[retry]
    async fn boxed(self: Box<Self>) -> io::Result<usize> {
        let calls = self.calls;
        let (size, _) = (send(*self.clone()).await?, Some(self));
        calls.fail::<()>()?;
        Ok(size)
    }

    #[retry(
        when = |_| self.limit == 1,
        before_retry = async { assert_eq!(self.text, "text") },
        on_end = |_| assert_eq!(self.text, "text"),
    )]
    async fn handed_over_beside_hooks(self) -> io::Result<usize> {
        let calls = self.calls;
        let size = send(self).await?;
        calls.fail::<()>()?;
        Ok(size)
    }

    #[retry]
    async fn field(self) -> io::Result<usize> {
        let size = take(self.text).len();
        tokio::task::yield_now().await;
        self.calls.fail::<()>()?;
        Ok(size)
    }

    #[retry]
    async fn field_with_more(self) -> io::Result<String> {
        let longer = self.text + "er";
        assert_eq!(longer, "texter");
        self.calls.fail()
    }

    #[retry(when = |_| self.limit == 1, before_retry = async { assert_eq!(self.text, "text") })]
    async fn field_in_a_pattern(self) -> io::Result<usize> {
        let mut size = page(self.limit);
        if let Some(tag) = self.tag {
            size += take(tag).len();
        }
        assert_eq!(size, 5);
        self.calls.fail::<()>()?;
        Ok(size)
    }

    #[retry(timeout = "1s")]
    async fn loop_over_a_field(self) -> io::Result<usize> {
        let mut size = 0;
        for part in self.parts {
            tokio::task::yield_now().await;
            size += take(part).len();
        }
        self.calls.fail::<()>()?;
        Ok(size)
    }

    #[retry(blocking, base = "0s")]
    fn blocking(self) -> io::Result<usize> {
        let Some(tag) = self.tag else { return Ok(0) };
        let size = take(tag).len() + take(self.text).len();
        self.calls.fail::<()>()?;
        Ok(size)
    }

    #[retry(blocking, base = "0s")]
    fn blocking_and_handed_over(self) -> io::Result<Self> {
        self.calls.fail::<()>()?;
        Ok(self)
    }

    #[retry]
    async fn copied_fields(self) -> io::Result<usize> {
        let limit = page(self.limit);
        if let Some(count) = self.count {
            tokio::task::yield_now().await;
            self.calls.fail::<()>()?;
            return Ok(count as usize);
        }
        Ok(limit)
    }

    #[retry(blocking, base = "0s")]
    fn blocking_and_copied(self) -> io::Result<usize> {
        self.calls.fail::<()>()?;
        Ok(page(self.limit))
    }

    /// A field that is a reference stays, whatever it refers to.
    #[retry]
    async fn reference(self) -> io::Result<u32> {
        let count = count(self.clones);
        self.calls.fail::<()>()?;
        Ok(count)
    }
}

fn count(clones: &AtomicU32) -> u32 {
    clones.load(Ordering::Relaxed)
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Large,
    Small,
}

fn is_large(kind: Kind) -> bool {
    matches!(kind, Kind::Large)
}

impl Kind {
    #[retry]
    async fn copied(self, calls: &Calls) -> io::Result<bool> {
        let large = is_large(self);
        tokio::task::yield_now().await;
        calls.fail::<()>()?;
        Ok(large)
    }

    /// A text names the `self` of the attempt, beside another variable.
    #[retry]
    async fn changed_and_shown(mut self, calls: &Calls) -> io::Result<String> {
        let was = self;
        self = Self::Small;
        let text = format!("{self:?}, not {was:?}: {{self}} is {}", calls.up());
        let expected = format!("Small, not Large: {{self}} is {}", calls.count());
        assert_eq!(text, expected, "not that of the caller, {self:?}",);
        Err(io::ErrorKind::ConnectionReset.into())
    }
}

#[derive(Clone, Debug)]
struct Shown<'c> {
    calls: &'c Calls,
    text: String,
}

impl Shown<'_> {
    #[retry]
    async fn shown_beside_a_field(self) -> io::Result<usize> {
        let text = format!("{self:?}");
        let size = take(self.text).len() + text.len();
        self.calls.fail::<()>()?;
        Ok(size)
    }
}

#[async_trait]
trait Sender {
    async fn send(self) -> io::Result<usize>;
    async fn change(self) -> io::Result<usize>;
    async fn keep(self: Box<Self>) -> io::Result<Vec<Self>>
    where
        Self: Sized;
}

#[async_trait]
impl Sender for Request<'_> {
    #[retry]
    async fn send(self) -> io::Result<usize> {
        let calls = self.calls;
        let size = send(self).await?;
        calls.fail::<()>()?;
        Ok(size)
    }

    #[retry]
    async fn change(mut self) -> io::Result<usize> {
        self.limit += 1;
        assert_eq!(
            self.limit, 2,
            "an attempt starts from what the caller passed"
        );
        self.calls.fail()
    }

    #[retry]
    async fn keep(self: Box<Self>) -> io::Result<Vec<Self>> {
        let calls = self.calls;
        let kept = vec![*self.clone()];
        drop(self);
        calls.fail::<()>()?;
        Ok(kept)
    }
}

/// Calls a method, and compares the number of clones.
macro_rules! clones {
    ($calls:ident, $expected:expr, |$request:ident| $call:expr) => {
        async {
            let clones = AtomicU32::new(0);
            let $request = Request::new($calls, &clones);
            let _ = $call;
            assert_eq!(count(&clones), $expected, "{}", stringify!($call));
        }
    };
}

cases! {
    handed_over: |calls| clones!(calls, ATTEMPTS, |it| it.handed_over().await);
    converted: |calls| clones!(calls, ATTEMPTS, |it| it.converted().await);
    boxed_by_a_trait: |calls| clones!(calls, 2 * ATTEMPTS, |it| Box::new(it).keep().await.map(drop));
    changed_by_a_trait: |calls| clones!(calls, ATTEMPTS, |it| it.change().await);
    in_a_future_by_hand: |calls| clones!(calls, ATTEMPTS, |it| it.in_a_future_by_hand().await);
    by_a_trait: |calls| clones!(calls, ATTEMPTS, |it| Sender::send(it).await);
    changed: |calls| clones!(calls, ATTEMPTS, |it| it.changed().await);
    changed_after_an_item_without_braces: |calls| clones!(calls, ATTEMPTS, |it| it.changed_after_an_item_without_braces().await);
    changed_beside_modules: |calls| clones!(calls, ATTEMPTS, |it| it.changed_beside_modules().await);
    field_beside_modules: |calls| clones!(calls, ATTEMPTS, |it| it.field_beside_modules().await);
    blocking_and_changed: |calls| clones!(calls, ATTEMPTS, |it| Box::new(it).blocking_and_changed());
    bound: |calls| clones!(calls, ATTEMPTS, |it| it.bound().await);
    boxed: |calls| clones!(calls, 2 * ATTEMPTS, |it| Box::new(it).boxed().await);
    handed_over_beside_hooks: |calls| clones!(calls, ATTEMPTS, |it| it.handed_over_beside_hooks().await);
    field: |calls| clones!(calls, ATTEMPTS, |it| it.field().await);
    field_with_more: |calls| clones!(calls, ATTEMPTS, |it| it.field_with_more().await);
    loop_over_a_field: |calls| clones!(calls, ATTEMPTS, |it| it.loop_over_a_field().await);
    field_in_a_pattern: |calls| clones!(calls, ATTEMPTS, |it| it.field_in_a_pattern().await);
    blocking: |calls| clones!(calls, ATTEMPTS, |it| it.blocking());
    blocking_and_handed_over: |calls| clones!(calls, ATTEMPTS, |it| it.blocking_and_handed_over().map(drop));
    copied_fields: |calls| clones!(calls, ATTEMPTS, |it| it.copied_fields().await);
    blocking_and_copied: |calls| clones!(calls, ATTEMPTS, |it| it.blocking_and_copied());
    reference: |calls| clones!(calls, ATTEMPTS, |it| it.reference().await);
    copied: |calls| Kind::Large.copied(calls);
    changed_and_shown: |calls| Kind::Large.changed_and_shown(calls);
    shown_beside_a_field: |calls| async { Shown { calls, text: "text".to_owned() }.shown_beside_a_field().await };
}
