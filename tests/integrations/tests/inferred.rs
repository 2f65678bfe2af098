//! A run takes the error of any crate, without a type annotation.

#![allow(
    clippy::needless_question_mark,
    clippy::redundant_closure_for_method_calls,
    reason = "as a user writes it"
)]

use std::error::Error;
use std::{fmt, io};

use reattempt::reqwest_0_13::{RequestError, RequestExt as _};
use reattempt::{FAST_IO, Policy, Preset, Retryable, Stopped, retry, run};

const POLICY: Policy = Policy::new().with_attempts(4);
static PAYMENTS: Preset = Preset::new("payments", POLICY);

async fn of_a_client(client: reqwest::Client) -> anyhow::Result<()> {
    let url = "https://shop.example";
    client.get(url).send_with(&POLICY).await?;
    client.get(url).send_with(&PAYMENTS).await?;
    POLICY.run(|| client.get(url).send_checked()).await?;
    POLICY
        .run(async || {
            client
                .get(url)
                .send_checked()
                .await?
                .json::<u8>()
                .await
                .map_err(RequestError::from)
        })
        .when(|error| error.status().is_none())
        .with_cancel(std::future::pending::<()>())
        .await?;
    Ok(())
}

async fn of_a_database(client: tokio_postgres::Client) -> Result<(), Box<dyn Error + Send + Sync>> {
    POLICY.run(|| client.batch_execute("SELECT 1")).await?;
    Ok(())
}

async fn in_its_own_type(client: reqwest::Client) -> Result<reqwest::Response, RequestError> {
    POLICY
        .run(|| client.get("https://shop.example").send_checked())
        .await
}

async fn without_limits(client: reqwest::Client) -> Result<reqwest::Response, reqwest::Error> {
    POLICY
        .without_limits()
        .run(|| client.get("https://shop.example").send())
        .await
}

/// The attribute takes the same policy.
#[retry(policy = POLICY.without_limits())]
async fn annotated(client: &reqwest::Client) -> Result<reqwest::Response, reqwest::Error> {
    client.get("https://shop.example").send().await
}

async fn that_holds_a_stopped() -> io::Result<()> {
    FAST_IO.run(async || io::Result::Ok(())).await
}

/// The type comes from the signature.
async fn that_the_closure_does_not_name() -> io::Result<u8> {
    FAST_IO
        .run(async || Ok(u8::try_from(std::fs::read("settings.toml")?.len()).unwrap_or(7)))
        .await
}

/// The type comes from that of the call, though `?` makes it from another.
async fn that_a_rule_does_not_name() -> Result<(), Own> {
    POLICY
        .run(|| async { Ok(Err(Own::Busy)?) })
        .on::<Own>()
        .await
}

async fn of_an_application() -> anyhow::Result<()> {
    let operation = async || anyhow::Ok(io::Result::Ok(())?);
    run!(policy = POLICY, on(io::Error), async || operation().await).await?;
    run!(
        policy = POLICY,
        when = |error| error.is::<io::Error>(),
        async || operation().await
    )
    .await
}

#[derive(Debug, thiserror::Error, Retryable)]
enum Own {
    #[error("busy")]
    #[retryable(transient)]
    Busy,
    #[error(transparent)]
    #[retryable(forward)]
    Stopped(#[from] Stopped),
}

async fn of_our_own() -> Result<(), Own> {
    POLICY.run(async || Err(Own::Busy)).await
}

/// That of a crate that no feature knows.
#[derive(Debug)]
struct Kafka;

impl Error for Kafka {}

impl fmt::Display for Kafka {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the broker is not the leader")
    }
}

async fn of_an_unknown_crate() -> anyhow::Result<()> {
    run!(policy = POLICY, when = |_| true, async || Err::<(), _>(
        Kafka
    ))
    .await?;
    run!(policy = POLICY, on(io::Error), async || Err::<(), _>(Kafka)).await?;
    run!(blocking, policy = POLICY, when = |_| true, || Err::<(), _>(
        Kafka
    ))?;
    Ok(())
}

async fn of_any_type<E: fmt::Display>(fails: fn() -> Result<(), E>) -> Result<(), E> {
    run!(policy = POLICY, when = |_| true, async || fails()).await
}

fn blocking() -> anyhow::Result<()> {
    let refused = || reqwest::Client::new().get("no URL").build();
    run!(blocking, policy = POLICY, || refused())?;
    FAST_IO
        .run_blocking(|| std::fs::read("settings.toml"))
        .call()?;
    Ok(())
}

#[test]
fn each_compiles() {
    let _ = (of_a_client, of_a_database, in_its_own_type, without_limits);
    let _ = annotated;
    let _ = (that_the_closure_does_not_name, that_a_rule_does_not_name);
    let _ = (
        that_holds_a_stopped,
        of_an_application,
        of_our_own,
        of_an_unknown_crate,
    );
    let _ = (of_any_type::<String>, blocking);
}
