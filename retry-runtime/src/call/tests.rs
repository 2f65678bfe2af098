//! What cannot be seen from outside.

use std::sync::Once;
use std::time::Duration;

use super::Call;
use crate::Policy;
use crate::site::Site;

/// Were it remembered as a little longer, the next delay could be above three times what it was.
#[test]
fn a_delay_is_remembered_as_no_longer_than_it_was() {
    static NOTED: Once = Once::new();
    static SITE: Site<false> = Site::new("call", Policy::new(), &NOTED);
    let mut call = Call::begin(&SITE);
    assert_eq!(call.core.previous_delay(), None, "before the first");
    for exponent in 0..=60 {
        for odd in [1, 3, 5, 7, 99, 12_345_677] {
            let nanos = (odd << exponent) / 8 + 1;
            let delay = Duration::from_nanos(nanos);
            call.core.remember_delay(delay);
            let kept = call.core.previous_delay().unwrap();
            let lost = delay.checked_sub(kept).expect("not longer");
            assert!(
                lost.as_nanos() * 1_000_000 <= delay.as_nanos() + 500_000,
                "{delay:?}"
            );
        }
    }
}
