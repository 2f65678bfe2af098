//! Arguments that the first attempt uses up.

use std::io;

use reattempt::retry;

struct Request {
    text: String,
}

mod argument_awaited {
    //! expect: `F` is used up by the first attempt, and it is not `Clone`

    // A future can be awaited once.
    use super::*;

    #[retry]
    async fn wait<F: Future<Output = u8>>(future: F) -> io::Result<u8> {
        Ok(future.await)
    }
}

mod argument_called_once {
    //! expect: `impl FnOnce() -> u8` is used up by the first attempt, and it is not `Clone`

    // Each attempt would call a function that can be called only once.
    use super::*;

    #[retry]
    async fn call(make: impl FnOnce() -> u8) -> std::io::Result<u8> {
        Ok(make())
    }
}

mod argument_mut_not_clone {
    //! expect: `Body` is used up by the first attempt, and it is not `Clone`
    use super::*;

    struct Body(Vec<u8>);

    #[retry(attempts = 4)]
    async fn send(mut body: Body) -> io::Result<usize> {
        body.0.push(0);
        Ok(body.0.len())
    }
}

mod argument_self_used_up {
    //! expect: `self` is moved, and each attempt needs it again: `Request` is not `Clone`
    use super::*;

    fn send(request: Request) -> Vec<u8> {
        request.text.into_bytes()
    }

    impl Request {
        #[retry]
        async fn run(self) -> io::Result<usize> {
            let size = self.text.len();
            Ok(size + send(self).len())
        }
    }
}

mod blocking_argument_used_up {
    //! expect: `Upload` is used up by the first attempt, and it is not `Clone`
    use super::*;

    struct Upload;

    fn send(_upload: Upload) -> io::Result<()> {
        Ok(())
    }

    #[retry(blocking)]
    fn post(upload: Upload) -> io::Result<()> {
        send(upload)
    }
}

fn main() {}
