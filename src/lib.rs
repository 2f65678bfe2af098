//! Retries for async functions in one attribute.
