//! expect: `drop(answers)` drops no more than a clone: the next attempt needs `answers`
//!
//! A body that then reads the channel to its end would wait for ever, because the call keeps a sender.

use std::io;

use reattempt::retry;
use tokio::sync::mpsc;

#[retry]
async fn collect(name: String, answers: mpsc::Sender<String>) -> io::Result<Vec<String>> {
    drop(answers);
    Ok(vec![name])
}

fn main() {}
