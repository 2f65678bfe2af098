//! What the guide recommends for whole programs, against the fault that it is about.

use std::cell::{Cell, RefCell};
use std::pin::pin;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Duration;
use std::{io, mem};

use futures::FutureExt as _;
use futures::stream::{self, StreamExt as _};
use reattempt::{BATCH, Budget, Policy, Verdict, retry};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};

use crate::script::ms;

/// `cancelling.md`: a call in a `select!` that is in a loop.
#[tokio::test(start_paused = true)]
async fn a_select_in_a_loop_begins_the_call_again_unless_the_call_is_made_before_it() {
    #[retry(attempts = 4, base = "1s", jitter = "none")]
    async fn fetch(numbers: &Cell<(u32, u32)>) -> io::Result<()> {
        let (calls, retries) = numbers.get();
        let first = reattempt::Attempt::current().is_some_and(|attempt| attempt.number() == 1);
        numbers.set(if first {
            (calls + 1, retries)
        } else {
            (calls, retries + 1)
        });
        Err(io::ErrorKind::ConnectionReset.into())
    }
    let (again, once) = (Cell::default(), Cell::default());
    let began = Instant::now();
    while began.elapsed() < ms(3_000) {
        tokio::select! { _ = fetch(&again) => break, () = sleep(ms(100)) => {} }
    }
    assert_eq!(again.get(), (30, 0));
    let mut call = pin!(fetch(&once));
    loop {
        tokio::select! { _ = &mut call => break, () = sleep(ms(100)) => {} }
    }
    assert_eq!(once.get(), (1, 3));
}

/// `programs.md`: two hundred prompts, fifty at a time, of which the server takes twenty a second and sends the others back for a second.
#[tokio::test(start_paused = true)]
async fn a_batch_under_a_rate_limit_loses_nothing() {
    async fn lost(policy: Policy, budget: Budget) -> usize {
        let (second, taken) = (Cell::new(0), Cell::new(0));
        let began = Instant::now();
        let prompt = async || {
            sleep(ms(50)).await;
            let now = began.elapsed().as_secs();
            if second.replace(now) != now {
                taken.set(0);
            }
            taken.set(taken.get() + 1);
            if taken.get() > 20 {
                Err(io::Error::from(io::ErrorKind::ResourceBusy))
            } else {
                Ok(())
            }
        };
        let run = || {
            let run = policy.run(&prompt).with_budget(&budget);
            run.verdict(|_: &io::Error| (Verdict::Throttled, Some(ms(1_000))))
                .unboxed()
        };
        let all = stream::iter(0..200).map(|_| async { run().await.is_err() });
        all.buffer_unordered(50)
            .filter(|lost| std::future::ready(*lost))
            .count()
            .await
    }
    let pause = || Budget::new().with_pause();
    // With three attempts, most are lost, and many with a pause for all.
    assert!(lost(Policy::new(), Budget::new()).await > 100);
    assert!(lost(Policy::new(), pause()).await > 20);
    assert_eq!(lost(BATCH, Budget::new()).await, 0);
    assert_eq!(lost(BATCH, pause()).await, 0);
}

/// `clients.md`: a rule may count.
#[tokio::test(start_paused = true)]
async fn a_rule_may_allow_fewer_attempts_for_one_kind_of_error() {
    #[retry(attempts = 5, unless = |error: &io::Error| {
        error.kind() == io::ErrorKind::TimedOut && slow.fetch_add(1, Relaxed) >= 1
    })]
    async fn fails(kind: io::ErrorKind, attempts: &Cell<u32>, slow: &AtomicU32) -> io::Result<()> {
        attempts.set(attempts.get() + 1);
        Err(kind.into())
    }
    for (kind, expected) in [
        (io::ErrorKind::TimedOut, 2),
        (io::ErrorKind::ConnectionReset, 5),
        (io::ErrorKind::InvalidInput, 1),
    ] {
        let attempts = Cell::new(0);
        let failed = fails(kind, &attempts, &AtomicU32::new(0)).await;
        assert_eq!(
            (failed.unwrap_err().kind(), attempts.get()),
            (kind, expected)
        );
    }
}

/// `connections.md`: a line that stays open, and on which an answer does not say which request it is for.
struct Line {
    port: DuplexStream,
    /// An answer may still come, also to a call that has ended.
    late: bool,
}

const LONGEST_ANSWER: Duration = ms(2_000);

impl Line {
    #[retry(attempts = 2)]
    async fn read(&mut self, register: u8) -> io::Result<u8> {
        if mem::replace(&mut self.late, true) {
            sleep(LONGEST_ANSWER).await;
            // `clear(ClearBuffer::Input)` of a serial port.
            while self.port.read_u8().now_or_never().is_some() {}
        }
        let asked = async {
            self.port.write_u8(register).await?;
            self.port.read_u8().await
        };
        let answer = timeout(ms(1_000), asked).await??;
        self.late = false;
        Ok(answer)
    }
}

#[tokio::test(start_paused = true)]
async fn a_late_answer_on_a_serial_line_is_not_that_of_the_next_request() {
    let (port, mut device) = duplex(64);
    let answers = async {
        for takes in [10, 1_500, 10, 1_500, 1_500, 10].map(ms) {
            let register = device.read_u8().await.unwrap();
            sleep(takes).await;
            device.write_u8(register + 100).await.unwrap();
        }
    };
    let mut line = Line { port, late: false };
    let reads = async {
        let mut read = async |register| line.read(register).await.map_err(|error| error.kind());
        let timed_out = Err(io::ErrorKind::TimedOut);
        // The first attempt for 2 is late, and both for 3.
        for (register, expected) in [(1, Ok(101)), (2, Ok(102)), (3, timed_out), (4, Ok(104))] {
            assert_eq!(read(register).await, expected);
        }
    };
    tokio::join!(answers, reads);
}

/// A server whose first answer is lost before it took anything.
#[derive(Default)]
struct Store {
    calls: Cell<u32>,
    stored: RefCell<Vec<u8>>,
}

impl Store {
    fn send(&self, batch: &[u8]) -> io::Result<()> {
        if self.calls.replace(self.calls.get() + 1) == 0 {
            return Err(io::ErrorKind::ConnectionReset.into());
        }
        self.stored.borrow_mut().extend_from_slice(batch);
        Ok(())
    }
}

/// `progress.md`: what the body takes out before it is sent is lost.
#[tokio::test(start_paused = true)]
async fn a_buffer_is_emptied_after_it_was_sent() {
    #[retry]
    async fn take(store: &Store, buffer: &mut Vec<u8>) -> io::Result<()> {
        store.send(&mem::take(buffer))
    }
    #[retry]
    async fn lend(store: &Store, buffer: &mut Vec<u8>) -> io::Result<()> {
        store.send(&buffer[..])?;
        buffer.clear();
        Ok(())
    }
    let (taken, lent) = (Store::default(), Store::default());
    take(&taken, &mut vec![7]).await.unwrap();
    lend(&lent, &mut vec![7]).await.unwrap();
    assert_eq!((taken.stored.take(), lent.stored.take()), (vec![], vec![7]));
}

/// `programs.md`: a device that was offline does not wait for the end of a long delay.
#[tokio::test(start_paused = true)]
async fn a_wait_ends_when_the_device_is_online_again() {
    async fn back(mut online: watch::Receiver<bool>) {
        online.mark_unchanged();
        let _ = online.changed().await;
    }
    #[retry(
        attempts = "unlimited",
        backoff = "constant",
        base = "5m",
        max_delay = "5m",
        jitter = "none",
        cancel_waits = back(online.clone())
    )]
    async fn report(online: &watch::Receiver<bool>) -> io::Result<()> {
        if *online.borrow() {
            Ok(())
        } else {
            Err(io::ErrorKind::NetworkUnreachable.into())
        }
    }
    let (network, online) = watch::channel(false);
    let began = Instant::now();
    let reported = async {
        loop {
            match report(&online).await {
                Err(cancelled) if cancelled.kind() == io::ErrorKind::Interrupted => {}
                ended => break ended,
            }
        }
    };
    let returns = async {
        sleep(ms(10_000)).await;
        network.send_replace(true);
    };
    let (reported, ()) = tokio::join!(reported, returns);
    reported.unwrap();
    assert_eq!(began.elapsed(), ms(10_000));
}
