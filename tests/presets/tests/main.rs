//! Policies and presets from configuration.

mod both_sides;
mod budgets;
mod loaders;
mod overridden;
mod presets;
mod reload;
mod scopes;
mod settings;
