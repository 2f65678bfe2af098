//! Everything the macro may say, and the accumulator that says all of it at once.
