//! expect: `delays` is a `Map<std::ops::RangeInclusive<u64>, fn(u64) -> Duration {Duration::from_millis}>`, expected a list of durations
use std::io;
use std::time::Duration;

use reattempt::FAST_IO;

async fn call() -> io::Result<u8> {
    let delays = (1..=3).map(Duration::from_millis);
    FAST_IO.run(async || io::Result::Ok(7)).with_delays(delays).await
}

fn main() {
    let _ = call();
}
