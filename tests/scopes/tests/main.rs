//! What only the feature `testing` has.

mod blocking;
mod hedging;
mod scope;
