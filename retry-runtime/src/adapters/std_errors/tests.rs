use std::convert::Infallible;
use std::io;

use super::*;

#[tokio::test(start_paused = true)]
async fn tokio_s_own_errors_have_verdicts() {
    let never = std::future::pending::<()>();
    let elapsed = tokio::time::timeout(Duration::from_secs(1), never)
        .await
        .unwrap_err();
    assert_eq!(elapsed.verdict(), Verdict::Transient);
    assert_eq!(io::Error::other(elapsed).verdict(), Verdict::Transient);
    let aborted = tokio::spawn(std::future::pending::<()>());
    aborted.abort();
    assert_eq!(aborted.await.unwrap_err().verdict(), Verdict::Permanent);
}

#[tokio::test]
async fn a_panic_in_a_task_is_not_worth_another_attempt() {
    let panicked = tokio::spawn(async { panic!("expected by the test") })
        .await
        .unwrap_err();
    assert!(panicked.is_panic());
    assert_eq!(panicked.verdict(), Verdict::Permanent);
}

#[test]
fn errors_of_std_that_come_back_the_same_are_permanent() {
    fn has_verdict<E: Retryable>() {}
    fn permanent(error: impl Retryable) {
        assert_eq!(error.verdict(), Verdict::Permanent);
    }
    permanent("x".parse::<u8>().unwrap_err());
    permanent("x".parse::<f64>().unwrap_err());
    permanent("x".parse::<bool>().unwrap_err());
    permanent("xy".parse::<char>().unwrap_err());
    permanent("x".parse::<std::net::IpAddr>().unwrap_err());
    permanent(u8::try_from(256_u16).unwrap_err());
    permanent(String::from_utf8(vec![0xff]).unwrap_err());
    permanent(std::str::from_utf8(&[u8::MAX]).unwrap_err());
    permanent(std::ffi::CString::new("\0").unwrap_err());
    permanent(<[u8; 2]>::try_from(&[1_u8][..]).unwrap_err());
    permanent(std::env::var("A=B").unwrap_err());
    permanent(std::fmt::Error);
    has_verdict::<Infallible>();
}
