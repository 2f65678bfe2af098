//! The policies by name, and which function uses which.

use std::path::Path;
use std::time::Duration;

use figment::Figment;
use figment::providers::{Env, Format as _, Toml};
use reattempt::{FAST_IO, Policy, Preset, Settings, configure, set_enabled};
use serde::Deserialize;

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

/// The settings of the file and of the variables.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct Config {
    enabled: Option<bool>,
    catalogue: Settings,
    cart: Settings,
    orders: Settings,
}

/// Reads a file, and variables such as `RETRY_CATALOGUE__ATTEMPTS=2`, and sets the presets.
///
/// # Errors
///
/// - A mistake, with its key and its file or variable. Then nothing has changed.
pub(crate) fn load(file: &Path) -> Result<(), String> {
    let read = Figment::new()
        .merge(Toml::file_exact(file))
        .merge(Env::prefixed("RETRY_").split("__"))
        .extract();
    let config: Config = read.map_err(|error| error.to_string())?;
    let settings = [
        (&CATALOGUE, config.catalogue),
        (&CART, config.cart),
        (&ORDERS, config.orders),
    ];
    configure(settings).map_err(|error| error.to_string())?;
    // Without the key, the switch stays as the page has set it.
    if let Some(enabled) = config.enabled {
        set_enabled(enabled);
    }
    Ok(())
}
