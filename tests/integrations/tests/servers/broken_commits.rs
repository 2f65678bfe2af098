//! A ledger of transfers, and a proxy that breaks the exchange of each first commit: after each of its bytes.

use std::error::Error as StdError;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::Context as _;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use integrations::commit_proxy::{self, End, Passed};
use integrations::postgres::{self, Server};
use reattempt::tokio_postgres_0_7::{TransactionError, commit};
use reattempt::{Policy, Retryable, Stopped, Verdict, retry};
use tokio::runtime::Handle;
use tokio_postgres::{Client, Error};

/// Books a transfer. A second run of it books it again.
async fn book(port: u16, id: i32) -> Result<(), TransactionError<Error>> {
    let mut client = postgres::connect(&postgres::url(port)).await?;
    let transaction = client.transaction().await?;
    let insert = format!("INSERT INTO transfer VALUES ({id})");
    transaction.batch_execute(&insert).await?;
    commit(transaction).await
}

#[derive(Debug, thiserror::Error, Retryable)]
#[retryable(forward)]
enum Shown {
    #[error("not booked")]
    Transaction(#[from] TransactionError<Error>),
}

/// The chain of this error leaves out the error inside.
#[derive(Debug, thiserror::Error, Retryable)]
#[retryable(forward)]
enum Hidden {
    #[error(transparent)]
    Transaction(#[from] TransactionError<Error>),
}

impl From<Stopped> for Hidden {
    fn from(stopped: Stopped) -> Self {
        Self::Transaction(stopped.into())
    }
}

#[retry(base = "1ms", budget = "none", on = "Error")]
async fn itself(port: u16, id: i32) -> Result<(), TransactionError<Error>> {
    book(port, id).await
}

#[retry(base = "1ms", budget = "none", on = "TransactionError<Error>")]
async fn named(port: u16, id: i32) -> Result<(), TransactionError<Error>> {
    book(port, id).await
}

#[retry(base = "1ms", budget = "none", on = "io::Error | Error")]
async fn with_context(port: u16, id: i32) -> anyhow::Result<()> {
    book(port, id).await.context("not booked")
}

#[retry(base = "1ms", budget = "none", on = "Error", when = |_| true)]
async fn boxed(port: u16, id: i32) -> Result<(), Box<dyn StdError + Send + Sync>> {
    Ok(book(port, id).await?)
}

/// The kind of the error outside is transient by itself.
#[retry(base = "1ms", budget = "none", on = "io::Error")]
async fn in_io(port: u16, id: i32) -> io::Result<()> {
    let reset = |error| io::Error::new(io::ErrorKind::ConnectionReset, error);
    book(port, id).await.map_err(reset)
}

#[retry(base = "1ms", budget = "none", on = "Shown | Error")]
async fn shown(port: u16, id: i32) -> Result<(), Shown> {
    Ok(book(port, id).await?)
}

#[retry(base = "1ms", budget = "none", on = "Hidden | Error")]
async fn hidden(port: u16, id: i32) -> Result<(), Hidden> {
    Ok(book(port, id).await?)
}

#[retry(base = "1ms", budget = "none", on = "Error")]
async fn hidden_deeper(port: u16, id: i32) -> anyhow::Result<()> {
    Ok(book(port, id).await.map_err(Hidden::from)?)
}

#[retry(blocking, base = "1ms", budget = "none", on = "Error")]
fn blocking(port: u16, id: i32) -> Result<(), Arc<TransactionError<Error>>> {
    Handle::current().block_on(book(port, id)).map_err(Arc::new)
}

async fn by_a_policy(port: u16, id: i32) -> Result<(), Hidden> {
    let policy = Policy::new().with_base(Duration::from_millis(1));
    let run = policy.run(|| async { Ok(book(port, id).await?) });
    run.on::<Hidden>().on::<Error>().without_budget().await
}

async fn by_a_verdict(port: u16, id: i32) -> Result<(), Hidden> {
    let policy = Policy::new().with_base(Duration::from_millis(1));
    let run = policy.run(|| async { Ok(book(port, id).await?) });
    let run = run.verdict(|_: &Hidden| Verdict::Transient);
    run.without_budget().await
}

/// Functions that commit with the method of the transaction.
macro_rules! own_method {
    ($($function:ident($($rule:tt)*) -> $E:ty;)*) => {$(
        #[retry(base = "1ms", budget = "none" $($rule)*)]
        async fn $function(port: u16, id: i32) -> Result<(), $E> {
            let mut client = postgres::connect(&postgres::url(port)).await?;
            let transaction = client.transaction().await?;
            let insert = format!("INSERT INTO transfer VALUES ({id})");
            transaction.batch_execute(&insert).await?;
            transaction.commit().await?;
            Ok(())
        }
    )*};
}

own_method! {
    own_on(, on = "Error") -> Error;
    own_when(, when = |_| true) -> Error;
    own_transient() -> Transient;
    own_any(, when = |_| true) -> anyhow::Error;
    own_transaction(, on = "Error") -> TransactionError<Error>;
    own_outer(, when = |_| true) -> Transient;
}

/// A function that no attribute sees.
async fn book_unseen(port: u16, id: i32) -> Result<(), Error> {
    let mut client = postgres::connect(&postgres::url(port)).await?;
    let transaction = client.transaction().await?;
    let insert = format!("INSERT INTO transfer VALUES ({id})");
    transaction.batch_execute(&insert).await?;
    transaction.commit().await
}

#[retry(base = "1ms", budget = "none", on = "Error | io::Error")]
async fn unseen(port: u16, id: i32) -> Result<(), Error> {
    book_unseen(port, id).await
}

#[retry(base = "1ms", budget = "none", on = "Error | io::Error")]
async fn unseen_in_any(port: u16, id: i32) -> anyhow::Result<()> {
    book_unseen(port, id).await.context("not booked")
}

#[derive(Debug, thiserror::Error, Retryable)]
#[error(transparent)]
#[retryable(transient)]
struct Transient(#[from] Error);

#[retry(base = "1ms", budget = "none")]
async fn own_inside(port: u16, id: i32) -> Result<(), Transient> {
    own_outer(port, id).await
}

#[retry(base = "1ms", when = |_| true, idempotent = true)]
async fn harmless(port: u16, id: i32) -> Result<(), TransactionError<Error>> {
    book(port, id).await
}

/// Makes a transfer with one of the functions. Returns whether it returned `Ok`.
type Transfer = fn(u16, i32) -> BoxFuture<'static, bool>;

macro_rules! transfers {
    ($($function:ident),+) => {
        [$((
            stringify!($function),
            |port, id| async move { $function(port, id).await.is_ok() }.boxed(),
        )),+]
    };
}

const TRANSFERS: [(&str, Transfer); 18] = transfers![
    itself,
    named,
    with_context,
    boxed,
    in_io,
    shown,
    hidden,
    hidden_deeper,
    by_a_policy,
    by_a_verdict,
    own_on,
    own_when,
    own_transient,
    own_any,
    own_transaction,
    own_inside,
    unseen,
    unseen_in_any
];

const BLOCKING: (&str, Transfer) = ("blocking", |port, id| {
    let call = tokio::task::spawn_blocking(move || blocking(port, id).is_ok());
    async move { call.await.unwrap() }.boxed()
});

async fn ledger(server: &Server) -> Client {
    let admin = server.connect().await.unwrap();
    let table = "CREATE TABLE transfer (id int NOT NULL)";
    admin.batch_execute(table).await.unwrap();
    admin
}

async fn booked(admin: &Client, id: i32) -> i64 {
    let count = "SELECT count(*) FROM transfer WHERE id = $1";
    admin.query_one(count, &[&id]).await.unwrap().get(0)
}

pub(crate) async fn a_transfer_whose_commit_is_broken_after_any_byte_is_not_booked_twice() {
    let server = Server::start().await.unwrap();
    let admin = ledger(&server).await;
    // Only the first commit of a transfer is broken. If the transfer is repeated, it is booked again.
    let at_commit = Arc::new(Mutex::new(None));
    let asked = Arc::clone(&at_commit);
    let port = commit_proxy::start(server.port(), move || asked.lock().unwrap().take()).await;

    let mut ids = 0..;
    let mut wrong = Vec::new();
    for (name, transfer) in TRANSFERS.into_iter().chain([BLOCKING]) {
        let mut booked_wrongly = 0;
        for end in [End::Close, End::Reset] {
            for passed in 0..=Passed::ALL.0 {
                let id = ids.next().unwrap();
                *at_commit.lock().unwrap() = Some((Passed(passed), end));
                let told = transfer(port, id).await;
                assert_eq!(*at_commit.lock().unwrap(), None, "{name} did not commit");
                let bookings = booked(&admin, id).await;
                // The server commits as soon as it has the whole request.
                let took_effect = passed >= Passed::REQUEST.0;
                assert!(
                    bookings > 0 || !took_effect,
                    "{name}: {passed} bytes passed"
                );
                assert!(
                    bookings > 0 || !told,
                    "{name} returned `Ok` for what is not booked"
                );
                // Nobody knows whether the commit took effect, so it is not repeated in either case.
                booked_wrongly += usize::from(bookings != i64::from(took_effect));
            }
        }
        if booked_wrongly > 0 {
            wrong.push((name, booked_wrongly));
        }
    }
    assert_eq!(wrong, [], "transfers that were repeated");
}

pub(crate) async fn a_commit_is_repeated_if_that_does_no_harm() {
    let server = Server::start().await.unwrap();
    let admin = ledger(&server).await;
    let port = crate::tokio_postgres::cut_at_commit(server.port()).await;
    harmless(port, 1).await.unwrap_err();
    assert_eq!(booked(&admin, 1).await, 3);
}
