//! Bodies: items at the head, `return`, `?`, one line, loops, macros.

use std::io;

async fn send(text: &str) -> io::Result<usize> {
    tokio::task::yield_now().await;
    Ok(text.len())
}

#[rustfmt::skip]
#[reattempt::retry]
pub async fn one_line(text: &str) -> io::Result<usize> { send(text).await }

#[rustfmt::skip]
#[reattempt::retry]
pub async fn one_line_after_cfg(text: &str) -> io::Result<usize> { #[cfg(windows)] drop(send("").await?); send(text).await }

#[rustfmt::skip]
#[reattempt::retry(blocking)]
pub fn one_line_after_two_cfg(text: &str) -> io::Result<usize> { #[cfg(windows)] use std::iter; #[cfg(windows)] let text = iter::once(text).collect::<String>(); text.parse().map_err(io::Error::other) }

#[rustfmt::skip]
#[reattempt::retry]
pub async fn one_line_after_cfg_that_holds(text: &str) -> io::Result<usize> { #[cfg(not(windows))] use std::convert::identity; #[cfg(windows)] let identity = |text| text; send(identity(text)).await }

#[reattempt::retry]
pub async fn begins_with_use(text: &str) -> io::Result<String> {
    use std::fmt::Write as _;

    let mut line = String::new();
    write!(line, "{}", send(text).await?).map_err(io::Error::other)?;
    Ok(line)
}

#[reattempt::retry(timeout = "1s")]
pub async fn begins_with_items(text: &str) -> io::Result<usize> {
    const MOST: usize = 10;
    struct Length(usize);
    fn cut(length: &Length) -> usize {
        length.0.min(MOST)
    }

    Ok(cut(&Length(send(text).await?)))
}

#[reattempt::retry(deadline = "1s")]
pub async fn returns_early(text: &str) -> io::Result<usize> {
    if text.is_empty() {
        return Ok(0);
    }
    let size = send(text).await?;
    if size > 10 {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    Ok(size)
}

#[reattempt::retry]
pub async fn question_mark_only(text: &str) -> io::Result<()> {
    send(text).await?;
    Ok(())
}

#[reattempt::retry]
pub async fn loops(texts: &[&str]) -> io::Result<usize> {
    let mut sum = 0;
    'all: for text in texts {
        loop {
            match send(text).await {
                Ok(0) => continue 'all,
                Ok(size) if size > 100 => break 'all,
                Ok(size) if size > 50 => sum += size,
                Ok(_) => break,
                Err(error) => return Err(error),
            }
        }
    }
    Ok(sum)
}

#[reattempt::retry(timeout = "1s")]
pub async fn selects(text: &str) -> io::Result<usize> {
    tokio::select! {
        size = send(text) => size,
        size = send("other") => Ok(size? + 1),
    }
}

#[reattempt::retry]
pub async fn joins(text: &str) -> io::Result<usize> {
    let (left, right) = tokio::try_join!(send(text), send("other"))?;
    Ok(left + right)
}

#[reattempt::retry]
pub async fn match_is_the_body(text: Option<&str>) -> io::Result<usize> {
    match text {
        Some(text) => send(text).await,
        None => Ok(0),
    }
}

#[reattempt::retry]
pub async fn starts_with_parentheses(text: &str) -> io::Result<usize> {
    (send(text).await).map(|size| size + 1)
}

#[reattempt::retry]
pub async fn never_ok(text: &str) -> io::Result<()> {
    send(text).await?;
    Err(io::ErrorKind::ConnectionReset.into())
}

///
/// # Panics
///
/// If it is empty.
#[reattempt::retry]
pub async fn panics(text: &str) -> io::Result<usize> {
    assert!(!text.is_empty(), "empty");
    send(text).await
}

#[reattempt::retry]
pub async fn coerces() -> io::Result<Box<dyn std::fmt::Display + Send>> {
    let size = send("").await?;
    Ok(Box::new(size))
}

/// Words that are a client's methods elsewhere.
#[reattempt::retry(idempotent = true)]
pub async fn names_of_methods(text: &str) -> io::Result<usize> {
    let (commit, post) = (send(text).await?, send("").await?);
    Ok(commit + post)
}

/// Closures.
pub async fn closures(text: &str) -> io::Result<usize> {
    let (mut calls, mut refused) = (0, 0);
    let sent = reattempt::run!(
        attempts = 2,
        timeout = "1s",
        before_retry = async |error| refused += usize::from(error.is_some()),
        async || {
            calls += 1;
            send(text).await
        }
    );
    let read = reattempt::run!(blocking, attempts = 2, || -> io::Result<usize> {
        Ok(std::fs::read_to_string(text)?.len())
    });
    Ok(sent.await? + read? + calls + refused)
}
