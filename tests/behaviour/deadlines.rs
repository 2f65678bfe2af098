//! The limit of the whole call.

use std::io;
use std::time::Duration;

use proptest::prelude::*;
use reattempt::{Outcome, Stopped, retry};

use crate::script::{RESET, Script, Step, ms};

plays! { within_a_second(attempts = 10, deadline = "1s", base = "300ms", backoff = "constant", jitter = "none") }

fn outcome(error: &io::Error) -> Option<Outcome> {
    error
        .get_ref()?
        .downcast_ref::<Stopped>()
        .map(Stopped::outcome)
}

#[tokio::test(start_paused = true)]
async fn a_doomed_wait_is_not_waited() {
    let script = Script::new([RESET]);
    let error = within_a_second(&script).await.unwrap_err();
    // Attempts begin at 0, 300, 600 and 900 ms. The next attempt would begin at 1,200 ms.
    assert_eq!((script.calls(), script.elapsed()), (4, ms(900)));
    assert_eq!(
        (error.kind(), error.to_string().as_str()),
        (io::ErrorKind::ConnectionReset, "call 4")
    );
}

#[tokio::test(start_paused = true)]
async fn a_call_whose_next_delay_does_not_fit_names_its_own_deadline() {
    #[retry(
        attempts = 3,
        timeout = "1s",
        deadline = "3s",
        base = "2.5s",
        jitter = "none"
    )]
    async fn call(script: &Script) -> Result<usize, Stopped> {
        Ok(script.play().await.expect("it hangs"))
    }
    let stopped = call(&Script::new([Step::Hang])).await.unwrap_err();
    assert_eq!(
        stopped.to_string(),
        "the deadline of 3s leaves no time for another attempt (1 attempt, 1s)"
    );
}

#[tokio::test(start_paused = true)]
async fn deadline_cuts_the_last_wait() {
    // With jitter, the call cuts the range of the draw to the time that is left.
    plays! { spread(attempts = 100, deadline = "1s", base = "20s", backoff = "constant", budget = "none") }
    for _ in 0..50 {
        let script = Script::new([RESET]);
        let error = spread(&script).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
        // Without the cut, 19 of 20 draws would be beyond the deadline. The last attempt has 50 ms left.
        assert!(script.calls() > 1);
        assert!(script.elapsed() <= ms(951), "{:?}", script.elapsed());
    }
}

#[tokio::test(start_paused = true)]
async fn the_timeout_is_cut_to_what_is_left() {
    plays! { both(attempts = 10, timeout = "700ms", deadline = "1s", base = "100ms", jitter = "none") }
    let script = Script::new([Step::Hang]);
    let error = both(&script).await.unwrap_err();
    assert_eq!(outcome(&error), Some(Outcome::Deadline));
    assert_eq!(script.times(), [ms(0), ms(800)]);
    assert_eq!(script.elapsed(), ms(1000));
}

#[tokio::test(start_paused = true)]
async fn a_deadline_of_zero_polls_the_first_attempt_once() {
    plays!(at_once(attempts = 5, deadline = Duration::ZERO));
    #[retry(attempts = 1)]
    async fn within(script: &Script) -> io::Result<usize> {
        at_once(script).await
    }
    for is_inner in [false, true] {
        let call = async |script: &Script| {
            if is_inner {
                within(script).await
            } else {
                at_once(script).await
            }
        };
        let ready = Script::new([Step::Succeed]);
        assert_eq!(call(&ready).await.unwrap(), 1);
        let pending = Script::new([Step::Hang]);
        let cut = call(&pending).await.unwrap_err();
        assert_eq!(outcome(&cut), Some(Outcome::Deadline));
        let failing = Script::new([RESET]);
        assert_eq!(call(&failing).await.unwrap_err().to_string(), "call 1");
        assert_eq!((pending.calls(), failing.calls()), (1, 1));
    }
}

#[tokio::test(start_paused = true)]
async fn time_counts_from_the_first_poll() {
    let script = Script::new([Step::SucceedAfter(ms(900))]);
    let call = within_a_second(&script);
    tokio::time::advance(Duration::from_secs(10)).await;
    assert_eq!(call.await.unwrap(), 1);
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        Just(RESET),
        (0_u64..3000).prop_map(|millis| Step::FailAfter(ms(millis))),
        (0_u64..3000).prop_map(|millis| Step::SucceedAfter(ms(millis))),
        Just(Step::Hang),
    ]
}

proptest! {
    /// Never more calls than `attempts`, never later than the deadline.
    #[test]
    fn no_script_passes_its_limits(
        steps in prop::collection::vec(step(), 1..8),
        timeout in 1_u64..2000,
        deadline in 1_u64..4000,
    ) {
        #[retry(attempts = 4, timeout = timeout, deadline = deadline, jitter = "equal")]
        async fn call(script: &Script, timeout: Duration, deadline: Duration) -> io::Result<usize> {
            script.play().await
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        let (calls, elapsed) = runtime.block_on(async {
            let script = Script::new(steps);
            let _ = call(&script, ms(timeout), ms(deadline)).await;
            (script.calls(), script.elapsed())
        });
        prop_assert!(calls <= 4);
        // Timers have steps of 1 ms.
        prop_assert!(elapsed <= ms(deadline + 1), "{elapsed:?} with a deadline of {deadline} ms");
    }
}
