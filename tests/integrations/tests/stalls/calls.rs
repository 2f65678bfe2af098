//! A thread or a process that stands still for longer than a limit: the answer that came meanwhile counts, and the request is not
//! sent again.

use std::convert::Infallible;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use integrations::{grpc, postgres, redis as redis_server};
use reattempt::{Report, retry, with_report};
use redis::aio::MultiplexedConnection;
use reqwest::Client as HttpClient;
use tokio::sync::RwLock;
use tokio_postgres::Client;
use tonic::transport::Channel;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;

/// Who stops the process does so alone.
static ALONE: RwLock<()> = RwLock::const_new(());

/// After this time the server answers, and after twice as long a second request on the same connection: both before the limit.
const ANSWER: Duration = Duration::from_millis(150);
const STANDS_STILL: Duration = Duration::from_millis(900);

/// Each request under a timeout, under a deadline, and with a hedge that would begin before the timeout.
macro_rules! limited {
    ($ask:ident($client:ident: &$Client:ty) $body:block) => {
        mod $ask {
            use super::*;

            #[retry(base = "1ms", timeout = "700ms", when = |_| true)]
            pub(super) async fn timeout($client: &$Client) -> anyhow::Result<()> $body
            #[retry(base = "1ms", deadline = "700ms", when = |_| true)]
            pub(super) async fn deadline($client: &$Client) -> anyhow::Result<()> $body
            #[retry(base = "1ms", timeout = "700ms", hedge = "600ms", when = |_| true)]
            pub(super) async fn hedged($client: &$Client) -> anyhow::Result<()> $body
        }
    };
}

limited! {
    http(at: &(HttpClient, String)) {
        Ok(at.0.get(&at.1).send().await?.error_for_status().map(drop)?)
    }
}

limited! {
    call(client: &HealthClient<Channel>) {
        client.clone().check(HealthCheckRequest::default()).await?;
        Ok(())
    }
}

limited! {
    query(client: &Client) {
        client.query_one("SELECT 1 FROM pg_sleep(0.15)", &[]).await?;
        Ok(())
    }
}

limited! {
    pop(connection: &MultiplexedConnection) {
        let mut connection = connection.clone();
        let mut pop = redis::cmd("BLPOP");
        pop.arg("nothing").arg(0.15);
        Ok(pop.query_async::<Option<(String, String)>>(&mut connection).await.map(drop)?)
    }
}

/// Makes each call in this task and in a spawned one, lets everything stand still while their answers come, and asserts that each
/// sent one request.
macro_rules! each_counts {
    (@alone block) => { ALONE.read().await };
    (@alone stop_process) => { ALONE.write().await };
    ($ask:ident, $client:expr, $stop:ident) => {
        let _alone = each_counts!(@alone $stop);
        let client = Arc::new($client);
        each_counts!(@one $ask, timeout, client, $stop);
        each_counts!(@one $ask, deadline, client, $stop);
        each_counts!(@one $ask, hedged, client, $stop);
    };
    (@one $ask:ident, $limit:ident, $client:ident, $stop:ident) => {
        let name = concat!(stringify!($ask), " ", stringify!($limit));
        // The first call may connect.
        while $ask::$limit(&$client).await.is_err() {}
        let (own, other) = (Arc::clone(&$client), Arc::clone(&$client));
        let here = async move { with_report($ask::$limit(&own)).await };
        let spawned = tokio::spawn(async move { with_report($ask::$limit(&other)).await });
        let (here, spawned, ()) = tokio::join!(here, spawned, stall($stop));
        sent_once(here, &format!("{name}, here"));
        sent_once(spawned.unwrap(), &format!("{name}, spawned"));
    };
}

fn sent_once((ended, report): (anyhow::Result<()>, Option<Report>), name: &str) {
    let report = report.unwrap();
    assert!(ended.is_ok(), "{name}: {ended:?}, {report}");
    assert_eq!(report.attempts(), 1, "{name}");
    assert!(report.elapsed() >= STANDS_STILL, "{name}: {report}");
}

/// Stands still when the request is on its way.
async fn stall(stop: fn()) {
    tokio::time::sleep(Duration::from_millis(30)).await;
    stop();
}

fn block() {
    thread::sleep(STANDS_STILL);
}

/// Stops this process, also its other threads, and lets it go on.
fn stop_process() {
    let (id, seconds) = (std::process::id(), STANDS_STILL.as_secs_f64());
    let script = format!("kill -STOP {id}; sleep {seconds}; kill -CONT {id}");
    let mut shell = Command::new("sh").args(["-c", &script]).spawn().unwrap();
    shell.wait().unwrap();
}

/// A server of HTTP in threads of its own, which go on while the runtime of the client is blocked.
fn http_server() -> (SocketAddr, Arc<AtomicU32>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let requests = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&requests);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let (mut stream, counted) = (stream.unwrap(), Arc::clone(&counted));
            thread::spawn(move || -> std::io::Result<Infallible> {
                loop {
                    let read = stream.read(&mut [0; 4096])?;
                    if read == 0 {
                        return Err(std::io::ErrorKind::UnexpectedEof.into());
                    }
                    counted.fetch_add(1, Ordering::Relaxed);
                    thread::sleep(ANSWER);
                    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")?;
                }
            });
        }
    });
    (address, requests)
}

pub(crate) async fn an_http_answer_that_came_while_the_runtime_was_blocked_counts() {
    let (address, requests) = http_server();
    each_counts!(http, http_client(address), block);
    // Of each limit: the first call, and one here and one in a task.
    assert_eq!(requests.load(Ordering::Relaxed), 9);
}

/// A server of gRPC, likewise.
fn grpc_server() -> SocketAddr {
    let (send, address) = mpsc::channel();
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        runtime.unwrap().block_on(async {
            let service = grpc::Service::start(|_| {
                thread::sleep(ANSWER);
                None
            })
            .await;
            send.send(service.address).unwrap();
            std::future::pending::<()>().await;
        });
    });
    address.recv().unwrap()
}

/// The argument with which this program serves.
pub(crate) const SERVE: &str = "serve";

/// Runs both servers, says where, and ends with its input.
pub(crate) fn serve() {
    println!("{} {}", http_server().0, grpc_server());
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
}

/// Both servers in a process of their own, and their addresses. They end when the process is dropped, which closes its input.
fn servers() -> (Child, [SocketAddr; 2]) {
    let own = std::env::current_exe().unwrap();
    let mut command = Command::new(own);
    command
        .arg(SERVE)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut said = String::new();
    let output = child.stdout.take().unwrap();
    BufReader::new(output).read_line(&mut said).unwrap();
    let (http, grpc) = said.trim().split_once(' ').unwrap();
    (child, [http.parse().unwrap(), grpc.parse().unwrap()])
}

fn http_client(address: SocketAddr) -> (HttpClient, String) {
    let client = HttpClient::builder().no_proxy().build().unwrap();
    (client, format!("http://{address}/"))
}

fn grpc_client(address: SocketAddr) -> HealthClient<Channel> {
    HealthClient::new(grpc::endpoint(address).connect_lazy())
}

pub(crate) async fn an_http_answer_that_came_while_the_process_was_stopped_counts() {
    let (_process, [address, _]) = servers();
    each_counts!(http, http_client(address), stop_process);
}

pub(crate) async fn a_grpc_answer_that_came_while_the_runtime_was_blocked_counts() {
    each_counts!(call, grpc_client(grpc_server()), block);
}

pub(crate) async fn a_grpc_answer_that_came_while_the_process_was_stopped_counts() {
    let (_process, [_, address]) = servers();
    each_counts!(call, grpc_client(address), stop_process);
}

pub(crate) async fn an_answer_of_postgres_that_came_while_the_runtime_was_blocked_counts() {
    let server = postgres::Server::start().await.unwrap();
    each_counts!(query, server.connect().await.unwrap(), block);
}

pub(crate) async fn an_answer_of_postgres_that_came_while_the_process_was_stopped_counts() {
    let server = postgres::Server::start().await.unwrap();
    each_counts!(query, server.connect().await.unwrap(), stop_process);
}

pub(crate) async fn an_answer_of_redis_that_came_while_the_runtime_was_blocked_counts() {
    let server = redis_server::Server::start().await.unwrap();
    each_counts!(pop, server.connect().await.unwrap(), block);
}

pub(crate) async fn an_answer_of_redis_that_came_while_the_process_was_stopped_counts() {
    let server = redis_server::Server::start().await.unwrap();
    each_counts!(pop, server.connect().await.unwrap(), stop_process);
}
