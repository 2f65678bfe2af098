//! The key by which a service recognizes several requests as one.

use std::cell::RefCell;
use std::collections::HashSet;
use std::io;
use std::sync::Mutex;

use reattempt::{Attempt, IdempotencyKey, propagate, retry};

use crate::script::{RESET, Script, Step, ms};

fn key() -> IdempotencyKey {
    Attempt::current().unwrap().idempotency_key()
}

#[retry(budget = "none")]
async fn fresh() -> io::Result<IdempotencyKey> {
    Ok(key())
}

/// A version 4 UUID (RFC 9562) in lower case.
fn assert_is_uuid(key: IdempotencyKey) {
    let text = key.to_string();
    let groups: Vec<_> = text.split('-').map(str::len).collect();
    assert_eq!(groups, [8, 4, 4, 4, 12], "{text}");
    let hex = text.replace('-', "");
    let is_digit = |digit: char| digit.is_ascii_digit() || ('a'..='f').contains(&digit);
    assert!(hex.chars().all(is_digit), "{text}");
    assert_eq!(&text[14..15], "4", "the version: {text}");
    assert!("89ab".contains(&text[19..20]), "the variant: {text}");
    assert_eq!(u128::from_str_radix(&hex, 16), Ok(key.as_u128()));
}

#[tokio::test(start_paused = true)]
async fn keys_are_random_uuids_and_no_two_are_equal() {
    const KEYS: u32 = 10_000;
    let mut keys = Vec::new();
    for _ in 0..KEYS {
        keys.push(fresh().await.unwrap());
    }
    keys.iter().copied().for_each(assert_is_uuid);
    let distinct: HashSet<_> = keys.iter().collect();
    assert_eq!(distinct.len(), keys.len());

    // Each of the 122 random bits is set in half of the keys, and differs in half of the neighbours. The standard
    // deviation is 50. A fair bit deviates by seven of these once in 10^11.
    let fixed = (0xf << 76) | (0b11 << 62);
    let bits = (0..128).filter(|bit| (fixed >> bit) & 1_u128 == 0);
    let half = (KEYS / 2 - 350)..=(KEYS / 2 + 350);
    for bit in bits {
        let is_set = |number: u128| (number >> bit) & 1 == 1;
        let count = |numbers: &mut dyn Iterator<Item = u128>| {
            u32::try_from(numbers.filter(|number| is_set(*number)).count()).unwrap()
        };
        let set = count(&mut keys.iter().map(|key| key.as_u128()));
        assert!(half.contains(&set), "bit {bit} is set in {set} of {KEYS}");
        let neighbours = keys.windows(2);
        let differ = count(&mut neighbours.map(|pair| pair[0].as_u128() ^ pair[1].as_u128()));
        assert!(half.contains(&differ), "bit {bit} differs in {differ}");
    }
    // On average, 61 bits of two neighbours differ, with a standard deviation of 5.5.
    for pair in keys.windows(2) {
        let differ = (pair[0].as_u128() ^ pair[1].as_u128()).count_ones();
        assert!((15..=107).contains(&differ), "{pair:?}");
    }
}

#[test]
fn threads_share_no_key() {
    let all = Mutex::new(HashSet::new());
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..500 {
                    let key = futures::executor::block_on(fresh()).unwrap();
                    assert!(all.lock().unwrap().insert(key));
                }
            });
        }
    });
    assert_eq!(all.into_inner().unwrap().len(), 4000);
}

/// It does not matter when, and in which attempt, the body first reads the key.
#[tokio::test(start_paused = true)]
async fn all_attempts_of_a_call_have_one_key() {
    #[retry(attempts = 4, timeout = "1s", base = "1ms", budget = "none")]
    async fn call(
        script: &Script,
        asks: &[bool; 4],
        keys: &RefCell<Vec<IdempotencyKey>>,
    ) -> io::Result<usize> {
        let attempt = Attempt::current().unwrap();
        if asks[usize::try_from(attempt.number()).unwrap() - 1] {
            keys.borrow_mut().push(attempt.idempotency_key());
            tokio::time::sleep(ms(1)).await;
            keys.borrow_mut().push(key());
        }
        script.play().await
    }
    for asks in [
        [true, true, true, true],
        [false, true, true, true],
        [false, true, false, true],
        [true, false, false, true],
    ] {
        // The attempts end with an error, a timeout and another error, and then succeed.
        let script = Script::new([RESET, Step::Hang, RESET, Step::Succeed]);
        let keys = RefCell::default();
        call(&script, &asks, &keys).await.unwrap();
        let keys = keys.into_inner();
        assert_eq!(keys.len(), 2 * asks.iter().filter(|asks| **asks).count());
        assert!(keys.iter().all(|key| *key == keys[0]), "{asks:?}: {keys:?}");
        assert_is_uuid(keys[0]);
    }
}

/// A copy of the attempt, made before the first use of the key, gives the same key, even after the call.
#[tokio::test(start_paused = true)]
async fn a_copy_of_the_attempt_knows_the_key_of_its_call() {
    #[retry(attempts = 3, base = "1ms", budget = "none")]
    async fn call(script: &Script, copies: &RefCell<Vec<Attempt>>) -> io::Result<IdempotencyKey> {
        copies.borrow_mut().extend(Attempt::current());
        script.play().await?;
        Ok(key())
    }
    let (script, copies) = (
        Script::new([RESET, RESET, Step::Succeed]),
        RefCell::default(),
    );
    let key = call(&script, &copies).await.unwrap();
    for copy in copies.into_inner() {
        assert_eq!(copy.idempotency_key(), key, "attempt {}", copy.number());
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_that_carries_the_attempt_knows_the_key_of_its_call() {
    #[retry(attempts = 2, base = "1ms", budget = "none")]
    async fn call(script: &Script, asks_first: bool) -> io::Result<[IdempotencyKey; 3]> {
        let before = asks_first.then(key);
        let carried = tokio::spawn(propagate(async { key() }));
        script.play().await?;
        let (carried, own) = (carried.await?, key());
        Ok([before.unwrap_or(own), carried, own])
    }
    for asks_first in [true, false] {
        let script = Script::new([RESET, Step::Succeed]);
        let keys = call(&script, asks_first).await.unwrap();
        assert_eq!(keys, [keys[0]; 3]);
    }
}

/// The body of the outer call may make several inner calls. A service must not take these for one request.
#[tokio::test(start_paused = true)]
async fn a_nested_call_has_a_key_of_its_own_in_each_attempt_around_it() {
    #[retry(attempts = 2, base = "1ms", budget = "none")]
    async fn inner(script: &Script, keys: &RefCell<Vec<IdempotencyKey>>) -> io::Result<usize> {
        keys.borrow_mut().push(key());
        script.play().await
    }
    #[retry(attempts = 2, base = "1ms", budget = "none")]
    async fn outer(script: &Script, keys: &RefCell<Vec<IdempotencyKey>>) -> io::Result<()> {
        let own = key();
        inner(script, keys).await?;
        inner(script, keys).await?;
        assert_eq!(key(), own);
        keys.borrow_mut().push(own);
        if Attempt::current().unwrap().number() == 1 {
            return Err(io::ErrorKind::ConnectionReset.into());
        }
        Ok(())
    }
    let script = Script::new([RESET, Step::Succeed]);
    let keys = RefCell::default();
    outer(&script, &keys).await.unwrap();
    let keys = keys.into_inner();
    // Two attempts of the first inner call, one of the second, and the outer call, in each of its two attempts.
    assert_eq!(keys.len(), 4 + 3);
    assert_eq!((keys[0], keys[3]), (keys[1], keys[6]));
    let distinct: HashSet<_> = keys.iter().collect();
    assert_eq!(distinct.len(), 5);
}
