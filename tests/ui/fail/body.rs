//! Mistakes in a body are reported where they are.

use std::io;

use reattempt::retry;

mod body_missing_tail {
    //! expect: mismatched types
    use super::*;

    #[retry(attempts = 4)]
    async fn fetch() -> io::Result<u32> {
        std::future::ready(()).await;
    }
}

mod body_self_span {
    //! expect: no field `adress` on type `&Client`
    use super::*;

    struct Client {
        address: String,
    }

    impl Client {
        #[retry(attempts = 4)]
        async fn fetch(&self) -> io::Result<usize> {
            Ok(self.adress.len())
        }
    }
}

mod body_type_mismatch {
    //! expect: mismatched types
    use super::*;

    #[retry(attempts = 4)]
    async fn fetch() -> io::Result<u32> {
        let zero: u32 = "zero";
        Ok(zero)
    }
}

mod body_wrong_question_mark {
    //! expect: `?` couldn't convert the error to `MyError`
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("busy")]
    struct MyError;

    #[retry(when = |_| true)]
    async fn fetch(text: &str) -> Result<u32, MyError> {
        let number = text.parse::<u32>()?;
        Ok(number)
    }
}

mod blocking_body_type_mismatch {
    //! expect: mismatched types
    use super::*;

    #[retry(blocking)]
    fn fetch() -> io::Result<u8> {
        let zero: u8 = "zero";
        Ok(zero)
    }
}

mod blocking_missing_tail {
    //! expect: mismatched types
    use super::*;

    #[retry(blocking)]
    fn fetch() -> io::Result<u8> {
        println!("no value at the end");
    }
}

fn main() {}
