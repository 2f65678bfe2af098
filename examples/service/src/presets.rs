//! The policies by name, and which function uses which.

use std::path::Path;
use std::time::Duration;

use reattempt::{FAST_IO, Policy, Preset, config};

/// An HTTP server that answers in some milliseconds.
pub(crate) static CATALOGUE: Preset = Preset::new(
    "catalogue",
    Policy::new()
        .with_attempts(4)
        .with_timeout(Duration::from_millis(300))
        .with_deadline(Duration::from_secs(2))
        .with_base(Duration::from_millis(50))
        .with_max_delay(Duration::from_secs(1)),
);

/// A cache in the same data centre. A page must not wait long for it.
pub(crate) static CART: Preset = Preset::new(
    "cart",
    FAST_IO
        .with_timeout(Duration::from_millis(100))
        .with_deadline(Duration::from_millis(600)),
);

/// Transactions.
pub(crate) static ORDERS: Preset = Preset::new(
    "orders",
    Policy::new()
        .with_attempts(4)
        .with_timeout(Duration::from_secs(1))
        .with_deadline(Duration::from_secs(3))
        .with_base(Duration::from_millis(20))
        .with_max_delay(Duration::from_millis(500)),
);

pub(crate) static PRESETS: [&Preset; 3] = [&CATALOGUE, &CART, &ORDERS];

/// The label of each retried function in metrics and events, with its preset.
pub(crate) static FUNCTIONS: [(&str, &Preset); 4] = [
    ("service::catalogue::price", &CATALOGUE),
    ("service::cart::add", &CART),
    ("service::cart::count_visit", &CART),
    ("service::orders::place", &ORDERS),
];

/// The settings that override the presets: a file, and variables such as `RETRY_CATALOGUE_ATTEMPTS=2`.
///
/// # Errors
///
/// - The file cannot be read.
pub(crate) fn source(file: &Path) -> Result<config::Source, config::ConfigError> {
    config::Source::new(PRESETS)
        .with_toml_file(file)?
        .with_env("RETRY")
}
