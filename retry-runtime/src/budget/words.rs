//! The text of what a budget allows, for events.

use std::fmt;

use super::numbers::{BudgetConfig, Charge};

/// How many retries a full budget allows.
pub(super) struct RetriesWhenFull(pub(super) BudgetConfig);

impl fmt::Display for RetriesWhenFull {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [failures, timeouts] =
            [Charge::Failure, Charge::Timeout].map(|charge| self.0.retries_when_full(charge));
        match failures {
            None => f.write_str("any number of retries")?,
            Some(0) => f.write_str("no retries")?,
            Some(1) => f.write_str("1 retry")?,
            Some(retries) => write!(f, "{retries} retries")?,
        }
        if failures == timeouts {
            return Ok(());
        }
        f.write_str(" after failures, ")?;
        match timeouts {
            None => f.write_str("any number")?,
            Some(0) => f.write_str("none")?,
            Some(retries) => write!(f, "{retries}")?,
        }
        f.write_str(" after timeouts")
    }
}

#[cfg(test)]
mod tests {
    use crate::budget::Budget;

    fn words(budget: &Budget) -> String {
        budget.of_call().retries_when_full().to_string()
    }

    #[test]
    fn a_full_budget_says_how_many_retries_it_allows() {
        for (budget, expected) in [
            (
                Budget::new(),
                "100 retries after failures, 33 after timeouts",
            ),
            (Budget::aws(), "35 retries"),
            (Budget::ratio(0.1), "10 retries"),
            (
                Budget::new().with_capacity(14),
                "7 retries after failures, 2 after timeouts",
            ),
            (
                Budget::new().with_capacity(2),
                "1 retry after failures, none after timeouts",
            ),
            (Budget::new().with_capacity(1), "no retries"),
            (
                Budget::new().with_retry_cost(0),
                "any number of retries after failures, 33 after timeouts",
            ),
            (
                Budget::new().with_timeout_cost(0),
                "100 retries after failures, any number after timeouts",
            ),
            (
                Budget::new().with_retry_cost(0).with_timeout_cost(0),
                "any number of retries",
            ),
        ] {
            assert_eq!(words(&budget), expected);
        }
    }

    #[test]
    fn the_words_are_of_a_full_budget_also_where_it_is_empty() {
        let budget = Budget::ratio(0.0);
        assert_eq!(words(&budget), "10 retries");
    }
}
