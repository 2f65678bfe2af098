//! expect: `std::io::Error` can never be found inside `Busy`

use std::io;

use reattempt::retry;

/// It does not implement `std::error::Error`, so the search cannot look for its causes.
struct Busy;

#[retry(on = "io::Error")]
async fn fetch() -> Result<u8, Busy> {
    Err(Busy)
}

mod in_a_box {
    //! expect: `std::io::Error` can never be found inside `reattempt::Error<Box<dyn std::error::Error + Send + Sync>>`
    use std::error::Error;
    use std::io;

    use reattempt::retry;

    #[retry(on = "io::Error", timeout = "1s")]
    async fn fetch() -> Result<u8, reattempt::Error<Box<dyn Error + Send + Sync>>> {
        Ok(7)
    }
}

fn main() {}
