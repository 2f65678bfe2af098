//! `enabled` in configuration. It acts on the whole process, so this is a test of its own.

use reattempt::config::Source;
use reattempt::{Policy, Preset, is_enabled, set_enabled};

static PAYMENTS: Preset = Preset::new("payments", Policy::new());
static OTHER: Preset = Preset::new("other", Policy::new());

fn file(text: &str) {
    let source = Source::new([&PAYMENTS]).with_toml_text("retry.toml", text);
    source.apply().unwrap();
}

#[test]
fn configuration_turns_retries_off_and_on_again() {
    file("enabled = false");
    assert!(!is_enabled());

    // Another source does not set it, so it changes nothing.
    Source::new([&OTHER]).apply().unwrap();
    assert!(!is_enabled());

    // A mistake changes nothing either.
    let wrong = Source::new([&PAYMENTS]).with_toml_text("retry.toml", "enabled = true\nwrong = 1");
    wrong.apply().unwrap_err();
    assert!(!is_enabled());

    file("");
    assert!(is_enabled(), "gone from the file");

    // A switch that the program sets is its own.
    set_enabled(false);
    file("");
    assert!(!is_enabled());
    file("enabled = true");
    assert!(is_enabled());

    let source = Source::new([&PAYMENTS]).with_toml_text("retry.toml", "enabled = true");
    let source = source
        .with_env_from("RETRY", [("RETRY_ENABLED", "false")])
        .unwrap();
    source.apply().unwrap();
    assert!(!is_enabled(), "the environment wins");
    file("");
    assert!(is_enabled());
}
