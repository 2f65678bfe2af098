//! Functions that are not async, with `blocking`: arguments, receivers, bodies, results.

#![allow(clippy::needless_pass_by_value, reason = "shapes that people write")]

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::HashMap;
use std::error::Error;
use std::fmt::Display;
use std::io::{self, Read};
use std::rc::Rc;
use std::sync::Arc;

use reattempt::retry;

use crate::{cases, Calls};

#[retry(blocking, base = "0s")]
fn question_mark(calls: &Calls) -> io::Result<u8> {
    let value: u8 = calls.fail()?;
    Ok(value)
}

#[retry(blocking, base = "0s")]
fn early_return(calls: &Calls) -> io::Result<u8> {
    if calls.up() < 100 {
        return Err(io::ErrorKind::TimedOut.into());
    }
    Ok(1)
}

#[retry(blocking, base = "0s")]
fn tail(calls: &Calls) -> io::Result<u8> {
    calls.fail()
}

#[retry(blocking, base = "0s")]
fn labelled_loops(calls: &Calls) -> io::Result<u8> {
    'outer: for _ in 0..3 {
        for _ in 0..3 {
            if calls.up() <= 100 {
                break 'outer;
            }
        }
    }
    Err(io::ErrorKind::TimedOut.into())
}

#[retry(blocking, base = "0s")]
fn never_succeeds(calls: &Calls) -> io::Result<std::convert::Infallible> {
    loop {
        calls.fail::<()>()?;
    }
}

#[retry(blocking, base = "0s")]
fn question_mark_in_a_closure(calls: &Calls) -> io::Result<Vec<u8>> {
    let read = |_| -> io::Result<u8> { Ok(calls.fail::<u8>()? + 1) };
    (0..3_u8).map(read).collect()
}

#[retry(blocking, base = "0s", when = |_| true)]
fn converts_errors(calls: &Calls) -> Result<u8, Box<dyn Error>> {
    let value: u8 = calls.fail()?;
    Ok("7".parse::<u8>()? + value)
}

#[retry(blocking, base = "0s", on = "io::Error")]
fn of_anyhow(calls: &Calls) -> anyhow::Result<u8> {
    let value: u8 = calls.fail()?;
    anyhow::ensure!(value > 0, "nothing");
    anyhow::bail!("one")
}

#[retry(blocking, base = "0s")]
fn coerced(calls: &Calls, deep: bool) -> io::Result<Box<dyn Display>> {
    if deep {
        let value: u8 = calls.fail()?;
        return Ok(Box::new(value));
    }
    Ok(Box::new("text"))
}

#[retry(blocking, base = "0s")]
fn gives_an_iterator<'a>(
    calls: &Calls,
    list: &'a [u8],
) -> io::Result<impl Iterator<Item = u8> + 'a> {
    calls.fail::<()>()?;
    Ok(list.iter().map(|byte| byte + 1))
}

#[retry(blocking, base = "0s")]
fn borrowed(calls: &Calls, text: String, list: Vec<u8>) -> io::Result<usize> {
    calls.fail::<()>()?;
    Ok(text.len() + list.len())
}

fn take(text: String, list: Vec<u8>) -> usize {
    text.into_bytes().len() + list.into_boxed_slice().len()
}

#[retry(blocking, base = "0s")]
fn handed_over(calls: &Calls, text: String, list: Vec<u8>) -> io::Result<usize> {
    let length = take(text, list);
    calls.fail::<()>()?;
    Ok(length)
}

struct Request {
    body: Vec<u8>,
    name: &'static str,
}

#[retry(blocking, base = "0s")]
fn in_parts(calls: &Calls, request: Request) -> io::Result<usize> {
    let Request { body, name } = &request;
    calls.fail::<()>()?;
    Ok(body.len() + name.len() + request.body.len())
}

#[retry(blocking, base = "0s")]
fn cloned(calls: &Calls, body: Vec<u8>) -> io::Result<Box<[u8]>> {
    let body = body.into_boxed_slice();
    calls.fail::<()>()?;
    Ok(body)
}

#[retry(blocking, base = "0s")]
fn own(calls: &Calls, mut list: Vec<u8>, mut left: u32) -> io::Result<Vec<u8>> {
    list.push(1);
    left -= 1;
    assert_eq!((list.len(), left), (1, 6), "each starts from the caller's");
    calls.fail::<()>()?;
    Ok(list)
}

#[retry(blocking, base = "0s")]
fn changes_what_it_is_lent(
    calls: &Calls,
    list: &mut Vec<u8>,
    end: Option<&mut u8>,
) -> io::Result<()> {
    list.push(1);
    if let Some(end) = end {
        *end += 1;
    }
    calls.fail()
}

#[retry(blocking, base = "0s")]
fn patterns(
    calls: &Calls,
    (left, right): (String, u8),
    Request { body, .. }: Request,
    [first, ..]: [u8; 3],
    _: u8,
    r#type: u8,
) -> io::Result<usize> {
    let length = left.len() + body.len();
    calls.fail::<()>()?;
    Ok(length + usize::from(right + first + r#type))
}

#[retry(blocking, base = "0s")]
fn reads(
    calls: &Calls,
    mut source: impl Read + Clone,
    sink: &mut dyn io::Write,
) -> io::Result<u64> {
    let copied = io::copy(&mut source, sink)?;
    assert_eq!(copied, 3, "each attempt reads from the beginning");
    calls.fail()
}

#[retry(blocking, base = "0s")]
fn generic<T, const N: usize>(calls: &Calls, things: [T; N], key: &T) -> io::Result<T>
where
    T: Clone + PartialEq,
{
    calls.fail::<()>()?;
    let found = IntoIterator::into_iter(things).find(|thing| thing == key);
    found.ok_or_else(|| io::ErrorKind::NotFound.into())
}

#[retry(blocking, base = "0s")]
fn longest<'a>(calls: &Calls, left: &'a str, right: &'a str) -> io::Result<Cow<'a, str>> {
    calls.fail::<()>()?;
    Ok(if left.len() > right.len() {
        left.into()
    } else {
        right.into()
    })
}

#[retry(blocking, base = "0s")]
fn local(calls: &Calls, shared: Rc<Vec<u8>>) -> io::Result<Rc<Vec<u8>>> {
    calls.fail::<()>()?;
    Ok(shared)
}

/// A type that is neither `Clone` nor `Sync`.
struct Page(Cell<u8>);

// The attribute refuses this in an async function, whose future may cross threads.
#[retry(blocking, base = "0s")]
fn moved_into_a_closure(calls: &Calls, page: Page) -> io::Result<u8> {
    let page = &page;
    let read = move || page.0.get();
    calls.fail::<()>()?;
    Ok(read())
}

#[retry(blocking, base = "0s")]
fn calls_a_closure(
    calls: &Calls,
    make: impl Fn(u8) -> u8,
    mut each: impl FnMut() + Clone,
) -> io::Result<u8> {
    each();
    calls.fail::<()>()?;
    Ok(make(1))
}

fn call<T>(mut function: impl FnMut() -> T) -> T {
    function()
}

#[retry(blocking, base = "0s")]
fn calls_closures_with_state<F: FnMut() -> u32>(
    calls: &Calls,
    mut next: F,
    other: impl FnMut() -> u32,
    anew: Box<dyn FnMut() -> u32>,
) -> io::Result<()> {
    let mut anew = anew;
    assert_eq!(
        [next(), call(other), anew()],
        [calls.count() + 1; 3],
        "they keep their state from attempt to attempt"
    );
    calls.fail()
}

#[retry(blocking, base = "0s", before_retry = ready.push(1))]
fn made_ready_by_an_expression(calls: &Calls, ready: &mut Vec<u8>) -> io::Result<()> {
    assert_eq!(
        ready.len(),
        calls.count() as usize,
        "once before each retry"
    );
    calls.fail()
}

#[retry(blocking, base = "0s", before_retry = || -> io::Result<()> { ready.push(1); Ok(()) })]
fn made_ready_by_a_closure(calls: &Calls, ready: &mut Vec<u8>) -> io::Result<()> {
    assert_eq!(
        ready.len(),
        calls.count() as usize,
        "once before each retry"
    );
    calls.fail()
}

#[derive(Clone, Default)]
struct Client {
    name: String,
    pages: HashMap<u8, String>,
    sent: u32,
}

impl Client {
    #[retry(blocking, base = "0s")]
    fn page(&self, calls: &Calls, number: u8) -> io::Result<&str> {
        calls.fail::<()>()?;
        let page = self.pages.get(&number);
        page.map(String::as_str)
            .ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    #[retry(blocking, base = "0s", before_retry = self.reconnect())]
    fn send(&mut self, calls: &Calls) -> io::Result<u32> {
        self.sent += 1;
        calls.fail::<()>()?;
        Ok(self.sent)
    }

    fn reconnect(&mut self) -> io::Result<()> {
        self.name.push('!');
        if self.name.len() > 2 {
            Err(io::ErrorKind::NotConnected.into())
        } else {
            Ok(())
        }
    }

    #[retry(blocking, delays = ["0s", "0s"])]
    fn consumed(self, calls: &Calls) -> io::Result<usize> {
        calls.fail::<()>()?;
        Ok(self.name.len())
    }

    #[retry(blocking, base = "0s")]
    fn shared(self: Arc<Self>, calls: &Calls) -> io::Result<Arc<Self>> {
        calls.fail::<()>()?;
        Ok(self)
    }

    #[retry(blocking, base = "0s")]
    fn made(calls: &Calls, name: impl Into<String> + Clone) -> io::Result<Self> {
        calls.fail::<()>()?;
        Ok(Self {
            name: name.into(),
            ..Self::default()
        })
    }
}

trait Fetch {
    fn fetch(&mut self, calls: &Calls) -> io::Result<u8>;

    #[retry(blocking, base = "0s")]
    fn fetch_twice(&mut self, calls: &Calls) -> io::Result<u8> {
        calls.fail::<()>()?;
        Ok(self.fetch(calls)? + self.fetch(calls)?)
    }
}

impl Fetch for Client {
    #[retry(blocking, base = "0s")]
    fn fetch(&mut self, calls: &Calls) -> io::Result<u8> {
        self.sent += 1;
        calls.fail()
    }
}

#[retry(blocking, base = "0s")]
#[tracing::instrument(skip_all)]
fn traced_below(calls: &Calls, list: Vec<u8>) -> io::Result<Vec<u8>> {
    calls.fail::<()>()?;
    Ok(list)
}

#[tracing::instrument(skip_all)]
#[retry(blocking, base = "0s")]
fn traced_above(calls: &Calls, list: Vec<u8>) -> io::Result<Vec<u8>> {
    calls.fail::<()>()?;
    Ok(list)
}

fn request() -> Request {
    Request {
        body: vec![1],
        name: "x",
    }
}

cases! {
    question_mark: |calls| async { question_mark(calls) };
    early_return: |calls| async { early_return(calls) };
    tail: |calls| async { tail(calls) };
    labelled_loops: |calls| async { labelled_loops(calls) };
    never_succeeds: |calls| async { never_succeeds(calls) };
    question_mark_in_a_closure: |calls| async { question_mark_in_a_closure(calls) };
    converts_errors: |calls| async { drop(converts_errors(calls)) };
    of_anyhow: |calls| async { of_anyhow(calls) };
    coerced: |calls| async { drop(coerced(calls, true)) };
    gives_an_iterator: |calls| async { gives_an_iterator(calls, &[1]).map(Iterator::count) };
    borrowed: |calls| async { borrowed(calls, String::new(), vec![]) };
    handed_over: |calls| async { handed_over(calls, String::new(), vec![]) };
    in_parts: |calls| async { in_parts(calls, request()) };
    cloned: |calls| async { cloned(calls, vec![]) };
    own: |calls| async { own(calls, vec![], 7) };
    changes_what_it_is_lent: |calls| async {
        let (mut list, mut last) = (vec![], 0);
        let _ = changes_what_it_is_lent(calls, &mut list, Some(&mut last));
        assert_eq!((list.len(), last), (3, 3), "changes stay");
    };
    patterns: |calls| async { patterns(calls, (String::new(), 1), request(), [1; 3], 1, 1) };
    reads: |calls| async { reads(calls, &b"abc"[..], &mut io::sink()) };
    generic: |calls| async { generic(calls, ["a".to_owned()], &"b".to_owned()) };
    longest: |calls| async { longest(calls, "a", "b") };
    local: |calls| async { drop(local(calls, Rc::new(vec![]))) };
    moved_into_a_closure: |calls| async { moved_into_a_closure(calls, Page(Cell::new(1))) };
    calls_a_closure: |calls| async { calls_a_closure(calls, |byte| byte, || ()) };
    calls_closures_with_state: |calls| async {
        let (mut next, mut other, mut anew) = (0, 0, 0);
        let next = || { next += 1; next };
        let other = || { other += 1; other };
        let anew = Box::new(move || { anew += 1; anew });
        calls_closures_with_state(calls, next, other, anew)
    };
    made_ready_by_an_expression: |calls| async { made_ready_by_an_expression(calls, &mut vec![]) };
    made_ready_by_a_closure: |calls| async { made_ready_by_a_closure(calls, &mut vec![]) };
    page: |calls| async { Client::default().page(calls, 1).map(str::len) };
    send: |calls| async {
        let mut client = Client::default();
        let _ = client.send(calls);
        assert_eq!((client.sent, &*client.name), (3, "!!"), "changes stay");
    };
    consumed: |calls| async { Client::default().consumed(calls) };
    shared: |calls| async { Arc::new(Client::default()).shared(calls).map(drop) };
    made: |calls| async { Client::made(calls, "x").map(drop) };
    fetch: |calls| async { Client::default().fetch(calls) };
    fetch_twice: |calls| async { Client::default().fetch_twice(calls) };
    traced_below: |calls| async { traced_below(calls, vec![]) };
    traced_above: |calls| async { traced_above(calls, vec![]) };
}
