//! What is worth another attempt.
