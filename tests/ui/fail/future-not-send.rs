//! expect: future cannot be sent between threads safely

use std::io;
use std::rc::Rc;

use reattempt::retry;

#[retry(attempts = 4)]
async fn fetch() -> io::Result<u32> {
    let count = Rc::new(1);
    std::future::ready(()).await;
    Ok(*count)
}

fn assert_send<T: Send>(_: T) {}

fn main() {
    assert_send(fetch());
}
