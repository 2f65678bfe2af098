//! expect: `T` is lent to each attempt and is not `Sync`, so the future would not be `Send`

use std::fmt::Debug;
use std::io;

use reattempt::retry;

fn show<T: Debug>(value: T) -> String {
    format!("{value:?}")
}

fn main() {
    tokio::spawn(send(std::cell::Cell::new(1)));
}

#[retry]
async fn send<T: Debug + Send>(value: T) -> io::Result<String> {
    tokio::task::yield_now().await;
    Ok(show(value))
}
