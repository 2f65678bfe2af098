//! What apalis-postgres does. If a test fails after an update, the example and its page can perhaps do less.

use std::future::pending;
use std::sync::Barrier;
use std::time::Duration;

use apalis::prelude::{
    Attempt, BackendExt as _, BoxDynError, Data, IntervalStrategy, RetryAfterError, TaskSink as _,
    WorkerBuilder, WorkerBuilderExt as _, WorkerError,
};
use apalis_postgres::{Config, PostgresStorage};
use integrations::postgres::Server;
use sqlx::PgPool;
use sqlx::postgres::PgPoolOptions;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::{sleep, timeout};

use crate::ticks::Ticks;

/// How long a test waits for something, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

const HOUR: Duration = Duration::from_hours(1);

pub(crate) async fn connect(server: &Server) -> PgPool {
    connect_at(server.port()).await
}

async fn connect_at(port: u16) -> PgPool {
    let url = format!("postgres://postgres@127.0.0.1:{port}/postgres");
    PgPoolOptions::new()
        .acquire_timeout(Duration::from_secs(10))
        .max_connections(4)
        .connect(&url)
        .await
        .unwrap()
}

/// A server with these jobs.
async fn start(jobs: &[u32]) -> (Server, PgPool) {
    let server = Server::start().await.unwrap();
    let pool = connect(&server).await;
    PostgresStorage::setup(&pool).await.unwrap();
    let mut storage = PostgresStorage::new(&pool).with_config(config());
    for job in jobs {
        storage.push(*job).await.unwrap();
    }
    (server, pool)
}

/// A worker is taken for dead after it was silent for a second.
fn config() -> Config {
    Config::default()
        .queue("jobs")
        .batch_size(1)
        .heartbeat_interval(Duration::from_millis(100))
        .missed_heartbeats(10)
}

/// A job that never ends, and tells that it began.
async fn begin(job: u32, begun: Data<UnboundedSender<u32>>) -> Result<(), BoxDynError> {
    begun.send(job)?;
    pending().await
}

/// Runs one job at a time. To drop it is to kill it: nothing is put in order.
async fn work(
    server: &Server,
    name: &str,
    config: Config,
    begun: &UnboundedSender<u32>,
) -> Result<(), WorkerError> {
    let storage = PostgresStorage::<u32>::new(&connect(server).await).with_config(config);
    let worker = WorkerBuilder::new(name)
        .backend(storage.poll_with_strategy(Ticks::new(Duration::from_millis(50))))
        .data(begun.clone())
        .concurrency(1)
        .build(begin);
    worker.run().await
}

/// Runs a worker until its first job begins, and kills it.
async fn killed(
    server: &Server,
    name: &str,
    config: Config,
    begun: &UnboundedSender<u32>,
    jobs: &mut UnboundedReceiver<u32>,
) {
    tokio::select! {
        ended = work(server, name, config, begun) => panic!("{name}: {ended:?}"),
        job = timeout(PATIENCE, jobs.recv()) => assert!(job.is_ok(), "{name} has no job"),
    }
}

pub(crate) async fn the_delay_of_an_error_is_not_kept() {
    async fn fail(
        _: u32,
        attempt: Attempt,
        begun: Data<UnboundedSender<usize>>,
    ) -> Result<(), BoxDynError> {
        begun.send(attempt.current())?;
        Err(RetryAfterError::new("later", HOUR).into())
    }
    let (_server, pool) = start(&[7]).await;
    let (begun, mut attempts) = unbounded_channel::<usize>();
    let storage = PostgresStorage::<u32>::new(&pool).with_config(config());
    let worker = WorkerBuilder::new("a")
        .backend(storage.poll_with_strategy(Ticks::new(Duration::from_millis(50))))
        .data(begun)
        .build(fail);
    let second = async {
        attempts.recv().await;
        attempts.recv().await
    };
    tokio::select! {
        ended = worker.run() => panic!("{ended:?}"),
        // If the hour is kept, the example need not write `run_at`.
        second = timeout(PATIENCE, second) => assert_eq!(second, Ok(Some(2))),
    }
}

pub(crate) async fn a_worker_under_an_old_name_keeps_the_jobs_of_the_dead_one() {
    let (server, _pool) = start(&[7]).await;
    let (begun, mut jobs) = unbounded_channel();
    // Time enough to start again on a busy machine.
    let config = || config().missed_heartbeats(30);
    killed(&server, "a", config(), &begun, &mut jobs).await;
    tokio::select! {
        ended = work(&server, "a", config(), &begun) => panic!("{ended:?}"),
        job = jobs.recv() => panic!("{job:?} ran again"),
        () = sleep(Duration::from_secs(4)) => {}
    }
    // Another worker takes the job, after three seconds without a heartbeat.
    killed(&server, "b", config(), &begun, &mut jobs).await;
}

pub(crate) async fn a_worker_that_hangs_loses_its_job_and_both_run_it() {
    /// Where the first try ends.
    static END: Barrier = Barrier::new(2);
    /// Blocks its worker at the first try, and so the heartbeats.
    async fn hang(
        _: u32,
        attempt: Attempt,
        ended: Data<UnboundedSender<usize>>,
    ) -> Result<(), BoxDynError> {
        if attempt.current() == 1 {
            END.wait();
        }
        ended.send(attempt.current())?;
        Ok(())
    }
    async fn work(pool: PgPool, name: &str, ended: UnboundedSender<usize>) {
        let storage = PostgresStorage::<u32>::new(&pool).with_config(config());
        let often = Ticks::new(Duration::from_millis(50));
        let worker = WorkerBuilder::new(name)
            .backend(storage.poll_with_strategy(often))
            .data(ended)
            .build(hang);
        // It ends with the server.
        let _: Result<(), WorkerError> = worker.run().await;
    }
    let (server, pool) = start(&[7]).await;
    let (ended, mut tries) = unbounded_channel();
    let (hanging, port) = (ended.clone(), server.port());
    std::thread::spawn(move || {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_all().build().unwrap();
        runtime.block_on(async { work(connect_at(port).await, "a", hanging).await });
    });
    let locked = async || -> Option<String> {
        let worker = sqlx::query_scalar("SELECT lock_by FROM apalis.jobs");
        worker.fetch_one(&pool).await.unwrap()
    };
    while locked().await.is_none() {
        sleep(Duration::from_millis(10)).await;
    }
    tokio::spawn(work(pool.clone(), "b", ended));
    assert_eq!(timeout(PATIENCE, tries.recv()).await, Ok(Some(2)));
    END.wait();
    assert_eq!(timeout(PATIENCE, tries.recv()).await, Ok(Some(1)));
    sleep(Duration::from_millis(500)).await;
    assert_eq!(locked().await.as_deref(), Some("b"));
}

pub(crate) async fn a_worker_with_jobs_in_stock_sends_no_heartbeats() {
    let (server, pool) = start(&[7, 8]).await;
    let last_seen = async |name: &str| -> String {
        let seen = sqlx::query_scalar("SELECT last_seen::text FROM apalis.workers WHERE id = $1");
        seen.bind(name).fetch_one(&pool).await.unwrap()
    };
    // Whether a worker that runs a job sends a heartbeat within this time.
    let heartbeat = async |name: &str, config: Config, within: Duration| {
        let (begun, mut jobs) = unbounded_channel();
        let seen = async {
            timeout(PATIENCE, jobs.recv()).await.unwrap();
            sleep(Duration::from_secs(1)).await; // for the one that is under way
            let before = last_seen(name).await;
            while last_seen(name).await == before {
                sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::select! {
            ended = work(&server, name, config, &begun) => panic!("{ended:?}"),
            seen = timeout(within, seen) => seen.is_ok(),
        }
    };
    let two = config().batch_size(2);
    assert!(!heartbeat("two", two, Duration::from_secs(5)).await);
    // After a second, these jobs go to the next worker.
    assert!(heartbeat("one", config(), PATIENCE).await);
}

pub(crate) async fn an_idle_worker_looks_for_jobs_with_each_heartbeat() {
    let (_server, pool) = start(&[7]).await;
    let (begun, mut jobs) = unbounded_channel::<u32>();
    let mut storage = PostgresStorage::<u32>::new(&pool).with_config(config());
    // It sends the first one when it starts.
    let rare = storage
        .clone()
        .with_config(config().heartbeat_interval(HOUR));
    let worker = WorkerBuilder::new("a")
        .backend(rare)
        .data(begun)
        .build(begin);
    // A task of its own, which this test does not wake.
    tokio::spawn(worker.run());
    timeout(PATIENCE, jobs.recv()).await.unwrap();
    sleep(Duration::from_secs(3)).await; // until it is idle
    storage.push(8).await.unwrap();
    let second = timeout(Duration::from_secs(2), jobs.recv()).await;
    assert!(second.is_err(), "it need not be told how often to look");
}

pub(crate) async fn a_worker_ends_if_it_loses_the_database() {
    let (mut server, pool) = start(&[]).await;
    let storage = PostgresStorage::<u32>::new(&pool).with_config(config());
    let (begun, _jobs) = unbounded_channel::<u32>();
    let worker = WorkerBuilder::new("a")
        .backend(storage.poll_with_strategy(Ticks::new(Duration::from_millis(50))))
        .data(begun)
        .build(begin);
    let worker = tokio::spawn(worker.run());
    sleep(Duration::from_millis(300)).await;
    server.stop();
    let ended = timeout(PATIENCE, worker).await.unwrap().unwrap();
    assert!(ended.is_err(), "{ended:?}");
}

pub(crate) async fn an_idle_worker_with_an_interval_may_sleep_for_ever() {
    let (_server, pool) = start(&[]).await;
    let (begun, mut jobs) = unbounded_channel::<u32>();
    let short = Duration::from_micros(1);
    let config = config()
        .heartbeat_interval(short)
        .missed_heartbeats(60_000_000);
    let mut storage = PostgresStorage::<u32>::new(&pool).with_config(config);
    // Each part of a query takes longer than both timers, as it may on a busy machine.
    let often = storage
        .clone()
        .poll_with_strategy(IntervalStrategy::new(short));
    let worker = WorkerBuilder::new("a")
        .backend(often)
        .data(begun)
        .build(begin);
    tokio::spawn(worker.run());
    sleep(Duration::from_secs(3)).await;
    storage.push(7).await.unwrap();
    let woken = timeout(Duration::from_secs(2), jobs.recv()).await;
    assert!(woken.is_err(), "the example needs no strategy of its own");
}
