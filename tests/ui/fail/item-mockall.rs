//! expect: expected non-macro attribute, found attribute macro `retry`
//! errors: 6

use std::io;

use mockall::automock;
use reattempt::retry;

pub struct Shop;

#[automock]
impl Shop {
    #[retry(attempts = 3)]
    pub async fn price(&self, item: u32) -> io::Result<u32> {
        Ok(item)
    }
}

fn main() {}
