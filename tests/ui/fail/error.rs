//! Error types without a verdict, or without a place for a `Stopped`.

use reattempt::{FAST_IO, Policy, retry};

#[derive(Debug, thiserror::Error)]
#[error("busy")]
struct MyError;

mod error_foreign_not_stopped {
    //! expect: `ParseIntError` cannot say that a call was stopped by `timeout`, `deadline`, `cancel` or `until`
    use super::*;
    use std::num::ParseIntError;

    #[retry(on = "ParseIntError", deadline = "1s")]
    async fn fetch(text: &str) -> Result<u8, ParseIntError> {
        text.parse()
    }
}

mod error_not_cancelled {
    //! expect: `MyError` cannot say that a call was stopped by `timeout`, `deadline`, `cancel` or `until`
    use super::*;

    #[retry(when = |_| true, cancel = std::future::pending::<()>())]
    async fn fetch() -> Result<u8, MyError> {
        Err(MyError)
    }
}

mod error_not_classified {
    //! expect: `MyError` does not say which of its errors are worth another attempt
    use super::*;

    #[retry]
    async fn fetch() -> Result<u8, MyError> {
        Err(MyError)
    }
}

mod error_not_stopped {
    //! expect: `MyError` cannot say that a call was stopped by `timeout`, `deadline`, `cancel` or `until`
    use super::*;

    #[retry(when = |_| true, timeout = "1s")]
    async fn fetch() -> Result<u8, MyError> {
        Err(MyError)
    }
}

mod error_postgres_not_stopped {
    //! expect: `tokio_postgres::Error` cannot say that a call was stopped by `timeout`, `deadline`, `cancel` or `until`
    use super::*;
    use tokio_postgres::{Client, Error};

    #[retry(deadline = "5s", on_retry = |event| println!("{event:?}"))]
    async fn order(client: &mut Client) -> Result<(), Error> {
        let transaction = client.transaction().await?;
        transaction.execute("UPDATE stock SET left = left - 1", &[]).await?;
        transaction.commit().await
    }
}

mod error_pool_in_transaction {
    //! expect: no transaction of a client fails with `PoolError<tokio_postgres::Error>`
    use super::*;
    use deadpool::managed::PoolError;
    use reattempt::tokio_postgres_0_7::TransactionError;
    use tokio_postgres::Error;

    #[retry]
    async fn order() -> Result<(), TransactionError<PoolError<Error>>> {
        Err(TransactionError::Statement(PoolError::Closed))
    }
}

mod error_reqwest_not_stopped {
    //! expect: `reqwest::Error` cannot say that a call was stopped by `timeout`, `deadline`, `cancel` or `until`
    use super::*;

    #[retry(timeout = "1s")]
    async fn fetch(client: &reqwest::Client) -> reqwest::Result<String> {
        let response = client.get("http://shop.example").send().await?;
        response.error_for_status()?.text().await
    }
}

mod error_string_not_classified {
    //! expect: `String` does not say which of its errors are worth another attempt
    use super::*;

    #[retry(attempts = 4)]
    async fn fetch() -> Result<u8, String> {
        Err("busy".to_owned())
    }
}

mod error_without_effect_unknown {
    //! expect: with `idempotent = false`, only a verdict says that an attempt had no effect, and `String` has none
    use super::*;

    #[retry(attempts = 4, idempotent = false, when = |error| error == "busy")]
    async fn fetch() -> Result<u8, String> {
        Err("busy".to_owned())
    }
}

mod policy_expression_not_stopped {
    //! expect: `Drained` cannot say that a call was stopped by `timeout`, `deadline`, `cancel` or `until`
    use super::*;

    #[derive(Debug)]
    struct Drained;

    struct Client {
        policy: Policy,
    }

    impl Client {
        #[retry(policy = self.policy, when = |_| true)]
        async fn fetch(&self) -> Result<String, Drained> {
            Err(Drained)
        }
    }
}

mod policy_without_limits_and_timeout {
    //! expect: `Late` cannot say that a call was stopped by `timeout`, `deadline`, `cancel` or `until`
    use super::*;

    #[derive(Debug)]
    struct Late;

    #[retry(policy = FAST_IO.without_limits(), timeout = "1s", when = |_| true)]
    async fn fetch() -> Result<String, Late> {
        Err(Late)
    }
}

mod run_not_stopped {
    //! expect: `Failure` cannot say that a call was stopped by a timeout, a deadline, `with_cancel` or `until`
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("failed")]
    struct Failure;

    async fn call() -> Result<u8, Failure> {
        FAST_IO.run(async || Err(Failure)).verdict(|_| reattempt::Verdict::Unknown).await
    }
}

mod run_unboxed_not_stopped {
    //! expect: `Busy` cannot say that a call was stopped by a timeout, a deadline, `with_cancel` or `until`
    //! errors: 3
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("busy")]
    struct Busy;

    async fn call() -> Result<u8, Busy> {
        FAST_IO.run(async || Err(Busy)).verdict(|_| reattempt::Verdict::Unknown).unboxed().await
    }
}

fn main() {}
