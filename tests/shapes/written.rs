//! Ways to write a function and its attribute: by a macro, with generic settings, beside `#[async_trait]`, on a
//! receiver that is handed over.

use std::cell::Cell;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures::future::BoxFuture;
use reattempt::retry;

use crate::{cases, take, Calls};

macro_rules! function {
    ($(#[$meta:meta])* $vis:vis $name:ident($calls:ident: $ty:ty, $pattern:pat, $other:ty) -> $output:ty $body:block) => {
        $(#[$meta])*
        #[retry(timeout = "1s")]
        $vis async fn $name($calls: $ty, $pattern: $other) -> $output $body
    };
}

function! {
    /// A body that is a single fragment of a macro.
    pub(crate) from_fragments(calls: &Calls, (text, _), (String, u8)) -> io::Result<usize> {
        let size = take(text).len();
        calls.fail::<()>()?;
        Ok(size)
    }
}

macro_rules! method {
    ($name:ident, $this:ident, $($body:tt)*) => {
        #[retry]
        async fn $name(&mut $this) -> io::Result<u32> { $($body)* }
    };
}

struct Client<'c> {
    calls: &'c Calls,
    sent: u32,
    wait: Duration,
    cell: Cell<u32>,
}

impl<'c> Client<'c> {
    fn new(calls: &'c Calls) -> Self {
        Self {
            calls,
            sent: 0,
            wait: Duration::from_secs(1),
            cell: Cell::new(0),
        }
    }

    method!(self_of_a_macro, self, self.sent += 1; self.calls.fail());
    method!(
        self_of_a_macro_moved,
        self,
        async move {
            self.sent += 1;
            self.calls.fail()
        }
        .await
    );

    fn project(self: Pin<&mut Self>) -> &mut u32 {
        &mut self.get_mut().sent
    }

    /// A method takes the pinned reference by value, and a field is not `Sync`.
    #[retry]
    async fn pinned(self: Pin<&mut Self>) -> io::Result<u32> {
        self.cell.set(1);
        tokio::task::yield_now().await;
        let calls = self.calls;
        *self.project() += 1;
        calls.fail()
    }

    /// The type of `self` is spelled out.
    #[retry]
    #[expect(clippy::needless_arbitrary_self_type, reason = "the point of the case")]
    async fn spelled_out(self: &mut Self) -> io::Result<u32> {
        let sent = async move {
            self.sent += 1;
            self.calls.fail()
        };
        sent.await
    }

    /// The body hands the reference itself over.
    #[retry]
    async fn handed_on(&mut self) -> io::Result<u32> {
        let (this, _) = take((self, 1));
        this.sent += 1;
        let this = Some(this);
        this.map_or(Ok(0), |this| this.calls.fail())
    }

    #[retry]
    async fn bound_by_an_arm(&mut self) -> io::Result<u32> {
        match self {
            Self { sent: 100.., .. } => Ok(1),
            this => {
                this.sent += 1;
                this.calls.fail()
            }
        }
    }

    #[retry(blocking, base = "0s")]
    fn handed_on_while_blocking(&mut self) -> io::Result<u32> {
        let this = self;
        this.sent += 1;
        this.calls.fail()
    }

    /// The result borrows for a longer time than `&mut self`.
    #[retry]
    async fn borrows_from_elsewhere<'a>(&mut self, text: &'a str) -> io::Result<&'a str> {
        self.cell.set(self.cell.get() + 1);
        tokio::task::yield_now().await;
        self.calls.fail::<()>()?;
        Ok(text)
    }

    /// Items in the body that have their own `self`.
    #[retry]
    async fn items_within(&mut self) -> io::Result<u32> {
        struct Inner(u32);
        impl Inner {
            fn get(&self) -> u32 {
                self.0
            }
        }
        let inner = Inner(1).get();
        let sent = async move {
            self.sent += inner;
            self.calls.fail::<()>()?;
            Ok(self.sent)
        };
        sent.await
    }
}

#[derive(Debug)]
struct Shared(Arc<Calls>);

impl Shared {
    #[retry]
    async fn handed_to_a_task(self: Arc<Self>) -> io::Result<u32> {
        let task = tokio::spawn(async move {
            assert_ne!(format!("{self:?}"), "");
            self.0.fail()
        });
        task.await?
    }
}

/// The task owns an `Arc` of the calls, because it outlives the borrow.
async fn in_a_task(calls: &Calls) {
    let own = Arc::new(Calls::default());
    let _ = Arc::new(Shared(Arc::clone(&own))).handed_to_a_task().await;
    for _ in 0..own.count() {
        calls.up();
    }
}

#[async_trait]
trait Store: Send {
    async fn limited(&mut self) -> io::Result<u32>;
    async fn ruled(&mut self, name: String) -> io::Result<u32>;
}

#[async_trait]
impl Store for Client<'_> {
    /// The attribute uses `self`, which `#[async_trait]` renames in the body.
    #[retry(timeout = self.wait)]
    async fn limited(&mut self) -> io::Result<u32> {
        self.wait += Duration::from_secs(1);
        tokio::task::yield_now().await;
        self.calls.fail()
    }

    #[retry(when = |_| self.sent > 0 && name == "name", before_retry = pause(&mut self.sent))]
    async fn ruled(&mut self, name: String) -> io::Result<u32> {
        use std::fmt::{self, Write as _};
        self.sent += 1;
        let take = 4;
        let mut text = self::take(name);
        text.truncate(take);
        fmt::write(&mut text, format_args!("")).map_err(io::Error::other)?;
        write!(text, ".").map_err(io::Error::other)?;
        assert_eq!(text, "name.");
        self.calls.fail()
    }
}

async fn pause(sent: &mut u32) {
    tokio::task::yield_now().await;
    *sent += 1;
}

/// The function makes a value before the future, which hands it over.
#[retry]
fn made_before_the_future<'a>(calls: &'a Calls, text: &str) -> BoxFuture<'a, io::Result<usize>> {
    let owned = text.to_owned();
    Box::pin(async move {
        let size = take(owned).len();
        calls.fail::<()>()?;
        Ok(size)
    })
}

#[retry]
#[expect(clippy::manual_async_fn, reason = "the point of the case")]
fn opaque_after_work(calls: &Calls) -> impl Future<Output = io::Result<u32>> + Send + '_ {
    async move { calls.fail() }
}

trait Limits {
    const MOST: u32;
}

impl Limits for Client<'_> {
    const MOST: u32 = 3;
}

#[retry(attempts = MOST)]
async fn attempts_from_a_const_parameter<const MOST: u32>(calls: &Calls) -> io::Result<u32> {
    calls.fail()
}

#[retry(attempts = L::MOST)]
async fn attempts_from_a_type_parameter<L: Limits>(calls: &Calls) -> io::Result<u32> {
    calls.fail()
}

static LIMIT: std::sync::LazyLock<Duration> = std::sync::LazyLock::new(|| Duration::from_secs(1));

#[retry(timeout = *LIMIT)]
async fn limit_behind_a_static(calls: &Calls) -> io::Result<u32> {
    calls.fail()
}

cases! {
    from_fragments: |calls| from_fragments(calls, (String::new(), 1));
    self_of_a_macro: |calls| Client::new(calls).self_of_a_macro();
    self_of_a_macro_moved: |calls| Client::new(calls).self_of_a_macro_moved();
    pinned: |calls| Pin::new(&mut Client::new(calls)).pinned();
    spelled_out: |calls| Client::new(calls).spelled_out();
    handed_on: |calls| Client::new(calls).handed_on();
    bound_by_an_arm: |calls| Client::new(calls).bound_by_an_arm();
    handed_on_while_blocking: |calls| std::future::ready(Client::new(calls).handed_on_while_blocking());
    borrows_from_elsewhere: |calls| Client::new(calls).borrows_from_elsewhere("");
    items_within: |calls| Client::new(calls).items_within();
    in_a_task: |calls| in_a_task(calls);
    limited: |calls| Client::new(calls).limited();
    ruled: |calls| Client::new(calls).ruled("name".into());
    made_before_the_future: |calls| made_before_the_future(calls, "text");
    opaque_after_work: |calls| opaque_after_work(calls);
    attempts_from_a_const_parameter: |calls| attempts_from_a_const_parameter::<3>(calls);
    attempts_from_a_type_parameter: |calls| attempts_from_a_type_parameter::<Client<'_>>(calls);
    limit_behind_a_static: |calls| limit_behind_a_static(calls);
}
