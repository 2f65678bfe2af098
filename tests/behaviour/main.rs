//! What a call does: attempts, time, rules, errors, cancellation. Tests run on tokio's paused clock.

#![allow(
    clippy::items_after_statements,
    reason = "a function stands beside the lines that call it"
)]

/// An annotated function that plays its script: `plays!(call(attempts = 2))` is `call` with `#[retry(attempts = 2)]`. What the
/// settings name may be further arguments: `plays!(call(deadline = limit), limit: Duration)`.
macro_rules! plays {
    ($name:ident $(($($settings:tt)*))? $(, $argument:ident: $of:ty)*) => {
        #[reattempt::retry $(($($settings)*))?]
        async fn $name(
            script: &crate::script::Script,
            $($argument: $of),*
        ) -> std::io::Result<usize> {
            script.play().await
        }
    };
    ($name:ident($($settings:tt)*) -> $result:ty $(, $argument:ident: $of:ty)*) => {
        #[reattempt::retry($($settings)*)]
        async fn $name(script: &crate::script::Script, $($argument: $of),*) -> $result {
            Ok(script.play().await?)
        }
    };
}

mod arithmetic;
mod attempt;
mod blocking;
mod budget;
mod cancel;
mod cancellation;
mod combined;
mod conflicts;
mod context;
mod deadlines;
mod derive;
mod drawn;
mod events;
mod hint_jitter;
mod hints;
mod hooks;
mod idempotency_key;
mod idempotent;
mod inherited;
mod limits;
mod limits_hold;
mod listeners;
mod local_tasks;
mod may_have_run;
mod names;
mod nested;
mod nested_model;
mod nested_trees;
mod on_end;
mod outages;
mod pauses;
mod policy_budgets;
mod presets;
mod progress;
mod public_types;
mod recipes;
mod reentrant;
mod refusals;
mod reports;
mod retry_after;
mod rules;
mod run;
mod run_blocking;
mod run_macro;
mod schedule;
mod script;
mod settings;
mod shared_deadlines;
mod stopped_calls;
mod timeout_rules;
mod timeouts;
mod unlimited;
mod until;
