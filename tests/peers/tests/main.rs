//! What a call costs, and what other crates do.

mod agreement;
mod blocking;
mod claims;
mod limits;
mod nested;
