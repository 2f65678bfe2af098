//! A user of the library, who does not know how it retries.

use std::error::Error as _;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use weather::Client;

/// A service that closes the first connections, and then gives this answer, or none if it is empty.
async fn service(closed: u32, answer: &'static str) -> (SocketAddr, Arc<AtomicU32>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let calls = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&calls);
    tokio::spawn(async move {
        let mut kept = Vec::new();
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            if counted.fetch_add(1, Ordering::Relaxed) < closed {
                continue;
            }
            let mut city = String::new();
            stream.read_to_string(&mut city).await.unwrap();
            stream.write_all(answer.as_bytes()).await.unwrap();
            if answer.is_empty() {
                kept.push(stream);
            }
        }
    });
    (address, calls)
}

#[tokio::test]
async fn a_lost_connection_is_made_again() {
    let (address, calls) = service(2, "rain").await;
    assert_eq!(
        Client::new(address).forecast("Bergen").await.unwrap(),
        "rain"
    );
    assert_eq!(calls.load(Ordering::Relaxed), 3);
}

#[tokio::test]
async fn its_user_turns_retries_off() {
    let (address, calls) = service(2, "rain").await;
    let error = Client::new(address)
        .attempts(1)
        .forecast("Bergen")
        .await
        .unwrap_err();
    assert!(error.is_temporary());
    assert!(!error.is_timeout());
    assert!(error.source().is_some());
    assert_eq!(calls.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn an_unknown_city_is_not_asked_for_again() {
    let (address, calls) = service(0, "?").await;
    let error = Client::new(address).forecast("Atlantis").await.unwrap_err();
    assert!(!error.is_temporary());
    assert_eq!(calls.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn its_user_sets_a_deadline_and_learns_that_it_was_reached() {
    let (address, _) = service(0, "").await;
    let client = Client::new(address).deadline(Duration::from_millis(50));
    let error = client.forecast("Bergen").await.unwrap_err();
    assert!(error.is_timeout());
    assert!(error.source().is_none());
    assert!(
        error
            .to_string()
            .starts_with("the weather service was too slow: deadline of 50ms")
    );
}
