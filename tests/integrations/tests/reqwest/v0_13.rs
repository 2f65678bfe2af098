use reattempt::reqwest_0_13 as adapter;
use reqwest as client;

#[allow(
    clippy::duplicate_mod,
    reason = "one source for each version, so that they cannot differ"
)]
#[path = "scenarios.rs"]
mod scenarios;
