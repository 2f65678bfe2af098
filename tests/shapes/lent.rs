//! Arguments that are lent to each attempt through `Option`, `Pin` and patterns, and to the rules beside the body.

use std::cell::Cell;
use std::fmt::Debug;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;

use reattempt::retry;

use crate::{cases, take, Calls};

trait Connection: Send {
    fn ping(&mut self);
}

impl Connection for u32 {
    fn ping(&mut self) {
        *self += 1;
    }
}

#[retry]
async fn optional_mut_reference(
    calls: &Calls,
    count: Option<&mut u32>,
    mut list: Option<&mut Vec<u32>>,
) -> io::Result<u32> {
    if let Some(list) = &mut list {
        list.push(1);
    }
    if let Some(list) = list {
        list.push(2);
        assert_eq!(list.len(), 2 * (calls.count() as usize + 1));
    }
    let count = count.map_or(0, |count| {
        *count += 1;
        *count
    });
    assert_eq!(count, calls.count() + 1);
    calls.fail()
}

#[retry]
async fn optional_trait_object(
    calls: &Calls,
    connection: Option<&mut (dyn Connection + '_)>,
) -> io::Result<u32> {
    if let Some(connection) = connection {
        connection.ping();
    }
    calls.fail()
}

#[retry(timeout = "1s")]
async fn pinned<F: Future<Output = u32> + Send>(
    calls: &Calls,
    future: Pin<&mut F>,
    mut other: Pin<&mut (dyn Connection + Unpin)>,
) -> io::Result<u32> {
    other.as_mut().get_mut().ping();
    if calls.count() == 0 {
        assert_eq!(future.await, 7);
    }
    calls.fail()
}

fn push(list: &mut Vec<u32>) {
    list.push(1);
}

#[retry]
async fn mut_reference_in_a_tuple(
    calls: &Calls,
    (list, text): (&mut Vec<u32>, &str),
) -> io::Result<usize> {
    push(list);
    list.push(2);
    calls.fail::<()>()?;
    Ok(text.len())
}

/// Each attempt gets a clone of a `FnOnce` that is `Clone`.
#[retry]
async fn called_once<F>(calls: &Calls, make: F) -> io::Result<u32>
where
    F: FnOnce() -> u32 + Clone,
{
    let count = make();
    calls.fail::<()>()?;
    Ok(count)
}

fn call<T>(mut function: impl FnMut() -> T) -> T {
    function()
}

const KEPT: &str = "the closure keeps its state from attempt to attempt";

#[retry]
async fn called_mutably(
    calls: &Calls,
    mut next: impl FnMut() -> u32 + Send,
    mut boxed: Box<dyn FnMut(u32) -> u32 + Send>,
) -> io::Result<u32> {
    tokio::task::yield_now().await;
    assert_eq!(boxed(next()), calls.count() + 1, "{KEPT}");
    calls.fail()
}

#[retry(timeout = "1s")]
async fn called_mutably_and_bound_anew<F>(calls: &Calls, next: F) -> io::Result<u32>
where
    F: FnMut() -> u32 + Send,
{
    let mut next = next;
    tokio::task::yield_now().await;
    assert_eq!(next(), calls.count() + 1, "{KEPT}");
    calls.fail()
}

/// Two that each attempt gets by `&mut`, of one type.
#[retry]
async fn handed_over_and_called_mutably<F: FnMut() -> u32 + Send>(
    calls: &Calls,
    left: F,
    mut right: F,
    boxed: Box<dyn FnMut() -> u32 + Send>,
) -> io::Result<u32> {
    tokio::task::yield_now().await;
    let first = right();
    let second = async move { right() }.await;
    assert_eq!(
        (first, second),
        (2 * calls.count() + 1, 2 * calls.count() + 2),
        "{KEPT}"
    );
    assert_eq!(call(left), calls.count() + 1, "{KEPT}");
    let mut inner = move || call(boxed);
    assert_eq!(inner(), calls.count() + 1, "{KEPT}");
    calls.fail()
}

#[retry]
async fn called_mutably_in_a_pattern(
    calls: &Calls,
    (mut next, number): (impl FnMut() -> u32, u32),
) -> io::Result<u32> {
    assert_eq!(next(), calls.count() + number, "{KEPT}");
    calls.fail()
}

/// A future of an async closure is `Send` in no generic code.
#[retry]
async fn called_mutably_and_async(
    calls: &Calls,
    mut next: impl AsyncFnMut(&str) -> u32,
    other: impl AsyncFnMut(&str) -> u32,
) -> io::Result<u32> {
    assert_eq!(next("").await, calls.count() + 1, "{KEPT}");
    let mut other = other;
    assert_eq!(other("").await, calls.count() + 1, "{KEPT}");
    calls.fail()
}

#[tokio::test(start_paused = true)]
async fn async_closures_keep_their_state() {
    let calls = Calls::default();
    let (mut next, mut other) = (counter(), counter());
    let ended = called_mutably_and_async(&calls, async |_: &str| next(), async |_: &str| other());
    assert!(ended.await.is_err());
    assert_eq!(calls.count(), crate::ATTEMPTS);
}

/// Each attempt gets a clone of a `FnMut` that is `Clone`.
#[retry]
async fn called_mutably_and_cloned<F: FnMut() -> u32 + Clone>(
    calls: &Calls,
    mut next: F,
    other: F,
) -> io::Result<u32> {
    assert_eq!(
        (next(), call(other)),
        (1, 1),
        "an attempt starts from what the caller passed"
    );
    calls.fail()
}

struct Source<F>(F);

impl<F: Clone> Source<F> {
    /// The bound `Clone` is that of the `impl`.
    #[retry]
    async fn cloned_by_the_impl(calls: &Calls, mut next: F) -> io::Result<u32>
    where
        F: FnMut() -> u32,
    {
        assert_eq!(next(), 1, "an attempt starts from what the caller passed");
        calls.fail()
    }
}

/// Counts its calls. Not `Clone`.
fn counter() -> impl FnMut() -> u32 + Send {
    let mut count = Box::new(0);
    let mut only = std::sync::Mutex::new(());
    move || {
        drop(only.get_mut());
        *count += 1;
        *count
    }
}

/// Counts its calls. It is `Clone`.
fn cloned_counter() -> impl FnMut() -> u32 + Clone {
    let mut count = 0;
    move || {
        count += 1;
        count
    }
}

#[retry]
async fn iterated(calls: &Calls, items: impl Iterator<Item = u32> + Clone) -> io::Result<u32> {
    let mut sum = 0;
    for item in items {
        sum += item;
    }
    assert_eq!(sum, 6);
    calls.fail()
}

#[retry]
async fn consumed_by_its_methods(
    calls: &Calls,
    name: Option<String>,
    lock: Arc<tokio::sync::Mutex<u32>>,
) -> io::Result<usize> {
    *lock.lock_owned().await += 1;
    let size = name.map(|name| take(name).len()).unwrap_or_default();
    calls.fail::<()>()?;
    Ok(size)
}

#[retry]
async fn dropped(calls: &Calls, shared: Arc<u32>, name: String) -> io::Result<u32> {
    take(name);
    drop(shared.clone());
    calls.fail()
}

#[retry(
    when = |_| name == "name",
    on_retry = |_| assert_eq!(name, "name"),
    before_retry = greet(&name),
)]
async fn seen_by_the_rules(calls: &Calls, name: String, mut size: usize) -> io::Result<usize> {
    size += take(name).len();
    calls.fail::<()>()?;
    Ok(size)
}

async fn greet(name: &str) {
    tokio::task::yield_now().await;
    assert_eq!(name, "name");
}

/// A `before_retry` may give a value instead of `()`.
#[retry(before_retry = async { io::Result::Ok(cursor.len()) })]
async fn prepared_with_a_value(calls: &Calls, cursor: &[u8]) -> io::Result<u8> {
    calls.fail::<()>()?;
    Ok(cursor[0])
}

/// The argument is `Send`, not `Sync`, and the plain function is `Send`.
#[retry]
async fn copied_and_not_sync<T: Copy + Send>(calls: &Calls, value: T) -> io::Result<T> {
    tokio::task::yield_now().await;
    calls.fail::<()>()?;
    Ok(value)
}

/// The same in generic code around the call, where only the bounds count.
async fn around<T: Copy + Send>(calls: &Calls, value: T) {
    fn is_send<F: Future + Send>(future: F) -> F {
        future
    }
    let _ = is_send(copied_and_not_sync(calls, value)).await;
}

struct Parts {
    cell: Cell<u32>,
    name: String,
}

#[retry]
async fn not_sync_in_patterns(
    calls: &Calls,
    (left, right): (Cell<u32>, u32),
    Parts { cell, name }: Parts,
) -> io::Result<u32> {
    left.set(right);
    cell.set(left.get());
    tokio::task::yield_now().await;
    let size = take(name).len();
    assert_eq!(size, 4);
    calls.fail::<()>()?;
    Ok(cell.get())
}

#[retry]
async fn cloned_and_not_sync(calls: &Calls, cell: Cell<u32>) -> io::Result<u32> {
    let cell = cell.clone();
    assert_eq!(cell.get(), 0);
    cell.set(1);
    tokio::task::yield_now().await;
    calls.fail()
}

/// The result borrows from another argument than the one that is not `Sync`.
#[retry]
async fn not_sync_beside_the_result<'a>(
    calls: &Calls,
    cell: &mut Cell<u32>,
    text: &'a str,
) -> io::Result<&'a str> {
    cell.set(cell.get() + 1);
    tokio::task::yield_now().await;
    calls.fail::<()>()?;
    Ok(text)
}

/// Is lent. It is not `Clone`.
struct Noted(String);

fn noted() -> Noted {
    Noted("name".into())
}

impl AsRef<str> for Noted {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl AsRef<[u8]> for Noted {
    fn as_ref(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

fn length(name: impl AsRef<str>) -> usize {
    name.as_ref().len()
}

/// The body calls a method of the `str`, for which `as_ref` must give no other type.
#[retry(when = |_: &io::Error| name.as_ref().trim().len() == 4)]
async fn seen_as_text(calls: &Calls, name: impl AsRef<str>) -> io::Result<usize> {
    let size = name.as_ref().trim().len();
    assert_eq!(length(name), size);
    tokio::task::yield_now().await;
    calls.fail()
}

#[retry(timeout = "1s")]
async fn seen_as_bytes<B>(calls: &Calls, bytes: B) -> io::Result<usize>
where
    B: AsRef<[u8]> + Send + Sync,
{
    let bytes = async move { bytes.as_ref().len() };
    calls.fail::<()>()?;
    Ok(bytes.await)
}

/// A list that is `Sync`, although its elements are not.
struct Nothing;

impl AsRef<[*const u8]> for Nothing {
    fn as_ref(&self) -> &[*const u8] {
        &[]
    }
}

/// A `&[*const u8]` is not `Send`, so the list itself is lent.
#[retry]
async fn seen_as_pointers(calls: &Calls, list: impl AsRef<[*const u8]> + Sync) -> io::Result<()> {
    let list = take(list);
    tokio::task::yield_now().await;
    assert_eq!(list.as_ref().len(), 0);
    calls.fail()
}

struct Name<'a>(&'a str);

impl<'a> AsRef<Name<'a>> for Name<'static> {
    fn as_ref(&self) -> &Name<'a> {
        self
    }
}

/// The bound has a lifetime that the body cannot name.
#[retry]
async fn seen_with_any_lifetime(
    calls: &Calls,
    name: impl for<'a> AsRef<Name<'a>> + Sync,
) -> io::Result<()> {
    assert_eq!(take(name).as_ref().0, "name");
    calls.fail()
}

struct Printer<T>(T);

impl<T: Debug> Printer<T> {
    /// The `impl` has another bound, which the body needs.
    #[retry]
    async fn seen_and_printed(calls: &Calls, value: T) -> io::Result<String>
    where
        T: AsRef<str>,
    {
        let size = value.as_ref().len();
        let printed = format!("{:?}", take(value));
        assert_eq!(printed.len(), size + 2);
        calls.fail()
    }
}

#[retry]
#[expect(
    unused_mut,
    reason = "lints of an argument are heard where it is bound"
)]
async fn lint_of_the_function(calls: &Calls, mut text: String) -> io::Result<usize> {
    calls.fail::<()>()?;
    Ok(take(text).len())
}

#[retry]
async fn lint_of_the_argument(
    calls: &Calls,
    #[allow(
        unused_mut,
        reason = "lints of an argument are heard where it is bound"
    )]
    mut text: String,
) -> io::Result<impl Debug> {
    calls.fail::<()>()?;
    Ok(take(text).len())
}

cases! {
    optional_mut_reference: |calls| optional_mut_reference(calls, Some(&mut 0), Some(&mut Vec::new()));
    optional_trait_object: |calls| optional_trait_object(calls, Some(&mut 0_u32));
    pinned: |calls| pinned(calls, Pin::new(&mut std::future::ready(7)), Pin::new(&mut 0_u32) as Pin<&mut (dyn Connection + Unpin)>);
    mut_reference_in_a_tuple: |calls| mut_reference_in_a_tuple(calls, (&mut Vec::new(), ""));
    called_once: |calls| called_once(calls, || 1);
    called_mutably: |calls| called_mutably(calls, counter(), Box::new(|count| count));
    called_mutably_and_bound_anew: |calls| called_mutably_and_bound_anew(calls, counter());
    handed_over_and_called_mutably: |calls| handed_over_and_called_mutably(calls, counter(), counter(), Box::new(counter()));
    called_mutably_in_a_pattern: |calls| called_mutably_in_a_pattern(calls, (counter(), 1));
    called_mutably_and_cloned: |calls| called_mutably_and_cloned(calls, cloned_counter(), cloned_counter());
    cloned_by_the_impl: |calls| Source::cloned_by_the_impl(calls, Source(cloned_counter()).0);
    iterated: |calls| iterated(calls, 1..4);
    consumed_by_its_methods: |calls| consumed_by_its_methods(calls, Some(String::new()), Arc::default());
    dropped: |calls| dropped(calls, Arc::new(1), "text".to_owned());
    seen_by_the_rules: |calls| seen_by_the_rules(calls, "name".into(), 0);
    prepared_with_a_value: |calls| prepared_with_a_value(calls, &[1]);
    copied_and_not_sync: |calls| around(calls, 1);
    not_sync_in_patterns: |calls| not_sync_in_patterns(calls, (Cell::new(0), 1), Parts { cell: Cell::new(0), name: "name".into() });
    cloned_and_not_sync: |calls| cloned_and_not_sync(calls, Cell::new(0));
    not_sync_beside_the_result: |calls| not_sync_beside_the_result(calls, &mut Cell::new(0), "");
    seen_as_text: |calls| seen_as_text(calls, noted());
    seen_as_bytes: |calls| seen_as_bytes(calls, noted());
    seen_as_pointers: |calls| seen_as_pointers(calls, Nothing);
    seen_with_any_lifetime: |calls| seen_with_any_lifetime(calls, Name("name"));
    seen_and_printed: |calls| Printer::seen_and_printed(calls, Printer("name").0);
    lint_of_the_function: |calls| lint_of_the_function(calls, String::new());
    lint_of_the_argument: |calls| lint_of_the_argument(calls, String::new());
}
