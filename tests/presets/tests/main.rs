//! Policies and presets from configuration.

mod budgets;
mod loaders;
mod presets;
mod reload;
mod scopes;
mod settings;
