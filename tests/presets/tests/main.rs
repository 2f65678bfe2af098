//! Policies and presets from configuration.

mod both_sides;
mod budgets;
mod loaders;
mod presets;
mod reload;
mod scopes;
mod settings;
