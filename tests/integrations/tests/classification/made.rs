//! Makes the errors that the table describes in words, as they happen in practice.

use std::convert::Infallible;
use std::error::Error;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use http_body_util::{BodyExt as _, Empty, StreamBody};
use hyper::body::{Bytes, Frame};
use hyper_util::client::legacy::connect::proxy::{SocksV5, Tunnel};
use hyper_util::client::legacy::connect::{Connect, HttpConnector};
use hyper_util::client::legacy::{self, Client};
use hyper_util::rt::{TokioExecutor, TokioIo};
use integrations::loopback::{Answer, GoesAway, Loopback, OK, nobody};
use reattempt::http_1::{StatusError, check};
use reattempt::tokio_postgres_0_7::{CommitError, TransactionError};
use reattempt::{Attempt, Retryable, Stopped, Verdict, deadline, retry};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_postgres::NoTls;

use super::tls;

/// An error under its name in the table.
pub(crate) struct Made {
    pub(crate) of: &'static str,
    pub(crate) error: &'static str,
    pub(crate) verdict: Verdict,
}

fn made(of: &'static str, error: &'static str, made: impl OfClient) -> Made {
    let verdict = verdict(made);
    Made { of, error, verdict }
}

/// An error that `retry-runtime/src/adapters/known.rs` has to know, because it may be inside another one.
pub(crate) trait OfClient: Error + Retryable + Send + Sync + 'static {}

impl<E: Error + Retryable + Send + Sync + 'static> OfClient for E {}

/// The verdict of such an error, which is the same inside another one.
pub(crate) fn verdict(error: impl OfClient) -> Verdict {
    let (name, verdict) = (format!("{error:?}"), error.verdict());
    let inside = io::Error::other(error).verdict();
    assert_eq!(inside, verdict, "`known.rs` leaves this one out: {name}");
    verdict
}

/// The errors of another version of a client, which has no rows of its own.
pub(crate) async fn of_other_versions() -> Vec<Made> {
    let mut all = reqwest_0_12().await;
    all.extend(reqwest_middleware_0_4().await);
    all.extend(tonic_0_13().await);
    all.extend(sea_orm_1());
    all.push(sqlx_0_8());
    all.extend(tls::of_other_versions().await);
    all
}

pub(crate) async fn all() -> Vec<Made> {
    let mut all = std_errors();
    let unresolved = tokio::net::lookup_host(NO_NAME).await;
    let unresolved = unresolved.map(drop).unwrap_err();
    all.push(made("io", "a name that is not resolved", unresolved));
    all.extend(own().await);
    all.extend(with_keys().await);
    all.extend(canceled());
    all.extend(sockets().await);
    all.extend(hyper().await);
    all.extend(http2().await);
    all.extend(reqwest().await);
    all.extend(reqwest_middleware().await);
    all.extend(tonic().await);
    all.extend(tokio_postgres().await);
    all.extend(sqlx().await);
    all.extend(sea_orm());
    all.extend(deadpool());
    all.extend(tower());
    all.extend(redis().await);
    all.extend(tls::all().await);
    all
}

/// A name with an empty label fails without a name server.
const NO_NAME: &str = "a..b:80";

const TRUNCATED: Answer =
    Answer::Bytes(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\nconnection: close\r\n\r\nhalf");
/// Without a length, the body ends where the connection does.
const CUT_JSON: Answer =
    Answer::Bytes(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{\"id\": 1, \"na");
const JUNK: Answer = Answer::Bytes(b"\x00\x01\x02 not HTTP at all\r\n\r\n");
const PASSWORD: Answer = Answer::Bytes(
    b"HTTP/1.1 407 Proxy Authentication Required\r\nproxy-authenticate: Basic realm=\"x\"\r\n\r\n",
);
const LOOP: Answer = Answer::Bytes(
    b"HTTP/1.1 302 Found\r\nlocation: /\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
);
const UNAVAILABLE: Answer = Answer::Bytes(
    b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
);
const NOT_FOUND: Answer =
    Answer::Bytes(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");

const SWITCHES: Answer = Answer::BytesThenStall(
    b"HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\n",
);

/// The failures of a bad network, for any HTTP client.
const NETWORK: [(&str, &[Answer]); 4] = [
    ("reset before the answer", &[Answer::Reset]),
    ("closed before the answer", &[Answer::Close]),
    ("the body is cut short", &[TRUNCATED]),
    ("the answer is not HTTP", &[JUNK]),
];

/// An error of no client. Inside another one, it is unknown.
fn by_itself(of: &'static str, error: &'static str, made: impl Retryable) -> Made {
    let verdict = made.verdict();
    Made { of, error, verdict }
}

/// The errors of one crate, each after what it is about.
macro_rules! each {
    ($made:ident $of:literal: $($error:literal => $value:expr;)*) => { vec![$($made($of, $error, $value)),*] };
}

fn std_errors() -> Vec<Made> {
    let not_text = vec![0xff];
    each! { by_itself "std":
        "ParseIntError" => "x".parse::<u8>().unwrap_err();
        "ParseFloatError" => "x".parse::<f64>().unwrap_err();
        "ParseBoolError" => "x".parse::<bool>().unwrap_err();
        "AddrParseError" => "x".parse::<SocketAddr>().unwrap_err();
        "Utf8Error" => std::str::from_utf8(&not_text).unwrap_err();
        "FromUtf8Error" => String::from_utf8(not_text.clone()).unwrap_err();
        "TryFromIntError" => u8::try_from(300).unwrap_err();
    }
}

async fn own() -> Vec<Made> {
    #[retry(attempts = 1, timeout = "1ms")]
    async fn timed_out() -> Result<(), Stopped> {
        std::future::pending().await
    }
    #[retry(attempts = 1, deadline = "1ms")]
    async fn late() -> Result<(), Stopped> {
        std::future::pending().await
    }
    #[retry(attempts = 1, timeout = "1h")]
    async fn patient() -> Result<(), Stopped> {
        std::future::pending().await
    }
    #[retry(attempts = 1, cancel = std::future::ready(()))]
    async fn cancelled() -> Result<(), Stopped> {
        Ok(())
    }
    #[retry(attempts = 1, until = |()| false)]
    async fn unready() -> Result<(), Stopped> {
        Ok(())
    }
    let in_commit =
        TransactionError::<tokio_postgres::Error>::Stopped(timed_out().await.unwrap_err());
    let inherited = deadline::scope(Duration::from_millis(1), patient());
    let elapsed = tokio::time::timeout(Duration::ZERO, std::future::pending::<()>()).await;
    let task = tokio::spawn(std::future::pending::<()>());
    task.abort();
    let mut all = each! { made "reattempt":
        "Stopped by a timeout" => timed_out().await.unwrap_err();
        "Stopped by its own deadline" => late().await.unwrap_err();
        "Stopped by an inherited deadline" => inherited.await.unwrap_err();
        "Stopped without an attempt left, because its Ok was not ready" => unready().await.unwrap_err();
        "Stopped by a limit, in a TransactionError" => in_commit;
        "Stopped by anything else" => cancelled().await.unwrap_err();
    };
    all.push(made("tokio", "Elapsed", elapsed.unwrap_err()));
    all.push(by_itself("tokio", "JoinError", task.await.unwrap_err()));
    all
}

/// The second attempt of a call with a key gets these responses.
async fn with_keys() -> Vec<Made> {
    #[retry(attempts = 2, base = "1ms", budget = "none")]
    async fn pay(status: u16, header: &str, word: &str) -> Result<(), StatusError> {
        let attempt = Attempt::current().unwrap();
        let key = attempt.idempotency_key().to_string();
        let response = match attempt.number() {
            1 => http::Response::builder().status(504),
            _ => http::Response::builder()
                .status(status)
                .header(header, word),
        };
        check(response.body(key).unwrap()).map(drop)
    }
    let pay = async |status, header, word| pay(status, header, word).await.unwrap_err();
    each! { made "http":
        "409 while another attempt may have the key" => pay(409, "x", "").await;
        "422 or 400 while another attempt may have the key" => pay(422, "x", "").await;
        "a failure that the server keeps for the key" => pay(500, "idempotent-replayed", "true").await;
        "a failure with x-should-retry: false" => pay(503, "stripe-should-retry", "false").await;
        "a failure with x-should-retry: true" => pay(400, "x-should-retry", "true").await;
    }
}

/// A transaction of `DynamoDB`, by the message of its `TransactionCanceledException`.
fn canceled() -> [Made; 2] {
    [
        ("a transaction canceled by conflicts alone", "None"),
        (
            "a transaction canceled by a condition too",
            "ConditionalCheckFailed",
        ),
    ]
    .map(|(error, reason)| {
        let text = "Transaction cancelled, please refer cancellation reasons for specific reasons";
        let verdict = reattempt::codes::aws(&format!("{text} [{reason}, TransactionConflict]"));
        Made {
            of: "aws",
            error,
            verdict,
        }
    })
}

/// A Unix socket that its server has not made yet.
async fn sockets() -> Vec<Made> {
    use sqlx::{Connection as _, MySqlConnection, PgConnection};

    const ERROR: &str = "a Unix socket that is not there yet";
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let at = path.to_str().unwrap();
    let connector = {
        let path = path.clone();
        tower::service_fn(move |_: http::Uri| {
            let stream = tokio::net::UnixStream::connect(path.clone());
            Box::pin(async { io::Result::Ok(TokioIo::new(stream.await?)) })
        })
    };
    let channel = tonic::transport::Endpoint::from_static("http://shop.example");
    let channel = channel.connect_with_connector_lazy(connector.clone());
    let mut client = tonic_health::pb::health_client::HealthClient::new(channel);
    let request = tonic_health::pb::HealthCheckRequest::default();
    let postgres = format!("host={} user=nobody", folder.path().display());
    let postgres = tokio_postgres::connect(&postgres, NoTls).await;
    let mut all = vec![
        made("hyper", ERROR, through(connector).await),
        made("tonic", ERROR, client.check(request).await.unwrap_err()),
        made("tokio-postgres", ERROR, postgres.map(drop).unwrap_err()),
    ];
    let redis = redis::Client::open(format!("redis+unix://{at}")).unwrap();
    let redis = redis.get_multiplexed_async_connection().await;
    all.push(made("redis", ERROR, redis.map(drop).unwrap_err()));
    let client = reqwest::Client::builder().unix_socket(at).build().unwrap();
    let sent = client.get("http://shop.example/").send().await;
    all.push(made("reqwest", ERROR, sent.unwrap_err()));
    let mysql = MySqlConnection::connect(&format!("mysql://nobody@localhost/?socket={at}")).await;
    let mysql = mysql.map(drop).unwrap_err();
    assert_eq!(mysql.verdict(), Verdict::Refused, "{mysql:?}");
    let postgres = format!(
        "postgres://nobody@localhost/nowhere?host={}",
        folder.path().display()
    );
    let postgres = PgConnection::connect(&postgres).await;
    all.push(made("sqlx", ERROR, postgres.map(drop).unwrap_err()));
    all
}

async fn hyper() -> Vec<Made> {
    let client = Client::builder(TokioExecutor::new()).build_http::<Empty<Bytes>>();
    let get = async |address: &str| {
        let request = http::Request::get(format!("http://{address}/")).body(Empty::new());
        client.request(request.unwrap()).await
    };
    let refused = get(&nobody().to_string()).await.unwrap_err();
    let unresolved = get(NO_NAME).await.unwrap_err();
    let mut all = vec![
        made("hyper", "the connection cannot be made", refused),
        made("hyper", "a name that is not resolved", unresolved),
    ];
    for (what, script) in NETWORK {
        let server = Loopback::start(script).await;
        all.push(match get(&server.address.to_string()).await {
            Ok(answer) => made("hyper", what, answer.collect().await.unwrap_err()),
            Err(error) => made("hyper", what, error),
        });
    }
    for (what, script) in [
        ("a proxy wants a password", &[PASSWORD]),
        ("a proxy cannot reach the server", &[UNAVAILABLE]),
    ] {
        let server = Loopback::start(script).await;
        let proxy = server.url().parse().unwrap();
        let error = through(Tunnel::new(proxy, HttpConnector::new())).await;
        all.push(made("hyper", what, error));
    }
    // The second answer is about the password.
    let proxy = socks([b"\x05\x02", b"\x01\x01"]).await.parse().unwrap();
    let proxy = SocksV5::new(proxy, HttpConnector::new()).with_auth("me".into(), "wrong".into());
    let error = through(proxy).await;
    all.push(made("hyper", "a SOCKS proxy refuses the password", error));
    let proxy = socks([b"\x05\xff", b""]).await.parse().unwrap();
    let error = through(SocksV5::new(proxy, HttpConnector::new())).await;
    all.push(made("hyper", "a SOCKS proxy wants a password", error));
    all
}

/// What ends a connection beside a request.
async fn http2() -> Vec<Made> {
    let mut all = Vec::new();
    for (what, script) in [
        ("a GOAWAY that leaves the request out", &[(0, 0)]),
        ("a GOAWAY that names the request", &[(1, 0)]),
    ] {
        let server = GoesAway::start(script).await;
        let stream = TcpStream::connect(server.address).await.unwrap();
        let (mut client, connection) = h2::client::handshake(stream).await.unwrap();
        tokio::spawn(connection);
        let request = http::Request::get(server.url()).body(()).unwrap();
        let (response, _) = client.send_request(request, true).unwrap();
        all.push(made("h2", what, response.await.unwrap_err()));
    }
    let server = Loopback::start(&[SWITCHES, SWITCHES]).await;
    // While the request is being sent, the connection is not upgraded.
    let request = || {
        let endless = futures::stream::pending::<Result<Frame<Bytes>, Infallible>>();
        http::Request::post("/")
            .body(StreamBody::new(endless))
            .unwrap()
    };
    let connect = async || {
        let stream = TokioIo::new(TcpStream::connect(server.address).await.unwrap());
        hyper::client::conn::http1::handshake(stream).await.unwrap()
    };
    let (mut sender, connection) = connect().await;
    drop(connection);
    let unwritten = sender.send_request(request()).await.unwrap_err();
    all.push(made("hyper", "a request that was not written", unwritten));
    let (mut sender, connection) = connect().await;
    let mut connection = Box::pin(connection);
    let response = tokio::select! {
        response = sender.send_request(request()) => response.unwrap(),
        ended = &mut connection => panic!("{ended:?}"),
    };
    let upgrade = hyper::upgrade::on(response);
    drop(connection);
    let upgrade = upgrade.await.unwrap_err();
    all.push(made("hyper", "an upgrade that is canceled", upgrade));
    all
}

/// A SOCKS proxy with these two answers.
async fn socks(answers: [&'static [u8]; 2]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        for answer in answers {
            // The client hangs up where it gives up.
            if stream.read(&mut [0; 512]).await.unwrap() > 0 {
                stream.write_all(answer).await.unwrap();
            }
        }
    });
    format!("http://{address}/")
}

/// The error of a request through a proxy.
async fn through<C>(proxy: C) -> legacy::Error
where
    C: Connect + Clone + Send + Sync + 'static,
{
    let client = Client::builder(TokioExecutor::new()).build::<_, Empty<Bytes>>(proxy);
    let request = http::Request::get("http://example.com/").body(Empty::new());
    client.request(request.unwrap()).await.unwrap_err()
}

/// Writes the function for each version of the client.
macro_rules! reqwest {
    ($name:ident, $client:ident) => {
        async fn $name() -> Vec<Made> {
            // With a pool, an attempt could get the lost connection of the attempt before it.
            let client = $client::Client::builder()
                .no_proxy()
                .pool_max_idle_per_host(0)
                .build()
                .unwrap();
            let get = async |script: &'static [Answer]| {
                let server = Loopback::start_skipping(script).await;
                let request = client.get(server.url()).timeout(Duration::from_secs(20));
                request.send().await
            };
            let nowhere = format!("http://{}/", nobody());
            let unresolved = format!("http://{NO_NAME}/");
            let cut = get(&[CUT_JSON]).await.unwrap().json::<serde_json::Value>();
            let mut all = each! { made "reqwest":
                "the connection cannot be made" => client.get(nowhere).send().await.unwrap_err();
                "a name that is not resolved" => client.get(unresolved).send().await.unwrap_err();
                "the client's own timeout" => get(&[Answer::Stall]).await.unwrap_err();
                "the body is not what it was decoded as" => get(&[OK]).await.unwrap().json::<u8>().await.unwrap_err();
                "JSON that ends in the middle" => cut.await.unwrap_err();
                "the URL cannot be read" => client.get("not a url").send().await.unwrap_err();
                "too many redirects" => get(&[LOOP; 20]).await.unwrap_err();
            };
            for (what, script) in NETWORK {
                all.push(match get(script).await {
                    Ok(answer) => made("reqwest", what, answer.text().await.unwrap_err()),
                    Err(error) => made("reqwest", what, error),
                });
            }
            for (what, script) in [
                ("error_for_status of a 503", &[UNAVAILABLE]),
                ("error_for_status of a 404", &[NOT_FOUND]),
            ] {
                let answer = get(script).await.unwrap().error_for_status();
                all.push(made("reqwest", what, answer.unwrap_err()));
            }
            all
        }
    };
}

reqwest!(reqwest, reqwest);
reqwest!(reqwest_0_12, reqwest_0_12);

/// The errors of one version of `reqwest-middleware`.
macro_rules! reqwest_middleware {
    ($name:ident, $client:ident, $reqwest:ident) => {
        async fn $name() -> Vec<Made> {
            use $client::Error;

            #[retry(attempts = 1, timeout = "1ms")]
            async fn timed_out() -> Result<(), Stopped> {
                std::future::pending().await
            }
            #[retry(attempts = 1, cancel = std::future::ready(()))]
            async fn cancelled() -> Result<(), Stopped> {
                Ok(())
            }
            let server = Loopback::start(&[Answer::Reset]).await;
            let reset = $reqwest::get(server.url()).await.unwrap_err();
            let timed_out = Error::middleware(timed_out().await.unwrap_err());
            let cancelled = Error::middleware(cancelled().await.unwrap_err());
            let other = Error::Middleware(anyhow::anyhow!("no token"));
            [
                ("Reqwest", Error::from(reset)),
                ("Middleware with a Stopped by a timeout", timed_out),
                ("Middleware with a Stopped by cancel", cancelled),
                ("Middleware with any other error", other),
            ]
            .map(|(what, error)| made("reqwest-middleware", what, error))
            .into()
        }
    };
}

reqwest_middleware!(reqwest_middleware, reqwest_middleware, reqwest);
reqwest_middleware!(reqwest_middleware_0_4, reqwest_middleware_0_4, reqwest_0_12);

/// The errors of one version of `tonic`.
macro_rules! tonic {
    ($name:ident, $client:ident, $health:ident, $types:ident) => {
        async fn $name() -> Vec<Made> {
            use $client::metadata::MetadataMap;
            use $client::transport::Endpoint;
            use $client::{Code, Status};
            use $health::pb::HealthCheckRequest;
            use $health::pb::health_client::HealthClient;
            use $types::{ErrorDetails, StatusExt as _};

            let details = ErrorDetails::with_retry_info(Some(Duration::from_secs(1)));
            let throttled = Status::with_error_details(Code::ResourceExhausted, "", details);
            let pushed_back = |millis: &str| {
                let mut metadata = MetadataMap::new();
                metadata.insert("grpc-retry-pushback-ms", millis.parse().unwrap());
                Status::with_metadata(Code::Unavailable, "", metadata)
            };
            let mut twice = MetadataMap::new();
            twice.append("grpc-retry-pushback-ms", "10".parse().unwrap());
            twice.append("grpc-retry-pushback-ms", "10".parse().unwrap());
            let client = async |address: String| {
                let endpoint = Endpoint::try_from(format!("http://{address}")).unwrap();
                let mut client = HealthClient::new(endpoint.connect_lazy());
                client
                    .check(HealthCheckRequest::default())
                    .await
                    .unwrap_err()
            };
            each! { made "tonic":
                "a tonic server that ran out of time" => Status::cancelled("Timeout expired");
                "a full quota that names a delay" => throttled;
                "a tonic server that sheds load" => Status::resource_exhausted("Too many active requests for the connection");
                "a negative delay with any code" => pushed_back("-1");
                "a pushback that cannot be read" => pushed_back("soon");
                "two pushbacks" => Status::with_metadata(Code::Unavailable, "", twice);
                "the connection cannot be made" => client(nobody().to_string()).await;
                "a name that is not resolved" => client(NO_NAME.to_owned()).await;
            }
        }
    };
}

tonic!(tonic, tonic, tonic_health, tonic_types);
tonic!(tonic_0_13, tonic_0_13, tonic_health_0_13, tonic_types_0_13);

async fn tokio_postgres() -> Vec<Made> {
    let connect = async |address: &str| {
        let (host, port) = address.split_once(':').unwrap();
        let url = format!("host={host} port={port} user=nobody");
        let connected = tokio_postgres::connect(&url, NoTls).await;
        connected.map(drop).unwrap_err()
    };
    let pooled = async |code, text| connect(&pooler(code, text).await).await;
    let address = &hanging_up().await.to_string();
    let twice = "duplicate key value violates unique constraint \"pg_type_typname_nsp_index\"";
    let ended = TransactionError::Statement(pooled("08P01", "server conn crashed?").await);
    // PgCat.
    let receiving = "error receiving data from server: SocketError";
    let unread = "port=x".parse::<tokio_postgres::Config>();
    each! { made "tokio-postgres":
        "the connection cannot be made" => connect(&nobody().to_string()).await;
        "a name that is not resolved" => connect(NO_NAME).await;
        "the connection is lost" => connect(address).await;
        "the connection is lost before the COMMIT" => TransactionError::Statement(connect(address).await);
        "the connection is lost during the COMMIT" => TransactionError::Commit(CommitError(connect(address).await));
        "a pooler has no server for the session" => pooled("08P01", "query_wait_timeout").await;
        "the session is ended before the COMMIT" => ended;
        "a pooler lost its server" => pooled("58000", receiving).await;
        "another session creates the same object" => pooled("23505", twice).await;
        "another session changes or drops the object" => pooled("XX000", "tuple concurrently updated").await;
        "a connection string that cannot be read" => unread.unwrap_err();
    }
}

async fn sqlx() -> Vec<Made> {
    use sqlx::sqlite::SqlitePoolOptions;
    use sqlx::{Connection as _, PgConnection};

    let connect = async |address: &str| {
        let url = format!("postgres://nobody@{address}/nowhere?sslmode=disable");
        PgConnection::connect(&url).await.map(drop).unwrap_err()
    };
    let address = &hanging_up().await.to_string();
    let pool = SqlitePoolOptions::new()
        .max_connections(1)
        .acquire_timeout(Duration::from_mins(1));
    let pool = pool.connect("sqlite::memory:").await.unwrap();
    let taken = pool.acquire().await.unwrap();
    tokio::time::pause();
    let none_free = pool.acquire().await.map(drop).unwrap_err();
    tokio::time::resume();
    drop(taken);
    let no_row = sqlx::query_scalar::<_, i64>("SELECT 1 WHERE false");
    let no_row = no_row.fetch_one(&pool).await.unwrap_err();
    let not_a_number = sqlx::query_scalar::<_, i64>("SELECT 'text'");
    let not_a_number = not_a_number.fetch_one(&pool).await.unwrap_err();
    pool.close().await;
    let closed = pool.acquire().await.map(drop).unwrap_err();
    let unread = PgConnection::connect("postgres://:port").await;
    let by_proxy = async || {
        let url = format!("mysql://nobody@{}/", mysql_proxy().await);
        let connected = sqlx::MySqlConnection::connect(&url).await;
        connected.map(drop).unwrap_err()
    };
    each! { made "sqlx":
        "a proxy of MySQL lost its server" => by_proxy().await;
        "a proxy of MySQL lost its server before the COMMIT" => TransactionError::Statement(by_proxy().await);
        "the connection cannot be made" => connect(&nobody().to_string()).await;
        "a name that is not resolved" => connect(NO_NAME).await;
        "the connection is lost" => connect(address).await;
        "the connection is lost before the COMMIT" => TransactionError::Statement(connect(address).await);
        "the connection is lost during the COMMIT" => TransactionError::Commit(CommitError(connect(address).await));
        "no connection of the pool is free" => none_free;
        "the pool is closed" => closed;
        "a row that is not there" => no_row;
        "a value of another type" => not_a_number;
        "a connection string that cannot be read" => unread.map(drop).unwrap_err();
    }
}

fn sqlx_0_8() -> Made {
    let reset = io::Error::from(io::ErrorKind::ConnectionReset);
    made("sqlx", "the connection is lost", sqlx_0_8::Error::Io(reset))
}

/// The errors of one version of `sea-orm`.
macro_rules! sea_orm {
    ($name:ident, $client:ident, $sqlx:ident) => {
        fn $name() -> Vec<Made> {
            use $client::DbErr;
            use $client::error::{ConnAcquireErr, RuntimeErr};

            let lost = || {
                let reset = io::Error::from(io::ErrorKind::ConnectionReset);
                DbErr::Exec(RuntimeErr::SqlxError($sqlx::Error::Io(reset).into()))
            };
            each! { made "sea-orm":
                "the connection is lost" => lost();
                "the connection is lost before the COMMIT" => TransactionError::Statement(lost());
                "the connection is lost during the COMMIT" => TransactionError::Commit(CommitError(lost()));
                "no connection of the pool is free" => DbErr::ConnectionAcquire(ConnAcquireErr::Timeout);
                "the pool is closed" => DbErr::ConnectionAcquire(ConnAcquireErr::ConnectionClosed);
                "a record that is not there" => DbErr::RecordNotFound("account".to_owned());
                "an error of your own" => DbErr::Custom("a text".to_owned());
            }
        }
    };
}

sea_orm!(sea_orm, sea_orm, sqlx);
sea_orm!(sea_orm_1, sea_orm_1, sqlx_0_8);

fn deadpool() -> Vec<Made> {
    use deadpool::managed::{PoolError, TimeoutType};

    let none_free = PoolError::<redis::RedisError>::Timeout(TimeoutType::Wait);
    let refused = io::Error::from(io::ErrorKind::ConnectionRefused);
    let refused = PoolError::Backend(redis::RedisError::from(refused));
    let password = (redis::ErrorKind::AuthenticationFailed, "in a test");
    let never = PoolError::Backend(redis::RedisError::from(password));
    let closed = PoolError::<redis::RedisError>::Closed;
    each! { made "deadpool":
        "no connection of the pool is free" => none_free;
        "the connection cannot be made" => refused;
        "the connection can never be made" => never;
        "the pool is closed" => closed;
    }
}

fn tower() -> Vec<Made> {
    each! { made "tower":
        "Elapsed of a Timeout" => tower::timeout::error::Elapsed::new();
        "Overloaded of a LoadShed" => tower::load_shed::error::Overloaded::new();
    }
}

/// A pooler that answers with this error.
async fn pooler(code: &str, text: &str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let fields = format!("SFATAL\0C{code}\0M{text}\0\0");
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let length = u32::try_from(fields.len() + 4).unwrap();
        let error = [b"E", &length.to_be_bytes()[..], fields.as_bytes()].concat();
        assert!(stream.read(&mut [0; 512]).await.unwrap() > 0);
        stream.write_all(&error).await.unwrap();
    });
    address.to_string()
}

/// A proxy of MySQL that passes on the number of its own client.
async fn mysql_proxy() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let text = b"#HY000Lost connection to MySQL server during query";
        let length = u8::try_from(text.len() + 3).unwrap();
        let number = 2013_u16.to_le_bytes();
        let error = [&[length, 0, 0, 0, 0xff], &number[..], text].concat();
        stream.write_all(&error).await.unwrap();
    });
    address
}

/// A server that accepts connections, and closes them at once.
async fn hanging_up() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((connection, _)) = listener.accept().await {
            drop(connection);
        }
    });
    address
}

async fn redis() -> Vec<Made> {
    let connect = async |address: &str| {
        let client = redis::Client::open(format!("redis://{address}/")).unwrap();
        let connected = client.get_multiplexed_async_connection().await;
        connected.map(drop).unwrap_err()
    };
    let full = (
        redis::ErrorKind::Server(redis::ServerErrorKind::ResponseError),
        "in a test",
        "max number of clients reached".to_owned(),
    );
    // What Envoy sends for a server.
    let envoy = |line: &[u8]| {
        let value = redis::parse_redis_value(line).unwrap();
        value.extract_error().unwrap_err()
    };
    each! { made "redis":
        "Envoy has no server for the key" => envoy(b"-no upstream host\r\n");
        "Envoy lost its server" => envoy(b"-upstream failure\r\n");
        "the connection cannot be made" => connect(&nobody().to_string()).await;
        "a name that is not resolved" => connect(NO_NAME).await;
        "the connection is lost" => connect(&hanging_up().await.to_string()).await;
        "no connection is free" => redis::RedisError::from(full);
    }
}
