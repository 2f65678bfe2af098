//! expect: `Rc<str>` cannot be shared between threads safely
//! errors: 2
use std::io;
use std::rc::Rc;

use reattempt::FAST_IO;

async fn call(name: Rc<str>) -> io::Result<usize> {
    FAST_IO.run(async || io::Result::Ok(name.len())).await
}

fn main() {
    let _ = call("a".into());
}
