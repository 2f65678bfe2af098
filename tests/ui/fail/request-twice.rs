//! expect: if the answer to this request is lost, another attempt sends it again, and the server may act on both
//! errors: 5

use reattempt::reqwest_0_13::{RequestError, RequestExt as _};
use reattempt::retry;
use reqwest::{Client, Error, Method};

#[retry(attempts = 3)]
async fn pay(client: &Client) -> Result<(), Error> {
    client.post("http://bank.example/payments").send().await?;
    Ok(())
}

#[retry(attempts = 3)]
async fn change(client: &Client, count: u32) -> Result<(), Error> {
    let mut request = client.patch("http://bank.example/account");
    if count > 0 {
        request = request.body(count.to_string());
    }
    request.send().await.map(drop)
}

#[retry(attempts = 3)]
async fn by_name(client: &Client) -> Result<(), Error> {
    client.request(Method::POST, "http://bank.example/payments").send().await?;
    Ok(())
}

#[retry(attempts = 3, hedge = "10ms")]
async fn beside(client: &Client) -> Result<(), RequestError> {
    client.post("http://bank.example/payments").send_checked().await?;
    Ok(())
}

#[retry(attempts = 3)]
async fn in_a_task(client: &Client) -> Result<(), RequestError> {
    let paid = tokio::spawn(client.post("http://bank.example/payments").send_once());
    paid.await.expect("no panic")?;
    Ok(())
}

#[retry(attempts = 3)]
async fn sent_once(client: &Client) -> Result<(), RequestError> {
    let payment = client.post("http://bank.example/payments");
    payment.with_refusals(|status, _| status == 429).send_once().await?;
    client.patch("http://bank.example/account").send_checked().await?;
    Ok(())
}

#[retry(attempts = 3, idempotent = false)]
async fn said(client: &Client) -> Result<(), Error> {
    client.post("http://bank.example/payments").send().await?;
    Ok(())
}

#[retry(attempts = 3, idempotent = true)]
async fn search(client: &Client) -> Result<(), Error> {
    client.post("http://bank.example/search").send().await?;
    Ok(())
}

#[retry(attempts = 1)]
async fn once(client: &Client) -> Result<(), Error> {
    client.post("http://bank.example/payments").send().await?;
    Ok(())
}

#[retry(attempts = 3)]
async fn with_key(client: &Client) -> Result<(), Error> {
    client.post("http://bank.example/payments").attempt_headers().send().await?;
    Ok(())
}

#[retry(attempts = 3)]
async fn read(client: &Client) -> Result<(), Error> {
    client.get("http://bank.example/payments").send().await?;
    client.request(Method::HEAD, "http://bank.example/payments").send().await?;
    Ok(())
}

/// Not a request.
struct Office;

impl Office {
    fn post(&self, letter: &str) -> Result<(), std::io::Error> {
        println!("{letter}");
        Ok(())
    }
}

#[retry(attempts = 3)]
async fn letter(office: &Office) -> std::io::Result<()> {
    office.post("hello")
}

fn main() {}
