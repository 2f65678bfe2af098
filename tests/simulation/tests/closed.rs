//! Workers with a fixed number of calls at once, against a server that freezes: in virtual time and over sockets.

use reattempt::Budget;
use simulation::SEED;
use simulation::closed::{Batch, Fault};

#[test]
fn the_default_budget_refuses_no_call_that_retries_would_save() {
    for batch in &Batch::ALL {
        let lost: u32 = (0..20)
            .map(|seed| batch.lost(Some(Budget::new), seed))
            .sum();
        // The library draws the delays itself. In one of some thousand runs with refusals, a few calls are lost.
        let most = match batch.fault {
            Fault::Freezes(_) => 0,
            Fault::Resets(..) => 6,
        };
        assert!(lost <= most, "{}: {lost}", batch.name);
    }
}

#[test]
fn a_budget_without_a_free_first_wave_refuses_calls_in_most_of_these_batches() {
    let lost = |batch: &&Batch| batch.lost(Some(Budget::aws), SEED) > 0;
    assert_eq!(Batch::ALL.iter().filter(lost).count(), 7);
}

/// What is sent over loopback is there at once, and both sides run in this thread: while something is under way, the clock
/// stands still.
#[tokio::test(start_paused = true)]
async fn over_sockets_the_default_budget_refuses_no_call_that_retries_would_save() {
    let short = Batch::ALL.iter().filter(|batch| batch.workers > 1);
    let lost = short.map(|batch| async move {
        let lost = batch.lost_over_sockets(Some(Budget::new), SEED).await;
        (batch.name, lost.unwrap())
    });
    for (name, lost) in futures::future::join_all(lost).await {
        assert_eq!(lost, 0, "{name}");
    }
}
