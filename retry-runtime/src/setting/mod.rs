//! One setting of a policy, as configuration writes it.
//!
//! ```text
//! key (the name)  ->  value (with duration)  ->  fault (the message)
//! together (contradictions)
//! serde (a whole policy)
//! ```

mod duration;
mod fault;
mod key;
#[cfg(feature = "serde")]
mod serde;
mod together;
mod value;

pub(crate) use retry_settings::keys::PolicyKey;

#[cfg(feature = "config")]
pub(crate) use self::fault::SettingFault;
#[cfg(feature = "config")]
pub(crate) use self::key::DELAYS;
pub(crate) use self::key::unknown_key;
pub(crate) use self::together::{Setter, contradictions};
pub(crate) use self::value::{PolicySetting, Value};
