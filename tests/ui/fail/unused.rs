//! Lints see the function as it was written.

use std::io;

use reattempt::retry;

mod unused_argument {
    //! expect: unused variable: `request`

    #![deny(unused_variables)]
    use super::*;

    #[retry(attempts = 4)]
    async fn fetch(request: String) -> io::Result<u32> {
        Ok(0)
    }
}

mod unused_function {
    //! expect: function `fetch` is never used

    #![deny(dead_code)]
    use super::*;

    #[retry(attempts = 4)]
    async fn fetch() -> io::Result<u32> {
        Ok(0)
    }
}

mod unused_must_use {
    //! expect: unused implementer of `Future` that must be used

    #![deny(unused_must_use)]
    use super::*;

    #[retry(attempts = 4)]
    async fn fetch() -> io::Result<u32> {
        Ok(0)
    }

    fn main() {
        fetch();
    }
}

mod unused_result_in_body {
    //! expect: unused `Result` that must be used

    #![deny(unused_must_use)]
    use super::*;

    #[retry(attempts = 4)]
    async fn fetch() -> io::Result<u32> {
        "1".parse::<u32>();
        Ok(0)
    }
}

mod unused_variable_in_body {
    //! expect: unused variable: `unused`

    #![deny(unused_variables)]
    use super::*;

    #[retry(attempts = 4)]
    async fn fetch() -> io::Result<u32> {
        let unused = 5;
        Ok(0)
    }
}

fn main() {}
