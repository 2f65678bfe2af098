//! TLS handshakes that fail, on loopback, with each client and with both libraries: `rustls`, and `native-tls`, which is
//! OpenSSL here.

use std::io;
use std::ops::Range;
use std::sync::Arc;

use http_body_util::Empty;
use hyper::body::Bytes;
use hyper_rustls::HttpsConnectorBuilder;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use postgres_native_tls::MakeTlsConnector;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, date_time_ymd,
};
use reattempt::{Retryable, Verdict};
use redis::TlsCertificates;
use sqlx::ConnectOptions as _;
use sqlx::postgres::{PgConnectOptions, PgSslMode};
use sqlx_0_8::ConnectOptions as _;
use sqlx_0_8::postgres as sqlx_postgres_0_8;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_native_tls::native_tls;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;
use tokio_rustls::rustls::{self, ClientConfig, RootCertStore, ServerConfig};
use tokio_rustls::{TlsAcceptor, TlsConnector};
use tonic::transport::{Certificate, ClientTlsConfig, Endpoint};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;

use super::Errors;
use super::made::{Made, verdict};

const MAY_PASS: &str = "the TLS handshake is cut, or fails with an alert that may pass";
const WRONG: &str = "the TLS handshake fails with any other alert, or the certificate is not valid";
const NOT_YET: &str = "the certificate is not valid yet";

pub(crate) async fn all() -> Vec<Made> {
    let of_rustls = [
        rows("hyper", hyper).await,
        rows("reqwest", reqwest).await,
        rows("tonic", tonic).await,
        rows("tokio-postgres", tokio_postgres).await,
        rows("sqlx", sqlx).await,
        rows("redis", redis).await,
    ];
    let mut all: Vec<Made> = of_rustls.into_iter().flatten().collect();
    let [of_native_tls, ..] = rows("sqlx", sqlx_0_8).await;
    let error = "the same with native-tls";
    all.push(Made {
        error,
        ..of_native_tls
    });
    all
}

/// Clients with `native-tls`, whose rows are those of other versions with `rustls`.
pub(crate) async fn of_other_versions() -> Vec<Made> {
    let mut all = Vec::from(rows("reqwest", reqwest_0_12).await);
    let [_, wrong, not_yet] = rows("sqlx", sqlx_0_8).await;
    all.extend([wrong, not_yet]);
    all
}

/// The handshakes of one client. All with the same name in the table have the same verdict.
async fn rows(of: &'static str, connect: impl AsyncFn(&Issuer, u16) -> Verdict) -> [Made; 3] {
    let issuer = Issuer::new("known");
    let verdict_of = async |error, servers: &[Server]| {
        let mut verdicts = Vec::new();
        for server in servers {
            verdicts.push(connect(&issuer, server.start().await).await);
        }
        let verdict = verdicts[0];
        assert!(
            verdicts.iter().all(|other| *other == verdict),
            "{of}: {error}: {verdicts:?}"
        );
        Made { of, error, verdict }
    };
    let valid = verdict_of(
        "a valid certificate",
        &[issuer.shows("localhost", 2020..2100)],
    )
    .await;
    assert_ne!(valid.verdict, Verdict::Permanent, "{of}");
    let may_pass = [
        Server::Closes,
        Server::Resets,
        Server::Stops,
        Server::Alert(0),
        Server::Alert(80),
    ];
    let wrong = [
        Server::Alert(40),
        Server::Alert(70),
        Issuer::new("unknown").shows("localhost", 2020..2100),
        issuer.shows("localhost", 2020..2021),
        issuer.shows("example.org", 2020..2100),
    ];
    [
        verdict_of(MAY_PASS, &may_pass).await,
        verdict_of(WRONG, &wrong).await,
        verdict_of(NOT_YET, &[issuer.shows("localhost", 2099..2100)]).await,
    ]
}

/// The verdict of each alert, by the name that `rustls` gives it. Both libraries report it.
pub(crate) async fn alerts() -> Errors {
    let issuer = Issuer::new("unused");
    let of_rustls = TlsConnector::from(Arc::new(issuer.client()));
    let of_openssl = tokio_native_tls::TlsConnector::from(issuer.native());
    let mut alerts = Errors::new();
    for number in 0..=u8::MAX {
        let port = Server::Alert(number).start().await;
        let connect = async || TcpStream::connect(("localhost", port)).await.unwrap();
        let name = "localhost".try_into().unwrap();
        let error = of_rustls.connect(name, connect().await).await.unwrap_err();
        let verdict = error.verdict();
        let received = error.get_ref().unwrap().downcast_ref();
        let Some(rustls::Error::AlertReceived(alert)) = received else {
            panic!("{error:?}");
        };
        let alert = format!("{alert:?}");
        let error = of_openssl.connect("localhost", connect().await).await;
        let error = io::Error::other(error.unwrap_err());
        assert_eq!(error.verdict(), verdict, "{alert}");
        alerts.insert(alert, verdict);
    }
    alerts
}

async fn hyper(issuer: &Issuer, port: u16) -> Verdict {
    let connector = HttpsConnectorBuilder::new().with_tls_config(issuer.client());
    let connector = connector.https_only().enable_http1().build();
    let client = Client::builder(TokioExecutor::new()).build::<_, Empty<Bytes>>(connector);
    let answer = client.get(https(port).parse().unwrap()).await;
    verdict(answer.unwrap_err())
}

async fn reqwest(issuer: &Issuer, port: u16) -> Verdict {
    let client = reqwest::Client::builder().tls_backend_preconfigured(issuer.client());
    let answer = client.build().unwrap().get(https(port)).send().await;
    verdict(answer.unwrap_err())
}

async fn reqwest_0_12(issuer: &Issuer, port: u16) -> Verdict {
    let root = reqwest_0_12::Certificate::from_pem(issuer.0.pem().as_bytes()).unwrap();
    let client = reqwest_0_12::Client::builder().add_root_certificate(root);
    let answer = client.build().unwrap().get(https(port)).send().await;
    verdict(answer.unwrap_err())
}

async fn tonic(issuer: &Issuer, port: u16) -> Verdict {
    let root = Certificate::from_pem(issuer.0.pem());
    let endpoint = Endpoint::from_shared(https(port)).unwrap();
    let endpoint = endpoint.tls_config(ClientTlsConfig::new().ca_certificate(root));
    let mut client = HealthClient::new(endpoint.unwrap().connect_lazy());
    let answer = client.check(HealthCheckRequest::default()).await;
    verdict(answer.unwrap_err())
}

async fn tokio_postgres(issuer: &Issuer, port: u16) -> Verdict {
    let url = format!("host=localhost port={port} user=nobody sslmode=require");
    let connected = tokio_postgres::connect(&url, MakeTlsConnector::new(issuer.native())).await;
    verdict(connected.map(drop).unwrap_err())
}

async fn sqlx(issuer: &Issuer, port: u16) -> Verdict {
    let options = PgConnectOptions::new_without_pgpass()
        .host("localhost")
        .port(port);
    let options = options.username("nobody").ssl_mode(PgSslMode::VerifyFull);
    let options = options.ssl_root_cert_from_pem(issuer.0.pem().into_bytes());
    verdict(options.connect().await.unwrap_err())
}

async fn sqlx_0_8(issuer: &Issuer, port: u16) -> Verdict {
    use sqlx_postgres_0_8::{PgConnectOptions, PgSslMode};

    let options = PgConnectOptions::new_without_pgpass()
        .host("localhost")
        .port(port);
    let options = options.username("nobody").ssl_mode(PgSslMode::VerifyFull);
    let options = options.ssl_root_cert_from_pem(issuer.0.pem().into_bytes());
    verdict(options.connect().await.unwrap_err())
}

async fn redis(issuer: &Issuer, port: u16) -> Verdict {
    let trusted = TlsCertificates {
        client_tls: None,
        root_cert: Some(issuer.0.pem().into_bytes()),
    };
    let client = redis::Client::build_with_tls(format!("rediss://localhost:{port}"), trusted);
    let connected = client.unwrap().get_multiplexed_async_connection().await;
    verdict(connected.map(drop).unwrap_err())
}

fn https(port: u16) -> String {
    format!("https://localhost:{port}/")
}

/// What a server does in a handshake.
#[derive(Clone)]
enum Server {
    /// Answers the first message of the client with this fatal alert.
    Alert(u8),
    /// Closes the connection after the first message of the client.
    Closes,
    /// Resets the connection after the first message of the client.
    Resets,
    /// Closes the connection in the middle of its own first message.
    Stops,
    /// Shows its certificate, and closes the connection after the handshake.
    Shows(TlsAcceptor),
}

impl Server {
    /// Starts the server on a free port of loopback. It ends with its runtime.
    async fn start(&self) -> u16 {
        let server = self.clone();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                tokio::spawn(server.clone().serve(stream));
            }
        });
        port
    }

    async fn serve(self, mut stream: TcpStream) -> io::Result<()> {
        // A client of PostgreSQL asks first whether the server has TLS. No record of TLS begins with zero.
        let mut first = [0];
        stream.peek(&mut first).await?;
        if first == [0] {
            stream.read_exact(&mut [0; 8]).await?;
            stream.write_all(b"S").await?;
        }
        if let Self::Shows(acceptor) = self {
            return acceptor.accept(stream).await.map(drop);
        }
        // A record: its type, the version in two bytes, the length in two, and the message.
        let mut head = [0; 5];
        stream.read_exact(&mut head).await?;
        let [.., high, low] = head;
        let mut hello = vec![0; usize::from(u16::from_be_bytes([high, low]))];
        stream.read_exact(&mut hello).await?;
        match self {
            Self::Alert(number) => stream.write_all(&[21, 3, 3, 0, 2, 2, number]).await?,
            Self::Stops => stream.write_all(&[22, 3, 3, 0, 100, 2, 0, 0, 96]).await?,
            Self::Resets => return stream.set_zero_linger(),
            Self::Closes | Self::Shows(_) => {}
        }
        stream.shutdown().await?;
        while stream.read(&mut [0; 512]).await? > 0 {}
        Ok(())
    }
}

/// An issuer of certificates, which the clients trust.
struct Issuer(CertifiedIssuer<'static, KeyPair>);

impl Issuer {
    fn new(name: &str) -> Self {
        // Another package of the workspace may bring a second provider, and then there is no default.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, name);
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    /// A server with a certificate for this host, which is valid in these years.
    fn shows(&self, host: &str, years: Range<i32>) -> Server {
        let mut params = CertificateParams::new([host.to_owned()]).unwrap();
        params.not_before = date_time_ymd(years.start, 1, 1);
        params.not_after = date_time_ymd(years.end, 1, 1);
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.0).unwrap();
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let config = ServerConfig::builder().with_no_client_auth();
        let chain = vec![certificate.der().clone()];
        let mut config = config.with_single_cert(chain, key).unwrap();
        config.alpn_protocols = vec![b"h2".into(), b"http/1.1".into()];
        Server::Shows(TlsAcceptor::from(Arc::new(config)))
    }

    fn client(&self) -> ClientConfig {
        let mut roots = RootCertStore::empty();
        roots.add(self.0.der().clone()).unwrap();
        let config = ClientConfig::builder().with_root_certificates(roots);
        config.with_no_client_auth()
    }

    fn native(&self) -> native_tls::TlsConnector {
        let root = native_tls::Certificate::from_pem(self.0.pem().as_bytes()).unwrap();
        let connector = native_tls::TlsConnector::builder()
            .add_root_certificate(root)
            .build();
        connector.unwrap()
    }
}
