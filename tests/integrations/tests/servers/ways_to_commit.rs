//! Ways to write a function that commits, under an error that is always transient, and a proxy that loses the answer of the first
//! `COMMIT`: what the attribute sees is booked once, and what the guide lists is booked again.

use std::panic::{AssertUnwindSafe, resume_unwind};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::BoxFuture;
use futures::stream::{FuturesUnordered, StreamExt as _};
use futures::{FutureExt as _, TryFutureExt as _};
use integrations::commit_proxy::{self, End, Passed};
use integrations::postgres::Server;
use reattempt::sqlx_0_9::TransactionError;
use reattempt::{Policy, Retryable, Stopped, deadline, propagate, retry};
use sqlx::{Acquire, AssertSqlSafe, Connection as _, Error, Executor, PgPool, Postgres};
use tokio::time::{sleep, timeout};

type Transaction = sqlx::Transaction<'static, Postgres>;
type DbResult = Result<(), Error>;

#[derive(Debug, thiserror::Error, Retryable)]
#[retryable(transient)]
enum Own {
    #[error(transparent)]
    Db(#[from] Error),
    #[error(transparent)]
    Ended(#[from] TransactionError<Error>),
    #[error(transparent)]
    Shared(#[from] Arc<Error>),
    #[error(transparent)]
    Task(#[from] tokio::task::JoinError),
    #[error(transparent)]
    Stopped(#[from] Stopped),
    #[error("a step that is no statement")]
    Step,
}

async fn insert<'e>(connection: impl Executor<'e, Database = Postgres>, id: i64) -> DbResult {
    let insert = format!("INSERT INTO transfer VALUES ({id})");
    connection.execute(AssertSqlSafe(insert)).await.map(drop)
}

async fn begin(pool: &PgPool, id: i64) -> Result<Transaction, Error> {
    let mut transaction = pool.begin().await?;
    insert(&mut *transaction, id).await?;
    Ok(transaction)
}

/// A function that no attribute sees.
async fn end(transaction: Transaction) -> DbResult {
    transaction.commit().await
}

/// The attribute sees that it commits, and lets the outer call know.
#[retry(attempts = 1)]
async fn book_once(pool: &PgPool, id: i64) -> DbResult {
    begin(pool, id).await?.commit().await
}

#[retry(base = "1ms", budget = "none", before_retry = async { Ok::<_, Own>(begin(pool, id).await?.commit().await?) })]
async fn book_before_a_retry(pool: &PgPool, id: i64) -> Result<(), Own> {
    Err(Own::Step)
}

/// What a body may hold in place of the transaction.
#[async_trait::async_trait]
trait Unit: Send {
    async fn commit(self: Box<Self>) -> DbResult;
}

#[async_trait::async_trait]
impl Unit for Transaction {
    async fn commit(self: Box<Self>) -> DbResult {
        end(*self).await
    }
}

/// Its error is no longer that of the client.
struct Wrapper(Transaction);

impl Wrapper {
    async fn commit(self) -> Result<(), Own> {
        Ok(end(self.0).await?)
    }
}

/// Its error may be any.
struct Anyhow(Transaction);

impl Anyhow {
    async fn commit(self) -> anyhow::Result<()> {
        Ok(end(self.0).await?)
    }
}

type Way = fn(PgPool, i64) -> BoxFuture<'static, bool>;

macro_rules! ways {
    ($WAYS:ident: $($way:ident($pool:ident, $id:ident $($rule:tt)*) $body:block)*) => {
        $(
            #[retry(base = "1ms", budget = "none" $($rule)*)]
            async fn $way($pool: &PgPool, $id: i64) -> Result<(), Own> $body
        )*

        const $WAYS: &[(&str, Way)] = &[$((
            stringify!($way),
            |pool, id| async move { $way(&pool, id).await.is_ok() }.boxed(),
        )),*];
    };
}

ways! { LOST:
    by_from(pool, id) { Ok(begin(pool, id).await?.commit().await?) }
    by_name(pool, id, on = "Own | Error") { begin(pool, id).await?.commit().await.map_err(Own::Db) }
    by_a_raw_name(pool, id) { Ok(begin(pool, id).await?.r#commit().await?) }
    by_a_generic_name(pool, id) { Ok(begin(pool, id).await?.commit::<>().await?) }
    forgets_why(pool, id) {
        let mut lost = false;
        begin(pool, id).await?.commit().await.unwrap_or_else(|_| lost = true);
        if lost { Err(Own::Step) } else { Ok(()) }
    }
    in_two_steps(pool, id) {
        let committed = begin(pool, id).await?.commit();
        tokio::task::yield_now().await;
        Ok(committed.await?)
    }
    of_either(pool, id) {
        let transaction = begin(pool, id).await?;
        Ok(if id > 0 { transaction.commit().boxed() } else { transaction.rollback().boxed() }.await?)
    }
    in_an_impl(pool, id) {
        struct Step(Transaction);
        impl Step {
            async fn end(self) -> DbResult { self.0.commit().await }
        }
        Ok(Step(begin(pool, id).await?).end().await?)
    }
    in_a_boxed_closure(pool, id) {
        let end: Box<dyn FnOnce(Transaction) -> BoxFuture<'static, DbResult> + Send> = Box::new(|begun| begun.commit().boxed());
        Ok(end(begin(pool, id).await?).await?)
    }
    chained(pool, id) { Ok(begin(pool, id).and_then(|begun| begun.commit()).await?) }
    any_connection(pool, id) {
        async fn book<'a>(pool: impl Acquire<'a, Database = Postgres>, id: i64) -> DbResult {
            let mut begun = pool.begin().await?;
            insert(&mut *begun, id).await?;
            begun.commit().await
        }
        Ok(book(pool, id).await?)
    }
    of_a_trait(pool, id) {
        let unit: Box<dyn Unit> = Box::new(begin(pool, id).await?);
        Ok(unit.commit().await?)
    }
    shared(pool, id) { Ok(begin(pool, id).await?.commit().map_err(Arc::new).shared().await?) }
    among_others(pool, id) {
        let begun = begin(pool, id).await?;
        Ok(FuturesUnordered::from_iter([begun.commit()]).next().await.unwrap()?)
    }
    panics(pool, id) {
        let begun = begin(pool, id).await?;
        let end = async { begun.commit().await.unwrap_or_else(|lost| resume_unwind(Box::new(lost))) };
        AssertUnwindSafe(end).catch_unwind().await.map_err(|_| Own::Step)
    }
    in_a_run(pool, id) {
        let run = Policy::new().run(|| async { Ok::<_, Own>(begin(pool, id).await?.commit().await?) });
        run.when(|_| true).await
    }
    within_a_run(pool, id) { Policy::new().run(|| by_from(pool, id)).when(|_: &Own| true).await }
    in_a_task(pool, id) {
        let pool = pool.clone();
        tokio::spawn(propagate(async move { by_from(&pool, id).await })).await?
    }
    savepoint(pool, id) {
        let mut begun = begin(pool, id).await?;
        begun.begin().await?.commit().await?;
        Ok(begun.commit().await?)
    }
    as_a_value(pool, id, when_ok = |(): &()| true) { begin(pool, id).await?.commit().await.or(Ok(())) }
    in_an_annotated_function(pool, id) { Ok(book_once(pool, id).await?) }
    in_before_retry(pool, id) { book_before_a_retry(pool, id).await }
    of_a_guard(pool, id) {
        let held = tokio::sync::Mutex::new(Some(begin(pool, id).await?));
        let mut guard = held.lock().await;
        let guard = &mut guard;
        Ok(guard.take().ok_or(Own::Step)?.commit().await?)
    }
    by_a_macro_of_the_body(pool, id) {
        macro_rules! end {
            ($begun:expr) => { $begun.commit().await? };
        }
        end!(begin(pool, id).await?);
        Ok(())
    }
    in_an_annotated_function_of_the_body(pool, id) {
        #[retry(attempts = 3, when = |_| true, base = "1ms", budget = "none")]
        async fn inner(pool: &PgPool, id: i64) -> DbResult { begin(pool, id).await?.commit().await }
        Ok(inner(pool, id).await?)
    }
    that_multiplies(pool, id) {
        let run = Policy::new().with_nested(reattempt::Nested::Multiply).run(|| by_name(pool, id));
        run.when(|_| true).await
    }
    in_an_async_closure(pool, id) {
        let end = async |begun: Transaction| begun.commit().await;
        Ok(end(begin(pool, id).await?).await?)
    }
    of_a_stream(pool, id) {
        let begun = futures::stream::iter([begin(pool, id).await]);
        let ended = begun.then(|begun| async { begun?.commit().await });
        let all: Vec<_> = ended.collect().await;
        Ok(all.into_iter().collect::<DbResult>()?)
    }
    of_two(pool, id) {
        let other = async { sleep(Duration::from_millis(50)).await; Err::<(), _>(Error::PoolClosed) };
        let begun = begin(pool, id).await?;
        Ok(tokio::try_join!(other, begun.commit()).map(drop)?)
    }
}

ways! { CUT:
    by_the_body(pool, id) {
        let committed = timeout(Duration::from_millis(50), begin(pool, id).await?.commit()).await;
        Ok(committed.map_err(|_| Own::Step)??)
    }
    of_the_adapter(pool, id) {
        let committed = reattempt::sqlx_0_9::commit(begin(pool, id).await?);
        Ok(timeout(Duration::from_millis(50), committed).await.map_err(|_| Own::Step)??)
    }
    by_a_scope(pool, id) {
        let committed = deadline::scope(Duration::from_millis(50), within_a_run(pool, id));
        tokio::select! { ended = committed => ended, () = sleep(Duration::from_millis(100)) => Err(Own::Step) }
    }
    forgotten(pool, id) {
        let mut committed = begin(pool, id).await?.commit().boxed();
        let _ = timeout(Duration::from_millis(50), &mut committed).await;
        std::mem::forget(committed);
        Err(Own::Step)
    }
}

// The rows of the guide, in their order.
ways! { LISTED:
    in_a_function(pool, id) { Ok(end(begin(pool, id).await?).await?) }
    in_a_module(pool, id) {
        mod end {
            pub(super) async fn end(begun: super::Transaction) -> super::DbResult { begun.commit().await }
        }
        Ok(end::end(begin(pool, id).await?).await?)
    }
    of_a_wrapper(pool, id) { Wrapper(begin(pool, id).await?).commit().await }
    of_any_error(pool, id) { Anyhow(begin(pool, id).await?).commit().await.map_err(|_| Own::Step) }
    by_a_path(pool, id) { Ok(Transaction::commit(begin(pool, id).await?).await?) }
    as_a_function(pool, id) { Ok(begin(pool, id).and_then(Transaction::commit).await?) }
    by_the_client(pool, id) {
        let mut connection = pool.acquire().await?;
        Ok(connection.transaction(|begun| insert(&mut **begun, id).boxed()).await?)
    }
    by_a_statement(pool, id) {
        let mut connection = pool.acquire().await?;
        connection.execute("BEGIN").await?;
        insert(&mut *connection, id).await?;
        Ok(connection.execute(sqlx::raw_sql("COMMIT")).await.map(drop)?)
    }
    in_a_task_that_has_a_name(pool, id) {
        let begun = begin(pool, id).await?;
        let end = async move { begun.commit().await };
        Ok(tokio::spawn(end).await??)
    }
    as_a_call_in_a_task(pool, id) {
        let pool = pool.clone();
        tokio::spawn(async move { by_from(&pool, id).await }).await?
    }
    in_a_task_that_goes_on(pool, id) {
        drop(tokio::spawn(propagate(begin(pool, id).await?.commit())));
        Err(Own::Step)
    }
}

pub(crate) async fn no_way_to_commit_books_twice_but_those_that_the_guide_lists() {
    let server = Server::start().await.unwrap();
    let admin = server.connect().await.unwrap();
    let table = "CREATE TABLE transfer (id bigint NOT NULL)";
    admin.batch_execute(table).await.unwrap();
    let at_commit = Arc::new(Mutex::new(None));
    let asked = Arc::clone(&at_commit);
    let port = commit_proxy::start(server.port(), move || asked.lock().unwrap().take()).await;
    let url = format!("postgres://postgres@127.0.0.1:{port}/postgres?sslmode=disable");
    let pool = PgPool::connect(&url).await.unwrap();
    let mut ids = 1_i64..;
    let mut wrong = Vec::new();
    for (ways, end, once) in [
        (LOST, End::Reset, true),
        (CUT, End::Hang, true),
        (LISTED, End::Reset, false),
    ] {
        for (name, way) in ways {
            let id = ids.next().unwrap();
            *at_commit.lock().unwrap() = Some((Passed::REQUEST, end));
            let told = way(pool.clone(), id).await;
            assert!(at_commit.lock().unwrap().is_none(), "{name} did not commit");
            // A task may go on.
            sleep(Duration::from_millis(20)).await;
            let count = "SELECT count(*) FROM transfer WHERE id = $1";
            let booked: i64 = admin.query_one(count, &[&id]).await.unwrap().get(0);
            if (booked == 1) != once || told && once && *name != "as_a_value" {
                wrong.push(format!("{name}: booked {booked} times, {told}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
