use reattempt::reqwest_0_12 as adapter;
use reqwest_0_12 as client;

#[allow(
    clippy::duplicate_mod,
    reason = "one source for each version, so that they cannot differ"
)]
#[path = "scenarios.rs"]
mod scenarios;
