//! What retries do to a server, in virtual time.

mod annotated;
mod annotated_contention;
mod closed;
mod contention;
mod guide;
mod hedges;
mod load_page;
mod luck;
mod overload;
mod quota;
