//! Bodies: how they fail.

use std::io;

use reattempt::retry;

use crate::{cases, Calls};

macro_rules! bail {
    ($error:expr) => {
        return Err($error)
    };
}

#[retry]
async fn question_mark(calls: &Calls) -> io::Result<u8> {
    let value: u8 = calls.fail()?;
    Ok(value)
}

#[retry]
async fn early_return(calls: &Calls) -> io::Result<u8> {
    if calls.up() < 100 {
        return Err(io::ErrorKind::TimedOut.into());
    }
    Ok(1)
}

#[retry]
async fn tail(calls: &Calls) -> io::Result<u8> {
    calls.fail()
}

#[retry]
async fn bails(calls: &Calls) -> io::Result<u8> {
    calls.up();
    bail!(io::ErrorKind::TimedOut.into());
}

#[retry]
async fn question_mark_in_vec(calls: &Calls) -> io::Result<Vec<u8>> {
    Ok(vec![1, calls.fail()?, 3])
}

#[retry]
async fn question_mark_in_select(calls: &Calls) -> io::Result<u8> {
    let value = tokio::select! {
        value = async { calls.fail::<u8>() } => value?,
        () = std::future::pending() => 0,
    };
    Ok(value)
}

#[retry]
async fn question_mark_in_try_join(calls: &Calls) -> io::Result<u8> {
    let (left, _right) = tokio::try_join!(async { calls.fail::<u8>() }, async {
        Ok::<_, io::Error>(2)
    })?;
    Ok(left)
}

#[retry]
async fn within_a_closure(calls: &Calls) -> io::Result<u8> {
    let read = || -> io::Result<u8> { calls.fail::<u8>() };
    Ok(read()? + 1)
}

#[retry]
async fn within_an_inner_block(calls: &Calls) -> io::Result<u8> {
    let inner = async {
        let value: u8 = calls.fail()?;
        Ok::<_, io::Error>(value)
    };
    inner.await
}

#[retry]
async fn within_a_move_block(calls: &Calls) -> io::Result<u8> {
    let inner = async move {
        let value: u8 = calls.fail()?;
        Ok::<_, io::Error>(value)
    };
    inner.await
}

#[retry]
async fn labelled_loops(calls: &Calls) -> io::Result<u8> {
    'outer: for _ in 0..3 {
        for _ in 0..3 {
            if calls.up() <= 100 {
                break 'outer;
            }
        }
    }
    Err(io::ErrorKind::TimedOut.into())
}

#[retry]
async fn awaits_first(calls: &Calls) -> io::Result<u8> {
    tokio::task::yield_now().await;
    calls.fail()
}

#[retry]
async fn never_succeeds(calls: &Calls) -> io::Result<std::convert::Infallible> {
    loop {
        calls.fail::<()>()?;
    }
}

#[retry(when_ok = |status: &u16| *status >= 500)]
async fn failure_within_ok(calls: &Calls) -> io::Result<u16> {
    calls.up();
    Ok(503)
}

#[retry(until = Option::is_some)]
async fn not_ready(calls: &Calls) -> io::Result<Option<u16>> {
    calls.up();
    Ok(None)
}

#[retry]
async fn inner_attributes(calls: &Calls) -> io::Result<u8> {
    #![allow(
        unused_variables,
        reason = "an inner attribute that has something to do"
    )]
    let unused = 1;
    calls.fail()
}

cases! {
    question_mark: |calls| question_mark(calls);
    early_return: |calls| early_return(calls);
    tail: |calls| tail(calls);
    bails: |calls| bails(calls);
    question_mark_in_vec: |calls| question_mark_in_vec(calls);
    question_mark_in_select: |calls| question_mark_in_select(calls);
    question_mark_in_try_join: |calls| question_mark_in_try_join(calls);
    within_a_closure: |calls| within_a_closure(calls);
    within_an_inner_block: |calls| within_an_inner_block(calls);
    within_a_move_block: |calls| within_a_move_block(calls);
    labelled_loops: |calls| labelled_loops(calls);
    awaits_first: |calls| awaits_first(calls);
    never_succeeds: |calls| never_succeeds(calls);
    failure_within_ok: |calls| failure_within_ok(calls);
    not_ready: |calls| not_ready(calls);
    inner_attributes: |calls| inner_attributes(calls);
}
