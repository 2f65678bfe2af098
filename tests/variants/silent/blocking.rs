//! Functions that are not async.

use std::fmt::Display;
use std::io::{self, Read};
use std::rc::Rc;
use std::sync::Arc;

fn send(text: String) -> io::Result<usize> {
    let bytes = text.into_bytes();
    if bytes.is_empty() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    Ok(bytes.len())
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

#[reattempt::retry(blocking)]
pub fn none() -> io::Result<usize> {
    send(String::new())
}

#[reattempt::retry(blocking, deadline = "1s")]
pub fn handed_over(text: String) -> io::Result<usize> {
    send(text)
}

#[reattempt::retry(blocking)]
pub fn changed(mut text: String, mut left: usize) -> io::Result<usize> {
    text.push('!');
    left += 1;
    Ok(send(text)? + left)
}

#[reattempt::retry(blocking)]
pub fn cloned(text: String, job: &mut Job) -> io::Result<usize> {
    job.grow();
    send(text)
}

#[reattempt::retry(blocking)]
pub fn shown(what: impl Display, list: &mut Vec<String>) -> io::Result<()> {
    let text = what.to_string();
    send(text.clone())?;
    list.push(text);
    Ok(())
}

#[reattempt::retry(blocking)]
pub fn read(mut source: impl Read + Clone, handle: Rc<str>) -> io::Result<(Rc<str>, String)> {
    let mut text = String::new();
    let _ = source.read_to_string(&mut text)?;
    Ok((handle, text))
}

#[reattempt::retry(blocking)]
pub fn taken_apart((left, right): (String, String), [first, ..]: [u8; 2]) -> io::Result<usize> {
    Ok(send(left)? + send(right)? + usize::from(first))
}

#[reattempt::retry(blocking)]
pub fn listed(bytes: &[u8]) -> io::Result<impl Iterator<Item = u8>> {
    let first = *bytes.first().ok_or(io::ErrorKind::UnexpectedEof)?;
    Ok(bytes.iter().map(move |byte| byte ^ first))
}

#[reattempt::retry(
    blocking,
    attempts = attempts,
    on_retry = |event| drop(event.function().to_owned()),
    before_retry = job.grow(),
    on_end = |report| drop(report.clone()),
)]
pub fn heard(job: &mut Job, attempts: u32) -> io::Result<usize> {
    job.grow();
    Ok(send(attempts.to_string())? + job.size)
}

#[reattempt::retry(blocking, before_retry = || -> io::Result<()> { send(String::new()).map(drop) })]
pub fn made_ready(text: &str) -> io::Result<usize> {
    send(text.to_owned())
}

#[derive(Debug, Clone)]
pub struct Client {
    pub name: String,
    pub sent: usize,
}

impl Client {
    #[reattempt::retry(blocking)]
    pub fn handed_over(self) -> io::Result<Option<Self>> {
        let _ = send(self.name.clone())?;
        Ok(Some(self))
    }

    #[reattempt::retry(blocking)]
    pub fn in_parts(self) -> io::Result<usize> {
        send(self.name)
    }

    #[reattempt::retry(blocking)]
    pub fn by_reference(&self) -> io::Result<&str> {
        send(self.name.clone())?;
        Ok(&self.name)
    }

    #[reattempt::retry(blocking)]
    pub fn by_mutable_reference(&mut self, text: String) -> io::Result<usize> {
        self.sent += send(text)?;
        Ok(self.sent)
    }

    #[reattempt::retry(blocking)]
    pub fn by_value(self) -> io::Result<usize> {
        send(self.name.to_uppercase())
    }

    #[reattempt::retry(blocking)]
    pub fn by_handle(self: Arc<Self>) -> io::Result<Arc<Self>> {
        send(self.name.clone())?;
        Ok(self)
    }
}

#[tracing::instrument(skip_all)]
#[reattempt::retry(blocking)]
pub fn traced(text: String) -> io::Result<usize> {
    send(text)
}
