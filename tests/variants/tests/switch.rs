//! The switch and reports are those of one version. In a process of its own, since the switch is that of the process.

use std::io;

use other_version::Policy as OtherPolicy;
use reattempt::Policy;

#[tokio::test(start_paused = true)]
async fn the_switch_and_reports_are_those_of_one_version() {
    let call = async || io::Result::Ok(());
    let (_, report) = reattempt::with_report(OtherPolicy::new().run(call)).await;
    assert!(report.is_none());
    let (_, report) = reattempt::with_report(Policy::new().run(call)).await;
    assert!(report.is_some());

    reattempt::set_enabled(false);
    assert!(!reattempt::is_enabled());
    assert!(other_version::is_enabled());
    reattempt::set_enabled(true);
}
