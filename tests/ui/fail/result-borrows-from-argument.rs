//! expect: the result borrows from `buffer`: the next attempt cannot have it

use std::io;

use reattempt::retry;

async fn fill(buffer: &mut [u8]) -> io::Result<usize> {
    Ok(buffer.len())
}

#[retry]
async fn read(buffer: &mut [u8]) -> io::Result<&mut [u8]> {
    let size = fill(buffer).await?;
    Ok(&mut buffer[..size])
}

fn main() {}
