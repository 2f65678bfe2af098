//! Arguments: `mut`, `&mut`, patterns, by value, generic.

use std::fmt::Display;
use std::io;
use std::sync::Arc;

async fn send(text: String) -> io::Result<usize> {
    tokio::task::yield_now().await;
    Ok(text.len())
}

async fn send_text(text: impl AsRef<str>) -> io::Result<usize> {
    send(text.as_ref().to_owned()).await
}

/// Not `Clone`.
#[derive(Debug)]
pub struct Job {
    pub size: usize,
}

impl Job {
    const fn grow(&mut self) {
        self.size += 1;
    }
}

#[reattempt::retry]
pub async fn none() -> io::Result<usize> {
    send(String::new()).await
}

#[reattempt::retry(timeout = "1s")]
pub async fn handed_over(text: String) -> io::Result<usize> {
    send(text).await
}

#[reattempt::retry]
pub async fn owned_and_consumed(text: String, job: Job) -> io::Result<usize> {
    let size = job.size + send(text).await?;
    Ok(size)
}

#[reattempt::retry(timeout = "1s")]
pub async fn converted<N: Into<String>>(text: impl Into<String>, name: N) -> io::Result<usize> {
    let text = text.into();
    Ok(send(text).await? + send(name.into()).await?)
}

#[reattempt::retry(hedge = "20ms")]
pub async fn handed_over_to_a_hedge(text: String) -> io::Result<usize> {
    send(text).await
}

#[reattempt::retry]
pub async fn converted_if_there(text: Option<impl Into<String>>) -> io::Result<usize> {
    send(text.map_or_else(String::new, Into::into)).await
}

#[reattempt::retry]
pub async fn seen_as_text<N: AsRef<str> + Sync>(
    text: impl AsRef<str> + Sync,
    name: N,
) -> io::Result<usize> {
    Ok(send_text(text).await? + send_text(name).await?)
}

#[reattempt::retry]
pub async fn mut_argument(mut text: String, mut count: usize) -> io::Result<usize> {
    text.push('x');
    count += send(text).await?;
    Ok(count)
}

#[reattempt::retry]
pub async fn mut_reference(job: &mut Job, list: &mut Vec<usize>) -> io::Result<usize> {
    job.grow();
    list.push(send(String::new()).await?);
    Ok(job.size)
}

#[reattempt::retry]
pub async fn mut_binding(mut bytes: &[u8]) -> io::Result<usize> {
    let mut sum = 0;
    while let [first, rest @ ..] = bytes {
        sum += usize::from(*first) + send(String::new()).await?;
        bytes = rest;
    }
    Ok(sum)
}

#[reattempt::retry(deadline = "1s")]
pub async fn patterns(
    (left, mut right): (String, Vec<u8>),
    Job { size }: Job,
    &(byte, ref text): &(u8, String),
    [first, ..]: [u8; 2],
) -> io::Result<usize> {
    right.push(byte);
    right.push(first);
    Ok(send(left).await? + right.len() + size + text.len())
}

#[reattempt::retry]
pub async fn ignored(_: u8, _text: String) -> io::Result<usize> {
    send(String::new()).await
}

#[reattempt::retry]
pub async fn generic<T: Display + Clone + Send + Sync>(value: T, list: &[T]) -> io::Result<usize> {
    let text = format!("{value}{}", list.len());
    send(text).await
}

#[reattempt::retry]
pub async fn impl_trait(text: impl Into<String> + Clone + Send + Sync) -> io::Result<usize> {
    send(text.into()).await
}

#[reattempt::retry]
pub async fn lifetimes<'a>(text: &'a str, _other: &str) -> io::Result<&'a str> {
    send(text.to_owned()).await?;
    Ok(text)
}

#[reattempt::retry]
pub async fn in_a_move_block(text: String, shared: Arc<Job>) -> io::Result<usize> {
    let task = tokio::spawn(async move { send(text).await.map(|size| size + shared.size) });
    task.await.map_err(io::Error::other)?
}

#[reattempt::retry]
pub async fn r#match(r#type: String) -> io::Result<usize> {
    send(r#type).await
}

#[reattempt::retry]
pub async fn shadows(text: String) -> io::Result<usize> {
    let size = {
        let text = text.trim().to_owned();
        send(text).await?
    };
    Ok(size + text.len())
}

#[reattempt::retry]
pub async fn callback(mut observe: impl FnMut(usize) + Clone + Send) -> io::Result<()> {
    observe(send(String::new()).await?);
    Ok(())
}

/// Each attempt borrows these by `&mut`.
///
#[reattempt::retry]
pub async fn callbacks_with_state(
    mut called: impl FnMut(usize) + Send,
    handed_over: impl FnMut(usize) -> usize + Send,
    anew: Box<dyn FnMut(usize) + Send>,
    mut both: impl FnMut(usize) + Send,
) -> io::Result<usize> {
    let mut anew = anew;
    anew(1);
    called(send(String::new()).await?);
    both(2);
    let within = async move { both(3) };
    within.await;
    Ok([1, 2].into_iter().map(handed_over).sum())
}

/// Something to send.
pub trait Message {
    /// Its text.
    fn text(&self) -> String;
}

impl<T: Message> Message for &T {
    fn text(&self) -> String {
        (*self).text()
    }
}

async fn send_message(message: impl Message + Sync) -> io::Result<usize> {
    send(message.text()).await
}

#[reattempt::retry]
pub async fn lent_by_its_bound(message: impl Message + Send + Sync) -> io::Result<usize> {
    send_message(message).await
}

/// Its parts.
#[derive(Debug)]
pub struct Parts {
    /// One.
    pub number: usize,
    /// The other.
    pub text: String,
}

#[reattempt::retry]
pub async fn in_parts(parts: Parts) -> io::Result<usize> {
    let number = parts.number;
    let size = send(parts.text.clone()).await?;
    Ok(usize::max(number, parts.number) + size)
}

/// A part of it exists only in tests.
#[derive(Debug)]
pub struct Conditional {
    /// Always there.
    pub text: String,
    /// The other.
    #[cfg(test)]
    pub gone: String,
    /// The third.
    #[cfg(not(test))]
    pub there: String,
}

#[reattempt::retry]
pub async fn under_a_cfg(
    Conditional {
        text,
        #[cfg(test)]
            gone: there,
        #[cfg(not(test))]
        #[expect(unused_mut, reason = "the lint is heard")]
        mut there,
    }: Conditional,
    #[cfg(test)] gone: String,
    #[cfg_attr(all(), expect(unused_variables, reason = "the lint is heard"))] number: usize,
) -> io::Result<usize> {
    let other = Conditional {
        text,
        #[cfg(test)]
        gone,
        #[cfg(not(test))]
        there,
    };
    send(other.text).await
}
