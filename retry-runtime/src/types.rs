//! Types that functions and methods return, and that you rarely have to name.

pub use crate::listen::WithReport;
pub use crate::propagate::Propagate;
pub use crate::report::HedgeOutcome;
