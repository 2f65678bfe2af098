//! One setting of a policy, as configuration writes it.
//!
//! ```text
//! key (the name)  ->  value (with duration and budget)  ->  fault (the message)
//! together (contradictions)
//! serde (a whole policy)
//! ```

mod budget;
mod duration;
mod fault;
mod key;
#[cfg(feature = "serde")]
mod serde;
mod together;
mod typed;
mod value;

pub(crate) use retry_settings::keys::PolicyKey;

pub(crate) use self::budget::BudgetKey;
#[cfg(feature = "config")]
pub(crate) use self::fault::SettingFault;
#[cfg(feature = "config")]
pub(crate) use self::key::{IN_CODE, twice, unknown_in_variable};
pub(crate) use self::key::{SettingKey, unknown_budget_key, unknown_key};
pub(crate) use self::together::{Setter, budget_contradictions, contradictions};
pub(crate) use self::typed::{Change, Value};
pub(crate) use self::value::read;
