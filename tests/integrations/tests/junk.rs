//! Servers that send nonsense. Nothing panics, and no call retries.

use std::net::SocketAddr;

use http_body_util::{BodyExt as _, Empty};
use hyper::body::Bytes;
use hyper_util::rt::{TokioExecutor, TokioIo};
use integrations::loopback::Rejected;
use reattempt::tokio_postgres_0_7::{CommitError, TransactionError};
use reattempt::{Retryable, Verdict};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_postgres::NoTls;
use tonic::Status;

/// Answers every request with these bytes. The client has to close the connection, so that it sees nonsense and
/// not an end.
async fn answering(bytes: Vec<u8>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((connection, _)) = listener.accept().await {
            tokio::spawn(answer(connection, bytes.clone()));
        }
    });
    address
}

async fn answer(mut connection: TcpStream, bytes: Vec<u8>) -> std::io::Result<()> {
    let mut request = [0; 4096];
    while connection.read(&mut request).await? > 0 {
        connection.write_all(&bytes).await?;
    }
    Ok(())
}

fn not_retried(what: &str, bytes: &[u8], verdict: Verdict) {
    let bytes = String::from_utf8_lossy(bytes);
    assert!(!verdict.is_retryable(), "{what}: {verdict} for {bytes:?}");
}

const HTTP: [&[u8]; 12] = [
    b"\x00\x01\x02 not HTTP at all\r\n\r\n",
    b"HTTP/9.9 200 OK\r\n\r\n",
    b"HTTP/1.1 20 OK\r\n\r\n",
    b"HTTP/1.1 99999 OK\r\n\r\n",
    b"HTTP/1.1 abc OK\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
    b"HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n",
    b"HTTP/1.1 200 OK\r\ncontent-length: 1e3\r\n\r\n",
    b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\ncontent-length: 5\r\n\r\nhalf",
    b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nhalf\r\n",
    b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nffffffffffffffffff\r\n",
    b"+OK redis\r\n\r\n",
];

#[tokio::test]
async fn a_server_that_does_not_speak_http_gets_no_retry() {
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    for bytes in HTTP {
        let address = answering(bytes.to_vec()).await;
        let error = match client.get(format!("http://{address}/")).send().await {
            Ok(response) => response.bytes().await.unwrap_err(),
            Err(error) => error,
        };
        not_retried("reqwest", bytes, error.verdict());

        let stream = TokioIo::new(TcpStream::connect(address).await.unwrap());
        let handshake = hyper::client::conn::http1::handshake::<_, Empty<Bytes>>(stream);
        let (mut sender, connection) = handshake.await.unwrap();
        tokio::spawn(connection);
        let request = http::Request::get("/").header("host", "localhost");
        let request = request.body(Empty::new()).unwrap();
        let error = match sender.send_request(request).await {
            Ok(response) => response.into_body().collect().await.unwrap_err(),
            Err(error) => error,
        };
        not_retried("hyper", bytes, error.verdict());
    }
}

/// The first is not a frame. The second has settings that are not allowed.
const HTTP2: [&[u8]; 3] = [
    b"HTTP/1.1 400 Bad Request\r\n\r\n",
    b"\x00\x00\x06\x04\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x07",
    b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
];

#[tokio::test]
async fn a_server_that_does_not_speak_http2_gets_no_retry() {
    for bytes in HTTP2 {
        let address = answering(bytes.to_vec()).await;
        let mut client = integrations::grpc::client(address);
        let request = tonic_health::pb::HealthCheckRequest::default();
        let status: Status = client.check(request).await.unwrap_err();
        not_retried("tonic", bytes, status.verdict());

        let stream = TokioIo::new(TcpStream::connect(address).await.unwrap());
        let handshake = hyper::client::conn::http2::handshake(TokioExecutor::new(), stream);
        let (mut sender, connection) = handshake.await.unwrap();
        let connection = tokio::spawn(connection);
        let request = http::Request::get("http://localhost/");
        let request = request.body(Empty::<Bytes>::new()).unwrap();
        let error = sender.send_request(request).await.unwrap_err();
        let ended = connection.await.unwrap().unwrap_err();
        not_retried("the connection of hyper", bytes, ended.verdict());
        if !error.is_canceled() && !error.is_closed() {
            not_retried("hyper", bytes, error.verdict());
        }
    }
}

const REDIS: [&[u8]; 7] = [
    b"HTTP/1.1 400 Bad Request\r\n\r\n",
    b"?what\r\n",
    b":twelve\r\n",
    b"$-5\r\n",
    b"*-9\r\n",
    b"-NEWCODE never heard of\r\n",
    b"-\xff\xfe\r\n",
];

#[tokio::test]
async fn a_server_that_does_not_speak_redis_gets_no_retry() {
    for bytes in REDIS {
        let address = answering(bytes.to_vec()).await;
        let client = redis::Client::open(format!("redis://{address}/")).unwrap();
        let error = match client.get_multiplexed_async_connection().await {
            Ok(mut connection) => redis::cmd("GET")
                .arg("a")
                .query_async::<u64>(&mut connection)
                .await
                .unwrap_err(),
            Err(error) => error,
        };
        // After an impossible length, the client waits for more bytes, as with a server that stalls.
        if !error.is_timeout() {
            not_retried("redis", bytes, error.verdict());
        }
    }
}

const POSTGRES: [&[u8]; 5] = [
    // A length that is too short, a negative length, and an unknown message.
    b"R\x00\x00\x00\x01\x00\x00\x00\x00",
    b"R\xff\xff\xff\xff\x00\x00\x00\x00",
    b"!\x00\x00\x00\x04",
    // An unknown authentication method.
    b"R\x00\x00\x00\x08\x00\x00\x00\x63",
    // An error whose code is not a SQLSTATE.
    b"E\x00\x00\x00\x1bSFATAL\0C\xc3\xa9\xc3\xa9\0Mnonsense\0\0",
];

#[tokio::test]
async fn a_server_that_does_not_speak_postgres_gets_no_retry() {
    for bytes in POSTGRES {
        let address = answering(bytes.to_vec()).await;
        let connect = async || {
            let (host, port) = (address.ip(), address.port());
            let url = format!("host={host} port={port} user=nobody");
            let connected = tokio_postgres::connect(&url, NoTls).await;
            connected.map(drop).unwrap_err()
        };
        let error = connect().await;
        not_retried("tokio-postgres", bytes, error.verdict());
        let statement = TransactionError::Statement(connect().await);
        not_retried("a statement", bytes, statement.verdict());
        let commit = TransactionError::Commit(CommitError(connect().await));
        not_retried("a commit", bytes, commit.verdict());
    }
}

/// `AuthenticationOk` and `ReadyForQuery`. The server hangs up on the query, and a firewall rejects the packets of the client.
#[tokio::test]
async fn a_session_of_postgres_that_was_open_and_is_refused_is_unknown() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await?;
        let _ = stream.read(&mut [0; 512]).await?;
        let ready = b"R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I";
        stream.write_all(ready).await?;
        stream.read(&mut [0; 512]).await
    });
    let stream = Rejected(TcpStream::connect(address).await.unwrap());
    let mut config = tokio_postgres::Config::new();
    let connected = config.user("nobody").connect_raw(stream, NoTls).await;
    let (client, connection) = connected.unwrap();
    let (queried, ended) = tokio::join!(client.simple_query("COMMIT"), connection);
    assert_eq!(queried.unwrap_err().verdict(), Verdict::Unknown);
    assert_eq!(ended.unwrap_err().verdict(), Verdict::Unknown);
}
