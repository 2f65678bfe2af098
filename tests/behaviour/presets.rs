//! Presets: policies with a name.

use reattempt::{Outcome, Policy, Preset, with_report};

use crate::script::{RESET, Script, Step, ending, ms};

static SEARCH: Preset = Preset::new(
    "search",
    Policy::new().with_attempts(4).with_timeout(ms(50)),
);

plays!(find(policy = &SEARCH));

plays!(find_soon(policy = &SEARCH, attempts = 2));

#[tokio::test(start_paused = true)]
async fn a_function_uses_the_policy_of_its_preset() {
    let script = Script::new([RESET, RESET, RESET, Step::Succeed]);
    assert_eq!(find(&script).await.unwrap(), 4);

    let script = Script::new([Step::Hang]);
    let error = find(&script).await.unwrap_err();
    assert_eq!(ending(&error), (Outcome::Timeout, 4, None));
}

#[tokio::test(start_paused = true)]
async fn keys_of_the_attribute_override_the_preset() {
    let script = Script::new([Step::Hang]);
    let error = find_soon(&script).await.unwrap_err();
    assert_eq!(ending(&error), (Outcome::Timeout, 2, None));
}

#[tokio::test(start_paused = true)]
async fn a_preset_runs_a_closure_and_the_call_is_named_after_this_file() {
    let script = Script::new([RESET, Step::Succeed]);
    let (result, report) = with_report(SEARCH.run(|| script.play())).await;
    assert_eq!(result.unwrap(), 2);
    let function = report.unwrap().function();
    assert!(function.contains("presets.rs"), "{function}");
}
