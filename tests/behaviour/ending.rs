//! What a call returns.

use std::error::Error;
use std::io;

use reattempt::{Outcome, Stopped, retry};

use crate::script::{RESET, Script, Step};

#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("input or output")]
    Io(#[from] io::Error),
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

#[tokio::test(start_paused = true)]
async fn stopped_becomes_each_error_type() {
    #[retry(attempts = 1, timeout = "1s")]
    async fn own(script: &Script) -> Result<usize, Failure> {
        Ok(script.play().await?)
    }
    #[retry(attempts = 1, timeout = "1s")]
    async fn boxed(script: &Script) -> Result<usize, Box<dyn Error + Send + Sync>> {
        Ok(script.play().await?)
    }
    #[retry(attempts = 1, timeout = "1s")]
    async fn local_box(script: &Script) -> Result<usize, Box<dyn Error>> {
        Ok(script.play().await?)
    }
    #[retry(attempts = 1, timeout = "1s")]
    async fn anyhow(script: &Script) -> anyhow::Result<usize> {
        Ok(script.play().await?)
    }
    #[retry(attempts = 1, timeout = "1s")]
    async fn text(script: &Script) -> Result<usize, String> {
        script.play().await.map_err(|error| error.to_string())
    }
    #[retry(attempts = 1, timeout = "1s")]
    async fn wrapped(script: &Script) -> Result<usize, reattempt::Error<io::Error>> {
        Ok(script.play().await?)
    }
    let script = Script::new([Step::Hang]);
    let Failure::Stopped(stopped) = own(&script).await.unwrap_err() else {
        panic!("not stopped")
    };
    assert_eq!(stopped.outcome(), Outcome::Timeout);
    assert!(boxed(&script).await.unwrap_err().is::<Stopped>());
    assert!(local_box(&script).await.unwrap_err().is::<Stopped>());
    assert!(anyhow(&script).await.unwrap_err().is::<Stopped>());
    assert_eq!(
        text(&script).await.unwrap_err(),
        "timed out after 1s (1 attempt, 1s)"
    );
    assert!(matches!(
        wrapped(&script).await.unwrap_err(),
        reattempt::Error::Stopped(_)
    ));
}

#[tokio::test(start_paused = true)]
async fn the_last_error_is_returned_unchanged() {
    #[retry(timeout = "1s", on = "io::Error")]
    async fn own(script: &Script) -> Result<usize, Failure> {
        Ok(script.play().await?)
    }
    let script = Script::new([RESET]);
    match own(&script).await.unwrap_err() {
        Failure::Io(error) => assert_eq!(error.to_string(), "call 3"),
        Failure::Stopped(stopped) => panic!("{stopped}"),
    }
}
