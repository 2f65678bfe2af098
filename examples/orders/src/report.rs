//! What became of each order, and whether it is right.

use std::collections::BTreeMap;
use std::fmt::Write as _;

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

/// A line for each way in which an order went: the answer to the customer, and the state in the end.
pub(crate) fn table(fates: &[Fate]) -> String {
    let mut ways = BTreeMap::<_, (usize, u32)>::new();
    for fate in fates {
        let (orders, charges) = ways.entry((fate.answer, fate.state)).or_default();
        *orders += 1;
        *charges += fate.charges;
    }
    let mut text = String::new();
    for ((answer, state), (orders, charges)) in ways {
        let answer = answer.as_ref().map_or("nothing", StatusCode::as_str);
        let state = state.map_or("unknown".to_owned(), |state| format!("{state:?}"));
        let _ = writeln!(
            text,
            "{orders:>4} orders: answered {answer}, then {state}, {charges} charges"
        );
    }
    let [lost, twice] = [Fate::is_lost, Fate::is_charged_twice]
        .map(|is| fates.iter().filter(|fate| is(fate)).count());
    text + &format!("{lost} orders are lost, {twice} are charged twice.")
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
            let said = format!("{lost} orders are lost, {twice} are charged twice.");
            assert!(table(&fates).ends_with(&said), "{fates:?}");
        }
    }
}
