//! What rustc says of arguments that a body uses in part.

use std::io;

use reattempt::retry;

mod argument_field_matched {
    //! expect: cannot move out of `request.body` as enum variant `Some` which is behind a shared reference
    use super::*;

    struct Request {
        body: Option<String>,
    }

    #[retry]
    async fn send(request: Request) -> io::Result<String> {
        match request.body {
            Some(text) => Ok(text),
            None => Ok(String::new()),
        }
    }
}

mod argument_field_of_self_matched {
    //! expect: cannot move out of `__self.body` as enum variant `Some` which is behind a shared reference
    use super::*;

    struct Request {
        body: Option<String>,
    }

    impl Request {
        #[retry]
        async fn send(self) -> io::Result<String> {
            if let Some(text) = self.body {
                return Ok(text);
            }
            Ok(String::new())
        }
    }
}

mod argument_field_of_self_used_up {
    //! expect: use of moved value
    use super::*;

    struct Token(String);

    impl Token {
        fn consume(self) -> String {
            self.0
        }
    }

    struct Client {
        token: Token,
    }

    impl Client {
        #[retry]
        async fn send(self) -> io::Result<usize> {
            Ok(self.token.consume().len())
        }
    }
}

mod argument_field_used_up {
    //! expect: cannot move out of `request.body` which is behind a shared reference
    use super::*;

    struct Request {
        id: u32,
        body: Vec<u8>,
    }

    #[retry]
    async fn send(request: Request) -> io::Result<usize> {
        Ok(into_text(request.id, request.body).len())
    }

    fn into_text(id: u32, body: Vec<u8>) -> String {
        format!("{id} {}", String::from_utf8_lossy(&body))
    }
}

mod argument_used_up_by_method {
    //! expect: use of moved value
    use super::*;

    struct Body(Vec<u8>);

    impl Body {
        fn bytes(self) -> Vec<u8> {
            self.0
        }
    }

    #[retry(attempts = 4)]
    async fn send(body: Body) -> io::Result<usize> {
        Ok(body.bytes().len())
    }
}

mod argument_spawned {
    //! expect: `name` does not live long enough
    use super::*;

    async fn send(name: &str) -> io::Result<usize> {
        Ok(name.len())
    }

    #[retry]
    async fn run(name: String) -> io::Result<usize> {
        tokio::spawn(async { send(&name).await }).await?
    }
}

mod run_used_twice {
    //! expect: use of moved value: `run`
    use super::*;
    use reattempt::FAST_IO;

    async fn fetch() -> std::io::Result<u8> {
        let run = FAST_IO.run(async || Ok(7));
        let _ = run.when(|_| true);
        run.when(|_| false).await
    }
}

mod run_macro_moved {
    //! expect: use of moved value
    use super::*;
    use reattempt::run;

    async fn store(_: String) -> io::Result<u8> {
        Ok(1)
    }

    async fn call(text: String) {
        let _ = run!(attempts = 3, async || store(text).await).await;
    }
}

mod policy_delays_borrowed {
    //! expect: `delays` does not live long enough
    use super::*;
    use std::time::Duration;
    use reattempt::Policy;

    const POLICY: Policy = Policy::new();

    async fn call() -> io::Result<u8> {
        let delays: Vec<_> = (1..=3).map(Duration::from_millis).collect();
        POLICY.with_delays(&delays).run(async || io::Result::Ok(7)).await
    }
}

fn main() {}
