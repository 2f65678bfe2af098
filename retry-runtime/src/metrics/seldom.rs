//! A question that is asked less often after the answer no.

use std::cell::Cell;

/// After the answer no, so many uses do without the question.
///
/// A question takes 13 instructions, 5 of them in a function of the crate `metrics` that is not inlined: 9 % of a call that
/// succeeds at once. With this number, an attempt takes 7 on average.
const UNASKED: u8 = 15;

/// Asks at the first use. After the answer yes it asks each time, and after no at every sixteenth use.
#[derive(Debug)]
pub(super) struct Seldom {
    /// So many uses go by without the question.
    unasked: Cell<u8>,
}

impl Seldom {
    pub(super) const fn new() -> Self {
        Self {
            unasked: Cell::new(0),
        }
    }

    /// Returns the answer, or no if it does not ask.
    #[inline]
    pub(super) fn ask(&self, question: impl FnOnce() -> bool) -> bool {
        let Some(unasked) = self.unasked.get().checked_sub(1) else {
            return self.ask_now(question);
        };
        self.unasked.set(unasked);
        false
    }

    #[inline(never)]
    fn ask_now(&self, question: impl FnOnce() -> bool) -> bool {
        let yes = question();
        if !yes {
            self.unasked.set(UNASKED);
        }
        yes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Uses `seldom` so many times, and returns how often it asked.
    fn asked(seldom: &Seldom, uses: usize, answer: bool) -> usize {
        let asked = Cell::new(0);
        for _ in 0..uses {
            let before = asked.get();
            let yes = seldom.ask(|| {
                asked.set(asked.get() + 1);
                answer
            });
            assert_eq!(yes, answer && asked.get() > before);
        }
        asked.get()
    }

    #[test]
    fn after_the_answer_yes_it_asks_each_time() {
        assert_eq!(asked(&Seldom::new(), 100, true), 100);
    }

    #[test]
    fn after_the_answer_no_it_asks_at_every_sixteenth_use() {
        for (uses, times) in [(1, 1), (16, 1), (17, 2), (32, 2), (33, 3)] {
            assert_eq!(asked(&Seldom::new(), uses, false), times, "{uses} uses");
        }
    }

    #[test]
    fn a_yes_is_found_by_the_sixteenth_use() {
        let seldom = Seldom::new();
        assert_eq!(asked(&seldom, 1, false), 1);
        assert_eq!(asked(&seldom, 15, true), 0);
        assert_eq!(asked(&seldom, 100, true), 100);
    }
}
