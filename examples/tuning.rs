//! Changes retry settings while calls run, as you might in an incident: edit the file, send SIGHUP.
//!
//! ```text
//! cargo run --example tuning --features serde
//! ```
//!
//! It writes its own file and sends itself the signal. On systems without SIGHUP, it reloads without a signal.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use futures::future::join_all;
use reattempt::{
    Jitter, Outcome, Policy, Preset, Report, Settings, configure, is_enabled, observe, retry,
    set_enabled,
};
use serde::Deserialize;
use tokio::sync::{RwLock, watch};
use tokio::time::sleep;

/// Three attempts, 500 ms apart. The file overrides these values.
static SEARCH: Preset = Preset::new(
    "search",
    Policy::new()
        .with_attempts(3)
        .with_base(Duration::from_millis(500))
        .with_factor(1.0)
        .with_jitter(Jitter::None),
);

/// The settings of the service, of which retries are a part. This one has no other.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Config {
    retries: bool,
    search: Settings,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            retries: true,
            search: Settings::default(),
        }
    }
}

/// Reads the file and sets the presets, or leaves all as it was and says why.
fn load(file: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(file).map_err(|error| error.to_string())?;
    let config: Config = toml::from_str(&text).map_err(|error| error.to_string())?;
    configure([(&SEARCH, config.search)]).map_err(|error| error.to_string())?;
    set_enabled(config.retries);
    Ok(())
}

struct Client {
    /// Whether the server is up. Who holds the lock also holds up its answers.
    server_is_up: RwLock<bool>,
    /// How many retries were scheduled.
    retries: watch::Sender<u32>,
}

impl Client {
    /// Asks the server. A call reads the preset once, when it begins.
    #[retry(
        policy = &SEARCH,
        on_retry = |_| self.retries.send_modify(|retries| *retries += 1),
    )]
    async fn ask(&self) -> io::Result<()> {
        sleep(Duration::from_millis(10)).await;
        if *self.server_is_up.read().await {
            Ok(())
        } else {
            Err(io::ErrorKind::ConnectionReset.into())
        }
    }

    /// Makes three calls at the same time, and prints how they ended.
    async fn ask_three_times(&self) -> Vec<Report> {
        let calls = (0..3).map(|_| observe(self.ask()));
        let reports = join_all(calls).await.into_iter();
        let reports = reports.map(|(_, report)| report.expect("`ask` has the attribute"));
        reports
            .inspect(|report| {
                let (attempts, elapsed) = (report.attempts(), report.elapsed());
                println!(
                    "    attempts: {attempts}, {} in {elapsed:.0?}",
                    report.outcome()
                );
            })
            .collect()
    }

    /// Returns as soon as three calls wait for their second attempt.
    async fn three_wait(&self) {
        let mut retries = self.retries.subscribe();
        let before = *retries.borrow();
        let waiting = retries.wait_for(|now| *now >= before + 3).await;
        assert!(waiting.is_ok(), "`self` holds the sender");
    }
}

/// The result of the last reload, and the number of reloads.
type Reloads = watch::Receiver<(u32, Result<(), String>)>;

/// Reads the settings again for each signal, for as long as the program runs.
fn reload_on_hangup(file: PathBuf) -> io::Result<Reloads> {
    let (reloaded, reloads) = watch::channel((0, Ok(())));
    let mut hangups = hangup::listen()?;
    tokio::spawn(async move {
        while hangups.recv().await.is_some() {
            let file = file.clone();
            // It reads a file, which blocks, so it runs on a thread for blocking work.
            let applied = tokio::task::spawn_blocking(move || load(&file)).await;
            let applied = applied.expect("applying does not panic");
            match &applied {
                Ok(()) => println!("  reloaded"),
                Err(error) => println!("  the settings stay as they were:\n    {error}"),
            }
            reloaded.send_modify(|reload| *reload = (reload.0 + 1, applied));
        }
    });
    Ok(reloads)
}

/// The operator: edits the file, and asks for a reload.
struct Operator {
    file: PathBuf,
    reloads: Reloads,
}

impl Operator {
    async fn sets(&mut self, settings: &str) -> Result<(), String> {
        // Renames a complete file, so that no reader sees half of it.
        let new = self.file.with_extension("new");
        std::fs::write(&new, settings).expect("the temporary folder takes a file");
        std::fs::rename(&new, &self.file).expect("it is in the same folder");
        let before = self.reloads.borrow().0;
        hangup::send();
        let reload = self.reloads.wait_for(|reload| reload.0 > before).await;
        reload
            .expect("the task runs as long as the program")
            .1
            .clone()
    }
}

/// The signal that asks a service to read its configuration again.
#[cfg(unix)]
mod hangup {
    use std::io;
    use std::process::Command;

    use tokio::signal::unix::{Signal, SignalKind, signal};

    /// From now on a SIGHUP no longer ends the program.
    pub(super) fn listen() -> io::Result<Signal> {
        signal(SignalKind::hangup())
    }

    /// Sends the signal to this program, as `kill -HUP` and `systemctl reload` do.
    pub(super) fn send() {
        let sent = Command::new("sh").args(["-c", "kill -HUP $PPID"]).status();
        assert!(sent.is_ok_and(|status| status.success()), "SIGHUP is sent");
    }
}

/// A channel in place of the signal.
#[cfg(not(unix))]
mod hangup {
    use std::io;
    use std::sync::OnceLock;

    use tokio::sync::mpsc;

    static SENDER: OnceLock<mpsc::UnboundedSender<()>> = OnceLock::new();

    pub(super) fn listen() -> io::Result<mpsc::UnboundedReceiver<()>> {
        let (sender, receiver) = mpsc::unbounded_channel();
        SENDER
            .set(sender)
            .map_err(|_| io::Error::other("listens already"))?;
        Ok(receiver)
    }

    pub(super) fn send() {
        let sender = SENDER.get().expect("somebody listens");
        assert!(
            sender.send(()).is_ok(),
            "the task runs as long as the program"
        );
    }
}

/// Asserts how calls ended.
fn assert_all(reports: &[Report], attempts: u32, outcome: Outcome) {
    for report in reports {
        assert_eq!((report.attempts(), report.outcome()), (attempts, outcome));
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::temp_dir().join(format!("reattempt-tuning-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let file = folder.join("retry.toml");
    std::fs::write(&file, "")?;

    load(&file)?;
    let reloads = reload_on_hangup(file.clone())?;
    let mut operator = Operator { file, reloads };
    let client = Client {
        server_is_up: RwLock::new(false),
        retries: watch::Sender::new(0),
    };

    println!("The server is down. While three calls run, the file changes:");
    let (reports, reloaded) = tokio::join!(client.ask_three_times(), async {
        client.three_wait().await;
        operator.sets("[search]\nattempts = 6\nbase = '20ms'").await
    });
    reloaded?;
    // The calls keep the policy with which they began.
    assert_all(&reports, 3, Outcome::AttemptsExhausted);

    println!("The next calls have the new settings:");
    assert_all(
        &client.ask_three_times().await,
        6,
        Outcome::AttemptsExhausted,
    );

    println!("A mistake in the file:");
    let refused = operator.sets("[search]\natempts = 9").await;
    assert!(refused.is_err_and(|error| error.contains("unknown field `atempts`")));
    assert_eq!(SEARCH.policy().attempts(), Some(6));

    println!("The settings are gone from the file. While three calls run, it turns retries off:");
    operator.sets("").await?;
    let (reports, reloaded) = tokio::join!(client.ask_three_times(), async {
        client.three_wait().await;
        // No second attempt ends before the file is read.
        let _held_up = client.server_is_up.write().await;
        operator.sets("retries = false").await
    });
    reloaded?;
    // The calls make the attempt for which they already wait, but not a third attempt.
    assert_all(&reports, 2, Outcome::Disabled);

    println!("Calls that begin now make one attempt:");
    assert_all(&client.ask_three_times().await, 1, Outcome::Disabled);

    println!("Retries are turned on again, and the server comes back while three calls wait:");
    operator.sets("").await?;
    assert!(is_enabled());
    let (reports, ()) = tokio::join!(client.ask_three_times(), async {
        client.three_wait().await;
        *client.server_is_up.write().await = true;
    });
    assert_all(&reports, 2, Outcome::SuccessAfterRetry);

    std::fs::remove_dir_all(folder)?;
    Ok(())
}
