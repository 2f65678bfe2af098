//! Runs every interleaving of two and three threads, with loom's model checker, on the production code. Only the word
//! is loom's.

use std::panic::{AssertUnwindSafe, catch_unwind};

use loom::sync::Arc;
use loom::sync::atomic::{AtomicU64, Ordering};
use loom::thread;

use super::super::numbers::{Balance, BudgetConfig, Charge, Request, TICK_MILLIS};
use super::super::of_call::Ledger;
use super::super::share::Share;
use crate::atomics::Word;

impl Word for AtomicU64 {
    fn load(&self) -> u64 {
        Self::load(self, Ordering::Relaxed)
    }

    fn swap(&self, old: u64, new: u64) -> Result<(), u64> {
        self.compare_exchange_weak(old, new, Ordering::Relaxed, Ordering::Relaxed)
            .map(drop)
    }
}

/// A wrong word, which loads and then stores in two steps. The model must reject it.
struct Racy(AtomicU64);

impl Word for Racy {
    fn load(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    fn swap(&self, old: u64, new: u64) -> Result<(), u64> {
        let seen = self.0.load(Ordering::Relaxed);
        if seen != old {
            return Err(seen);
        }
        self.0.store(new, Ordering::Relaxed);
        Ok(())
    }
}

const SECOND: u64 = 1_000 / TICK_MILLIS;

fn holding(tokens: u32) -> BudgetConfig {
    BudgetConfig {
        start: BudgetConfig::tokens(tokens),
        ..BudgetConfig::AWS
    }
}

/// What the threads of a model share.
struct SharedLedger<W> {
    word: W,
    numbers: BudgetConfig,
}

impl<W: Word> SharedLedger<W> {
    fn view(&self) -> Ledger<'_, W> {
        let Self { word, numbers } = self;
        Ledger { word, numbers }
    }
}

fn ledger(numbers: BudgetConfig) -> Arc<SharedLedger<AtomicU64>> {
    Arc::new(SharedLedger {
        word: AtomicU64::new(numbers.first_word()),
        numbers,
    })
}

/// Runs `act` on `count` threads, this one included, and returns their results.
fn on_threads<W, T>(
    count: usize,
    ledger: &Arc<SharedLedger<W>>,
    act: fn(&Ledger<'_, W>) -> T,
) -> Vec<T>
where
    W: Word + Send + Sync + 'static,
    T: Send + 'static,
{
    let others: Vec<_> = (1..count)
        .map(|_| {
            let ledger = Arc::clone(ledger);
            thread::spawn(move || act(&ledger.view()))
        })
        .collect();
    let mine = act(&ledger.view());
    let mut results: Vec<_> = others
        .into_iter()
        .map(|other| other.join().unwrap())
        .collect();
    results.push(mine);
    results
}

/// The first retry of a call that began in the fault.
fn request(charge: Charge) -> Request {
    Request {
        charge,
        number: 1,
        had_begun: false,
        at_once: false,
    }
}

/// The first retry of a call that had begun when the fault began.
fn of_first_wave() -> Request {
    Request {
        had_begun: true,
        ..request(Charge::Failure)
    }
}

fn take<W: Word>(ledger: &Ledger<'_, W>) -> bool {
    ledger.take(request(Charge::Failure), 0).is_some()
}

#[test]
fn of_three_threads_that_want_the_last_retry_exactly_one_gets_it() {
    loom::model(|| {
        let ledger = ledger(holding(14));
        let won = on_threads(3, &ledger, take)
            .into_iter()
            .filter(|won| *won)
            .count();
        assert_eq!(won, 1);
        assert_eq!(ledger.view().level(0), 0);
    });
}

#[test]
#[should_panic(expected = "both got the last retry")]
fn the_model_rejects_check_then_act() {
    loom::model(|| {
        let numbers = holding(14);
        let ledger = Arc::new(SharedLedger {
            word: Racy(AtomicU64::new(numbers.first_word())),
            numbers,
        });
        let won = on_threads(2, &ledger, take)
            .into_iter()
            .filter(|won| *won)
            .count();
        assert!(won < 2, "both got the last retry");
    });
}

#[test]
fn deposits_of_several_threads_add_up() {
    loom::model(|| {
        let ledger = ledger(holding(0));
        on_threads(3, &ledger, |ledger| ledger.succeed(None, || 0));
        assert_eq!(ledger.view().level(0), 3_000);
    });
}

#[test]
fn the_model_rejects_deposits_that_are_loaded_then_stored() {
    let lost = catch_unwind(AssertUnwindSafe(|| {
        loom::model(|| {
            let numbers = holding(0);
            let ledger = Arc::new(SharedLedger {
                word: Racy(AtomicU64::new(numbers.first_word())),
                numbers,
            });
            on_threads(2, &ledger, |ledger| ledger.succeed(None, || 0));
            assert_eq!(ledger.view().level(0), 2_000);
        });
    }));
    assert!(lost.is_err());
}

#[test]
fn retries_given_back_and_begun_at_once_leave_the_exact_balance() {
    loom::model(|| {
        let ledger = ledger(holding(28));
        let other = Arc::clone(&ledger);
        let dropping = thread::spawn(move || {
            // This gives the price back while the other thread works.
            if take(&other.view()) {
                other.view().give(14_000);
            }
        });
        assert!(take(&ledger.view()));
        ledger.view().succeed(Some(Charge::Failure), || 0);
        let second = ledger.view().take(request(Charge::Throttled), 0);
        dropping.join().unwrap();
        assert_eq!(second, Some(Charge::Throttled));
        assert_eq!(ledger.view().level(0), 23_000);
    });
}

#[test]
fn time_is_credited_once_when_several_threads_look_at_it() {
    loom::model(|| {
        // The price of one retry comes back each second. Both threads ask one second later.
        let ledger = ledger(BudgetConfig {
            refill: 14_000,
            ..holding(0)
        });
        let won = on_threads(2, &ledger, |ledger| {
            ledger.take(request(Charge::Failure), SECOND).is_some()
        });
        assert_eq!(won.into_iter().filter(|won| *won).count(), 1);
        assert_eq!(ledger.view().level(SECOND), 0);
    });
}

/// A budget of four retries, which has a free first wave.
fn four() -> BudgetConfig {
    BudgetConfig {
        start: 8_000,
        capacity: 8_000,
        refill: 0,
        ..BudgetConfig::DEFAULT
    }
}

#[test]
fn a_fault_begins_once_and_is_free_for_those_under_way() {
    loom::model(|| {
        let ledger = ledger(four());
        // Of three calls, two pay. Then the fault is serious.
        let charges = on_threads(3, &ledger, |ledger| ledger.take(of_first_wave(), 0));
        let paid = |charge: &&Option<Charge>| **charge == Some(Charge::Failure);
        assert_eq!(charges.iter().filter(paid).count(), 2);
        assert!(charges.contains(&Some(Charge::Free)));
        assert_eq!(ledger.view().level(0), 4_000);
    });
}

#[test]
fn a_success_ends_a_fault_or_the_retry_beside_it_goes_on_with_it() {
    loom::model(|| {
        let ledger = ledger(four());
        for _ in 0..3 {
            assert!(take(&ledger.view()));
        }
        for _ in 0..2 {
            ledger.view().succeed(Some(Charge::Failure), || 0);
        }
        // The last tokens come back while a call asks that had begun when the fault began.
        let other = Arc::clone(&ledger);
        let success = thread::spawn(move || {
            other.view().succeed(Some(Charge::Failure), || 0);
        });
        let charge = ledger.view().take(of_first_wave(), 0);
        success.join().unwrap();
        // Either the retry was first, and free, or it pays, and begins the next fault.
        let is_at_rest = Balance::unpack(ledger.word.load(Ordering::Relaxed)).is_at_rest();
        match charge {
            Some(Charge::Free) => assert!(is_at_rest),
            Some(Charge::Failure) => assert_eq!(ledger.view().level(0), 6_000),
            other => panic!("{other:?}"),
        }
    });
}

#[test]
fn of_three_threads_that_want_the_last_hedge_exactly_one_gets_it() {
    loom::model(|| {
        let share = Arc::new(Share(AtomicU64::new(9 * 16)));
        let mine = Arc::clone(&share);
        let others: Vec<_> = (0..2)
            .map(|_| {
                let share = Arc::clone(&share);
                thread::spawn(move || share.take())
            })
            .collect();
        let won = usize::from(mine.take());
        let others = others.into_iter().map(|other| other.join().unwrap());
        assert_eq!(won + others.filter(|won| *won).count(), 1);
    });
}

#[test]
fn calls_of_several_threads_add_up_to_a_hedge() {
    loom::model(|| {
        // Three sixteenths below one hedge.
        let share = Arc::new(Share(AtomicU64::new(9 * 16 + 3)));
        let others: Vec<_> = (0..2)
            .map(|_| {
                let share = Arc::clone(&share);
                thread::spawn(move || share.add())
            })
            .collect();
        share.add();
        for other in others {
            other.join().unwrap();
        }
        assert!(share.take());
        assert!(!share.take());
    });
}
