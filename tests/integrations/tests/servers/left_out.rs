//! Runs this test binary as on a machine without servers.

use std::process::{Command, Output};

const TEST: &str = "redis::what_the_server_says_is_by_its_kind";

fn without_programs(ci: Option<&str>) -> (Output, String) {
    let mut tests = Command::new(std::env::current_exe().unwrap());
    tests
        .args(["--exact", TEST])
        .env("PATH", "")
        .env_remove("CI");
    if let Some(ci) = ci {
        tests.env("CI", ci);
    }
    let output = tests.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    (output, text)
}

pub(crate) async fn a_test_whose_server_is_missing_is_ignored_with_the_reason_and_fails_in_ci() {
    const REASON: &str = "`redis-server` is not installed: apt-get install redis-server";
    let (here, said) = without_programs(None);
    assert!(here.status.success(), "{said}");
    assert!(said.contains("1 ignored"), "{said}");
    assert!(said.contains(REASON), "{said}");
    let (ci, said) = without_programs(Some("true"));
    assert!(!ci.status.success(), "{said}");
    assert!(said.contains("1 failed") && said.contains(REASON), "{said}");
}
