//! What only the feature `testing` has.

mod blocking;
mod faults;
mod hedging;
mod scope;
