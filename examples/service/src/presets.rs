//! The policies by name, and which functions use them.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use figment::Figment;
use figment::providers::{Env, Format as _, Toml};
use reattempt::{FAST_IO, Policy, Preset, Settings, configure, set_enabled, set_listener};
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

/// The functions that made a call, by their label in metrics and events.
static SEEN: Mutex<BTreeSet<&str>> = Mutex::new(BTreeSet::new());

/// Collects the functions from now on.
pub(crate) fn collect_functions() {
    set_listener(|report| {
        seen().insert(report.function());
    });
}

/// The functions, each with its preset, which has the name of its module.
pub(crate) fn functions() -> Vec<(&'static str, &'static Preset)> {
    let preset_of = |function: &str| {
        let module = function.split("::").nth(1)?;
        PRESETS.into_iter().find(|preset| preset.name() == module)
    };
    let seen = seen();
    let functions = seen.iter();
    functions
        .filter_map(|function| Some((*function, preset_of(function)?)))
        .collect()
}

fn seen() -> MutexGuard<'static, BTreeSet<&'static str>> {
    SEEN.lock().unwrap_or_else(PoisonError::into_inner)
}

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
