//! What a place on the page has to say: a text, or a number with its unit.

/// What a place on the page has to say.
#[derive(Debug)]
pub(crate) enum Expected {
    Text(String),
    /// A number, rounded to so many decimals, and its unit.
    Number(f64, i32, String),
}

use Expected::{Number, Text};

impl Expected {
    /// A number with one decimal, or none from ten on.
    pub(crate) fn short(value: f64, unit: &str) -> Self {
        Number(value, i32::from(value < 10.0), unit.to_owned())
    }

    pub(crate) fn rate(value: f64) -> Self {
        Self::short(value, "/s")
    }

    pub(crate) fn share(part: f64, whole: f64) -> Self {
        if whole > 0.0 {
            Number(100.0 * part / whole, 1, " %".to_owned())
        } else {
            Self::nothing()
        }
    }

    pub(crate) fn duration(seconds: Option<f64>) -> Self {
        match seconds {
            Some(seconds) if seconds < 1.0 => Self::short(1000.0 * seconds, " ms"),
            Some(seconds) => Self::short(seconds, " s"),
            None => Self::nothing(),
        }
    }

    pub(crate) fn nothing() -> Self {
        Text("–".to_owned())
    }

    /// Whether the page says this. A number may differ by half of its last digit.
    pub(crate) fn is(&self, shown: &str) -> bool {
        match self {
            Text(text) => shown == text,
            Number(value, decimals, unit) => {
                let number = shown
                    .strip_suffix(unit.as_str())
                    .map(|text| text.replace(',', ""));
                let number = number.and_then(|text| text.parse::<f64>().ok());
                // Sums in another order differ in the last bits.
                let most = 0.5 * 0.1_f64.powi(*decimals) + 1e-9 * value.abs().max(1.0);
                number.is_some_and(|shown| (shown - value).abs() <= most)
            }
        }
    }
}
