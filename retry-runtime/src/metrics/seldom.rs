//! A question that each thread asks seldom until one of them gets the answer yes.

use std::cell::Cell;

use crate::atomics::Flag;

/// After the answer no, so many uses of the thread go by without the question.
///
/// The period, one more, is a prime number, so that it finds what comes and goes with a period of its own.
const UNASKED: i8 = 30;

/// Asks at the first use of the thread, and at every 31st until a thread gets the answer yes. After that, each thread asks
/// each time from its next question on.
#[derive(Debug)]
pub(super) struct Seldom {
    /// So many uses go by without the question.
    unasked: Cell<i8>,
}

impl Seldom {
    pub(super) const fn new() -> Self {
        Self {
            unasked: Cell::new(0),
        }
    }

    /// Returns the answer, or no if it does not ask. `ever` is raised at the first yes.
    #[inline]
    pub(super) fn ask(&self, ever: &Flag, question: impl FnOnce() -> bool) -> bool {
        // Counting below zero is one comparison less than looking first.
        let unasked = self.unasked.get().wrapping_sub(1);
        self.unasked.set(unasked);
        unasked < 0 && self.ask_now(ever, question)
    }

    #[inline(never)]
    fn ask_now(&self, ever: &Flag, question: impl FnOnce() -> bool) -> bool {
        let yes = question();
        if yes {
            ever.raise();
        }
        self.unasked.set(if ever.is_down() { UNASKED } else { 0 });
        yes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Uses `seldom` as often as there are answers. Returns at which uses it asked, counted from 1.
    fn asked(seldom: &Seldom, ever: &Flag, answers: impl Iterator<Item = bool>) -> Vec<usize> {
        let mut asked = Vec::new();
        for (answer, number) in answers.zip(1..) {
            let before = asked.len();
            let yes = seldom.ask(ever, || {
                asked.push(number);
                answer
            });
            assert_eq!(yes, answer && asked.len() > before, "use {number}");
        }
        asked
    }

    fn answers(yes: bool, number: usize) -> impl Iterator<Item = bool> {
        std::iter::repeat_n(yes, number)
    }

    #[test]
    fn after_the_answer_no_it_asks_at_every_31st_use() {
        let asked = asked(&Seldom::new(), &Flag::new(), answers(false, 100));
        assert_eq!(asked, [1, 32, 63, 94]);
    }

    #[test]
    fn after_the_answer_yes_it_asks_each_time() {
        let (seldom, ever) = (Seldom::new(), Flag::new());
        assert_eq!(asked(&seldom, &ever, answers(true, 100)).len(), 100);
        assert_eq!(asked(&seldom, &ever, answers(false, 100)).len(), 100);
    }

    #[test]
    fn a_later_yes_is_found_at_the_31st_use_at_the_latest() {
        let (seldom, ever) = (Seldom::new(), Flag::new());
        let asked = asked(&seldom, &ever, answers(false, 1).chain(answers(true, 100)));
        assert_eq!(asked[..3], [1, 32, 33]);
        assert_eq!(asked.len(), 71);
    }

    #[test]
    fn the_answer_of_one_thread_holds_for_all() {
        let (one, two, ever) = (Seldom::new(), Seldom::new(), Flag::new());
        assert_eq!(asked(&one, &ever, answers(false, 1)), [1]);
        assert_eq!(asked(&two, &ever, answers(true, 1)), [1]);
        assert_eq!(asked(&one, &ever, answers(false, 40))[..3], [31, 32, 33]);
    }

    #[test]
    fn a_yes_that_comes_and_goes_is_found() {
        for period in 2..=30 {
            let ever = Flag::new();
            let at_last_of_period = (1..=31 * period).map(|number| number % period == 0);
            asked(&Seldom::new(), &ever, at_last_of_period);
            assert!(!ever.is_down(), "period {period}");
        }
    }
}
