//! expect: found `struct`, expected an async function

use reattempt::retry;

#[retry]
struct Client;

fn main() {
    drop(Client);
}
