//! `enabled` in configuration. It affects the whole process, so this is its own test binary.

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

    // A source without `enabled` changes nothing.
    Source::new([&OTHER]).apply().unwrap();
    assert!(!is_enabled());

    // A source with a mistake changes nothing either.
    let wrong = Source::new([&PAYMENTS]).with_toml_text("retry.toml", "enabled = true\nwrong = 1");
    wrong.apply().unwrap_err();
    assert!(!is_enabled());

    file("");
    assert!(is_enabled(), "gone from the file");

    // A source without `enabled` does not change a switch that the program set.
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
