//! Arguments: borrowed, handed over, patterns, `mut`.

use std::cell::Cell;
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::Arc;

use reattempt::retry;

use crate::{cases, take, Calls};

/// Not `Clone`.
#[derive(Debug, Default)]
struct Job {
    size: usize,
}

impl Job {
    fn size(&self) -> usize {
        self.size
    }
}

fn push(list: &mut Vec<u32>, calls: &Calls) {
    list.push(calls.count());
}

#[retry]
async fn owned_and_borrowed(calls: &Calls, job: Job, text: String) -> io::Result<usize> {
    let size = job.size() + text.len() + job.size;
    calls.fail::<()>()?;
    Ok(size)
}

#[retry]
async fn owned_and_handed_over(calls: &Calls, text: String, list: Vec<u8>) -> io::Result<usize> {
    assert_eq!(text, "whole");
    assert_eq!(list, [1, 2]);
    let size = take(text).len() + take(list).len();
    calls.fail::<()>()?;
    Ok(size)
}

#[retry]
async fn moved_into_a_block(calls: &Calls, text: String, job: Job) -> io::Result<usize> {
    let job = &job;
    let inner = async move { text.len() + job.size() };
    let size = inner.await;
    calls.fail::<()>()?;
    Ok(size)
}

#[retry]
async fn into_something(calls: &Calls, text: String) -> io::Result<usize> {
    let bytes = text.into_bytes();
    assert_eq!(bytes, b"whole");
    calls.fail::<()>()?;
    Ok(bytes.len())
}

#[retry]
async fn mut_argument_does_not_leak(
    calls: &Calls,
    mut count: u32,
    mut list: Vec<u8>,
) -> io::Result<u32> {
    assert_eq!(
        (count, list.len()),
        (7, 0),
        "an attempt starts from what the caller passed"
    );
    count += 1;
    list.push(1);
    calls.fail::<()>()?;
    Ok(count)
}

#[retry]
async fn mut_reference(calls: &Calls, list: &mut Vec<u32>) -> io::Result<()> {
    list.push(calls.count());
    push(list, calls);
    assert_eq!(list.len(), 2 * (calls.count() as usize + 1));
    calls.fail()
}

#[retry]
async fn mut_reference_in_move_block(calls: &Calls, list: &mut Vec<u32>) -> io::Result<()> {
    let inner = async move { list.push(1) };
    inner.await;
    calls.fail()
}

#[retry]
async fn mut_binding_of_mut_reference(calls: &Calls, mut buffer: &mut [u8]) -> io::Result<usize> {
    assert_eq!(buffer.len(), 4, "each attempt sees the whole buffer");
    buffer = &mut buffer[2..];
    buffer[0] = 1;
    calls.fail::<()>()?;
    Ok(buffer.len())
}

#[retry]
async fn mut_binding_that_is_written_to(calls: &Calls, mut buffer: &mut [u8]) -> io::Result<()> {
    // Writing moves the start of the slice. Each attempt begins with the whole slice.
    buffer.write_all(&[1; 3])?;
    calls.fail()
}

#[retry]
async fn mut_binding_of_reference(calls: &Calls, mut buffer: &[u8]) -> io::Result<usize> {
    assert_eq!(buffer.len(), 4);
    buffer = &buffer[2..];
    calls.fail::<()>()?;
    Ok(buffer.len())
}

#[retry]
async fn tuple_pattern(calls: &Calls, (left, mut right): (String, Vec<u8>)) -> io::Result<usize> {
    right.push(1);
    assert_eq!(right.len(), 1);
    let size = take(left).len() + right.len();
    calls.fail::<()>()?;
    Ok(size)
}

#[retry]
async fn struct_pattern(calls: &Calls, Job { size }: Job) -> io::Result<usize> {
    calls.fail::<()>()?;
    Ok(size)
}

#[retry]
async fn reference_pattern(calls: &Calls, &(left, ref right): &(u8, String)) -> io::Result<usize> {
    let size = usize::from(left) + right.len();
    calls.fail::<()>()?;
    Ok(size)
}

#[retry]
async fn wildcard(calls: &Calls, _: u8, _unused: String) -> io::Result<usize> {
    calls.fail()
}

#[retry]
async fn impl_trait(
    calls: &Calls,
    path: impl AsRef<Path>,
    name: impl Into<String> + Clone,
) -> io::Result<usize> {
    let name: String = name.into();
    let size = path.as_ref().as_os_str().len() + name.len();
    let again = by_path(path);
    calls.fail::<()>()?;
    Ok(size + again)
}

fn by_path(path: impl AsRef<Path>) -> usize {
    path.as_ref().as_os_str().len()
}

/// A path that is not `Clone`.
struct Place(String);

impl AsRef<Path> for Place {
    fn as_ref(&self) -> &Path {
        self.0.as_ref()
    }
}

#[retry]
async fn callback(calls: &Calls, observe: impl Fn(u32) + Send + Sync) -> io::Result<()> {
    observe(calls.count());
    calls.fail()
}

#[retry]
async fn dynamic(calls: &Calls, observe: Box<dyn Fn(u32) + Send>) -> io::Result<()> {
    observe(calls.count());
    tokio::task::yield_now().await;
    calls.fail()
}

/// A plain function that owns a `Cell`, which is not `Sync`, is `Send`.
#[retry]
async fn owned_and_not_sync(calls: &Calls, cell: Cell<u32>) -> io::Result<u32> {
    cell.set(cell.get() + 1);
    // The cell is borrowed, so that it keeps what the attempts before have changed.
    assert_eq!(cell.get(), calls.count() + 1);
    tokio::task::yield_now().await;
    calls.fail()
}

#[derive(Clone)]
struct Keys(Vec<String>);

impl Keys {
    fn inner(self) -> Vec<String> {
        self.0
    }
}

#[retry]
async fn inner_by_value(calls: &Calls, keys: Keys) -> io::Result<usize> {
    let key = || keys.clone().inner().into_iter().next();
    let size = key().map_or(0, |key| key.len());
    assert_eq!(size, 3);
    calls.fail()
}

struct Counted {
    list: Vec<u32>,
    sizes: (usize, [u8; 2]),
}

/// The pattern binds references to the parts.
#[retry]
async fn parts_of_a_mutable_argument(
    calls: &Calls,
    Counted {
        list,
        sizes: (count, [first, _]),
    }: &mut Counted,
) -> io::Result<usize> {
    push(list, calls);
    *count += 1;
    *first += 1;
    assert_eq!((list.len(), *count), (*first as usize, *first as usize));
    calls.fail::<()>()?;
    Ok(*count)
}

/// Neither `Clone` nor `Sync`.
struct Connection(Cell<u32>);

impl Connection {
    fn inner(&self) -> &Cell<u32> {
        &self.0
    }
}

#[retry]
async fn inner_by_reference(calls: &Calls, connection: Connection) -> io::Result<u32> {
    connection.inner().set(1);
    tokio::task::yield_now().await;
    calls.fail()
}

#[retry]
async fn mutable_in_an_option(calls: &Calls, keys: Option<Keys>) -> io::Result<usize> {
    if let Some(mut keys) = keys {
        keys.0.push(String::new());
        assert_eq!(keys.0.len(), 2);
    }
    calls.fail()
}

#[retry]
async fn shared(calls: &Calls, shared: Arc<Job>) -> io::Result<usize> {
    let held = take(shared.clone());
    calls.fail::<()>()?;
    Ok(held.size + shared.size)
}

#[retry]
async fn cfg_argument(
    calls: &Calls,
    #[cfg(not(any()))] kept: String,
    #[cfg(any())] left_out: Missing,
) -> io::Result<usize> {
    let size = take(kept).len();
    calls.fail::<()>()?;
    Ok(size)
}

#[retry]
async fn const_generic<const N: usize>(calls: &Calls, bytes: [u8; N]) -> io::Result<usize> {
    let size = take(bytes).len();
    calls.fail::<()>()?;
    Ok(size)
}

#[retry]
#[expect(clippy::uninlined_format_args, reason = "an argument in each place")]
async fn in_a_format_string(calls: &Calls, job: Job, text: String) -> io::Result<String> {
    let line = format!("{text} {:?} {job:?}", job);
    calls.fail::<()>()?;
    Ok(line)
}

struct Subject(String);

impl AsRef<str> for Subject {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

/// The argument is not `Clone`, and the body hands over another value of its name.
#[retry]
async fn bound_anew(calls: &Calls, name: Subject) -> io::Result<String> {
    let name = name.as_ref();
    let text = String::from(name);
    calls.fail::<()>()?;
    Ok(text)
}

#[derive(Clone, Debug)]
struct Letter {
    id: u32,
    body: Vec<u8>,
}

#[retry]
async fn field_handed_over(calls: &Calls, letter: Letter) -> io::Result<String> {
    let id = letter.id;
    let text = String::from_utf8(letter.body).unwrap_or_default();
    calls.fail::<()>()?;
    Ok(format!("{id} {text}"))
}

struct Envelope<'a> {
    number: u32,
    reader: &'a mut Vec<u8>,
}

fn fill(number: u32, reader: &mut Vec<u8>) -> usize {
    reader.push(1);
    reader.len() + number as usize
}

/// The argument is not `Clone`. The next attempt can use a field again that was copied or reborrowed.
#[retry]
async fn fields_that_are_found_again(
    calls: &Calls,
    envelope: &mut Envelope<'_>,
) -> io::Result<usize> {
    let size = fill(envelope.number, envelope.reader);
    calls.fail::<()>()?;
    Ok(size)
}

#[allow(unused_qualifications, reason = "not in the prelude of edition 2018")]
#[retry]
async fn converted<T: std::convert::TryInto<u8> + Clone + Send>(
    calls: &Calls,
    number: T,
) -> io::Result<u8> {
    let number = number.try_into().unwrap_or_default();
    calls.fail::<()>()?;
    Ok(number)
}

trait ToKey {
    fn to_key(&self) -> String;
}

impl ToKey for Subject {
    fn to_key(&self) -> String {
        self.0.clone()
    }
}

impl<T: ToKey> ToKey for &T {
    fn to_key(&self) -> String {
        (**self).to_key()
    }
}

fn key(key: impl ToKey) -> String {
    key.to_key()
}

/// The argument is not `Clone`, and a reference meets the bound.
#[retry]
async fn bound_that_a_reference_has(
    calls: &Calls,
    name: impl ToKey + Send + Sync,
) -> io::Result<String> {
    let text = key(name);
    tokio::task::yield_now().await;
    calls.fail::<()>()?;
    Ok(text)
}

cases! {
    bound_that_a_reference_has: |calls| bound_that_a_reference_has(calls, Subject(String::new()));
    parts_of_a_mutable_argument: |calls| async { parts_of_a_mutable_argument(calls, &mut Counted { list: vec![], sizes: (0, [0; 2]) }).await };
    inner_by_value: |calls| inner_by_value(calls, Keys(vec!["key".into()]));
    inner_by_reference: |calls| inner_by_reference(calls, Connection(Cell::new(0)));
    mutable_in_an_option: |calls| mutable_in_an_option(calls, Some(Keys(vec!["key".into()])));
    bound_anew: |calls| bound_anew(calls, Subject(String::new()));
    field_handed_over: |calls| field_handed_over(calls, Letter { id: 1, body: vec![1] });
    fields_that_are_found_again: |calls| async { fields_that_are_found_again(calls, &mut Envelope { number: 1, reader: &mut vec![] }).await };
    converted: |calls| converted(calls, 1_u16);
    owned_and_borrowed: |calls| owned_and_borrowed(calls, Job::default(), "whole".into());
    owned_and_handed_over: |calls| owned_and_handed_over(calls, "whole".into(), vec![1, 2]);
    moved_into_a_block: |calls| moved_into_a_block(calls, "whole".into(), Job::default());
    into_something: |calls| into_something(calls, "whole".into());
    mut_argument_does_not_leak: |calls| mut_argument_does_not_leak(calls, 7, Vec::new());
    mut_reference: |calls| mut_reference(calls, &mut Vec::new());
    mut_reference_in_move_block: |calls| mut_reference_in_move_block(calls, &mut Vec::new());
    mut_binding_of_mut_reference: |calls| mut_binding_of_mut_reference(calls, &mut [0; 4]);
    mut_binding_that_is_written_to: |calls| mut_binding_that_is_written_to(calls, &mut [0; 4]);
    mut_binding_of_reference: |calls| mut_binding_of_reference(calls, &[0; 4]);
    tuple_pattern: |calls| tuple_pattern(calls, ("whole".into(), Vec::new()));
    struct_pattern: |calls| struct_pattern(calls, Job::default());
    reference_pattern: |calls| reference_pattern(calls, &(1, String::new()));
    wildcard: |calls| wildcard(calls, 1, String::new());
    impl_trait: |calls| impl_trait(calls, Place("place".into()), "name");
    callback: |calls| callback(calls, |_| ());
    dynamic: |calls| dynamic(calls, Box::new(|_| ()));
    owned_and_not_sync: |calls| owned_and_not_sync(calls, Cell::new(0));
    shared: |calls| shared(calls, Arc::default());
    cfg_argument: |calls| cfg_argument(calls, String::new());
    const_generic: |calls| const_generic(calls, [0; 4]);
    in_a_format_string: |calls| in_a_format_string(calls, Job::default(), "text".into());
}
