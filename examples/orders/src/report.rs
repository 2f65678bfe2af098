//! What became of each order, and whether it is right.

use std::collections::BTreeMap;

use reqwest::StatusCode;

use crate::charge::Order;
use crate::orders::State;
use crate::service::BAD_CARD;

/// One order, as each side knows it.
#[derive(Debug)]
pub(crate) struct Fate {
    pub(crate) order: Order,
    /// The answer to the customer.
    pub(crate) answer: Option<StatusCode>,
    /// What the shop knows.
    pub(crate) state: Option<State>,
    /// What the payment service did.
    pub(crate) charges: u32,
}

impl Fate {
    /// Whether the customer waits for it in vain, or the shop is mistaken.
    fn is_lost(&self) -> bool {
        match (self.answer, self.state) {
            (Some(_), Some(State::Charged)) => self.charges == 0,
            (Some(_), Some(State::Refused)) => self.order.card != BAD_CARD || self.charges > 0,
            _ => true,
        }
    }

    fn is_charged_twice(&self) -> bool {
        self.charges > 1
    }
}

#[derive(Default)]
struct Row {
    orders: usize,
    charges: u32,
    twice: usize,
    lost: usize,
}

impl Row {
    fn add(&mut self, fate: &Fate) {
        self.orders += 1;
        self.charges += fate.charges;
        self.twice += usize::from(fate.is_charged_twice());
        self.lost += usize::from(fate.is_lost());
    }

    fn text(&self, answer: &str, state: &str) -> String {
        let Self {
            orders,
            charges,
            twice,
            lost,
        } = self;
        format!("{answer:<8}{state:<9}{orders:>7}{charges:>9}{twice:>15}{lost:>6}")
    }
}

/// The table, with a row for each way in which an order went: the answer to the customer, and the state in the end.
pub(crate) fn table(fates: &[Fate]) -> String {
    let mut rows: BTreeMap<_, Row> = BTreeMap::new();
    let mut all = Row::default();
    for fate in fates {
        rows.entry((fate.answer, fate.state)).or_default().add(fate);
        all.add(fate);
    }
    let mut lines = vec!["answer  then      orders  charges  charged twice  lost".to_owned()];
    for ((answer, state), row) in rows {
        let answer = answer.as_ref().map_or("none", StatusCode::as_str);
        let state = state.map_or("unknown".to_owned(), |state| {
            format!("{state:?}").to_lowercase()
        });
        lines.push(row.text(answer, &state));
    }
    lines.push(all.text("all", ""));
    lines.join("\n")
}

/// The orders that are lost or charged twice.
pub(crate) fn wrong(fates: &[Fate]) -> Vec<&Fate> {
    let wrong = |fate: &&Fate| fate.is_lost() || fate.is_charged_twice();
    fates.iter().filter(wrong).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::customers;

    fn fate(number: u32, answer: u16, state: Option<State>, charges: u32) -> Fate {
        Fate {
            order: customers::order(number),
            answer: StatusCode::from_u16(answer).ok(),
            state,
            charges,
        }
    }

    #[test]
    fn an_order_that_is_lost_or_charged_twice_is_wrong() {
        let (good, bad) = (0, 9);
        for right in [
            fate(good, 201, Some(State::Charged), 1),
            fate(good, 202, Some(State::Charged), 1),
            fate(bad, 402, Some(State::Refused), 0),
            fate(bad, 202, Some(State::Refused), 0),
        ] {
            assert!(wrong(&[right]).is_empty());
        }
        for (lost, twice, fate) in [
            (1, 0, fate(good, 202, Some(State::Charged), 0)),
            (1, 0, fate(good, 202, Some(State::Refused), 0)),
            (1, 0, fate(good, 202, Some(State::Queued), 1)),
            (1, 0, fate(good, 202, Some(State::Buried), 0)),
            (1, 0, fate(good, 202, None, 1)),
            (1, 0, fate(good, 0, Some(State::Charged), 1)),
            (0, 1, fate(good, 201, Some(State::Charged), 2)),
            (1, 1, fate(bad, 402, Some(State::Refused), 2)),
        ] {
            let fates = [fate];
            assert_eq!(wrong(&fates).len(), 1, "{fates:?}");
            let table = table(&fates);
            let all = table.lines().last().unwrap();
            assert!(all.ends_with(&format!("{twice:>15}{lost:>6}")), "{table}");
        }
    }
}
