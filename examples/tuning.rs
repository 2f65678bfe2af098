//! Changes a policy while calls run, and turns retries off and on, as you might in an incident.
//!
//! ```text
//! cargo run --example tuning
//! ```

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{PoisonError, RwLock};
use std::time::Duration;

use futures::future::join_all;
use reattempt::{Jitter, Outcome, Policy, Report, observe, retry, set_enabled};
use tokio::sync::watch;
use tokio::time::sleep;

/// Three attempts, 300 ms apart.
const PATIENT: Policy = Policy::new()
    .with_attempts(3)
    .with_base(Duration::from_millis(300))
    .with_factor(1.0)
    .with_jitter(Jitter::None);

/// Six attempts, 20 ms apart.
const EAGER: Policy = PATIENT
    .with_attempts(6)
    .with_base(Duration::from_millis(20));

/// A client whose policy may change at any time, when somebody edits a configuration file for example.
struct Client {
    policy: RwLock<Policy>,
    server_is_up: AtomicBool,
    /// How many retries were scheduled.
    retries: watch::Sender<u32>,
}

impl Client {
    fn policy(&self) -> Policy {
        *self.policy.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn set_policy(&self, policy: Policy) {
        *self.policy.write().unwrap_or_else(PoisonError::into_inner) = policy;
    }

    /// Asks the server. A call reads the policy once, when it begins.
    #[retry(
        policy = self.policy(),
        on_retry = |_| self.retries.send_modify(|retries| *retries += 1),
    )]
    async fn ask(&self) -> io::Result<()> {
        sleep(Duration::from_millis(10)).await;
        if self.server_is_up.load(Ordering::Relaxed) {
            Ok(())
        } else {
            Err(io::ErrorKind::ConnectionReset.into())
        }
    }

    /// Makes three calls at the same time, and says how they went.
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

    /// Acts as soon as all three calls wait for their second attempt.
    async fn meanwhile(&self, act: impl FnOnce()) {
        let mut retries = self.retries.subscribe();
        let before = *retries.borrow();
        let waiting = retries.wait_for(|now| *now >= before + 3).await;
        assert!(waiting.is_ok(), "`self` holds the sender");
        act();
    }
}

/// Asserts how calls went.
fn assert_all(reports: &[Report], attempts: u32, outcome: Outcome) {
    for report in reports {
        assert_eq!((report.attempts(), report.outcome()), (attempts, outcome));
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let client = Client {
        policy: RwLock::new(PATIENT),
        server_is_up: AtomicBool::new(false),
        retries: watch::Sender::new(0),
    };

    println!("The server is down. While three calls run, the policy changes:");
    let change = client.meanwhile(|| client.set_policy(EAGER));
    let (reports, ()) = tokio::join!(client.ask_three_times(), change);
    // They keep the policy that they began with.
    assert_all(&reports, 3, Outcome::AttemptsExhausted);

    println!("The next calls have the new policy:");
    let reports = client.ask_three_times().await;
    assert_all(&reports, 6, Outcome::AttemptsExhausted);

    println!("The policy changes back. While three calls run, retries are turned off:");
    client.set_policy(PATIENT);
    let (reports, ()) = tokio::join!(
        client.ask_three_times(),
        client.meanwhile(|| set_enabled(false))
    );
    // They make the attempt that they wait for, and no third one.
    assert_all(&reports, 2, Outcome::Disabled);

    println!("Calls that begin now make one attempt:");
    let reports = client.ask_three_times().await;
    assert_all(&reports, 1, Outcome::Disabled);

    println!("Retries are turned on again, and the server comes back while three calls wait:");
    set_enabled(true);
    let recovery = client.meanwhile(|| client.server_is_up.store(true, Ordering::Relaxed));
    let (reports, ()) = tokio::join!(client.ask_three_times(), recovery);
    assert_all(&reports, 2, Outcome::SuccessAfterRetry);
}
