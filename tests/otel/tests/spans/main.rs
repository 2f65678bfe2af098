//! The spans of calls, as OpenTelemetry receives them.

mod blocking;
mod body;
mod dropped;
mod each;
mod levels;
mod nested;
mod recorded;
mod requests;
mod without_attribute;
