//! Names that do not exist.

mod body_unknown_name {
    //! expect: cannot find value `adress` in this scope

    use std::io;

    use reattempt::retry;

    #[retry(attempts = 4)]
    async fn fetch(address: &str) -> io::Result<usize> {
        Ok(adress.len())
    }
}

mod on_unknown_type {
    //! expect: cannot find module or crate `hyper` in this scope

    use std::io;

    use reattempt::retry;

    #[retry(on = "hyper::Error")]
    async fn fetch() -> io::Result<u8> {
        Ok(0)
    }
}

mod policy_unknown {
    //! expect: cannot find value `FAST` in this scope

    use std::io;

    use reattempt::retry;

    #[retry(policy = "FAST")]
    async fn fetch() -> io::Result<u8> {
        Ok(0)
    }
}

mod timeout_unknown_name {
    //! expect: expected value, found module `self`

    use std::io;

    use reattempt::retry;

    #[retry(timeout = self.limit)]
    async fn fetch() -> io::Result<u8> {
        Ok(0)
    }
}

mod when_unknown_function {
    //! expect: cannot find value `is_temporary` in this scope

    use std::io;

    use reattempt::retry;

    #[retry(when = "is_temporary")]
    async fn fetch() -> io::Result<u8> {
        Ok(0)
    }
}

fn main() {}
