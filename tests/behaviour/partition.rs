//! The loop of a consumer of Kafka, as the page on messages says: `pause`, go on polling, `seek`, `resume`. `Partition` has the methods of
//! a consumer of `rdkafka` for one partition; the broker takes it away after five minutes without a poll.

use std::cell::{Cell, RefCell};
use std::io;
use std::time::Duration;

use reattempt::{Error, retry};
use tokio::sync::watch;
use tokio::time::{Instant, sleep};

use crate::script::ms;

const MAX_POLL_INTERVAL: Duration = Duration::from_secs(300);

/// In `rdkafka`: `recv`, `pause`, `resume`, `seek` and `store_offset`, each with the topic and the partition.
struct Partition {
    next: Cell<u64>,
    paused: Cell<bool>,
    stored: Cell<u64>,
    last_poll: Cell<Instant>,
    revoked: watch::Receiver<bool>,
}

impl Partition {
    /// Returns the next message, or waits while there is none.
    async fn poll(&self) -> u64 {
        loop {
            let before = self.last_poll.replace(Instant::now());
            assert!(
                before.elapsed() < MAX_POLL_INTERVAL,
                "the partition is lost"
            );
            if !self.paused.get() {
                self.next.set(self.next.get() + 1);
                return self.next.get();
            }
            sleep(Duration::from_secs(1)).await;
        }
    }

    fn seek(&self, message: u64) {
        self.next.set(message - 1);
    }

    async fn revoked(&self) {
        let _ = self.revoked.clone().wait_for(|revoked| *revoked).await;
    }
}

/// Each message is stored when its work is done. Ends when the partition is revoked.
async fn consume(partition: &Partition, service: &Service) {
    loop {
        let message = partition.poll().await;
        partition.paused.set(true);
        let works = async {
            let result = service.work(message, partition).await;
            if result.is_err() {
                sleep(Duration::from_secs(5)).await;
            }
            result
        };
        let result = tokio::select! {
            result = works => result,
            // While the partition is paused, this gets no message, and keeps the partition.
            message = partition.poll() => panic!("{message} came in a pause"),
        };
        if *partition.revoked.borrow() {
            return;
        }
        match result {
            Ok(()) => partition.stored.set(message),
            Err(_) => partition.seek(message),
        }
        partition.paused.set(false);
    }
}

/// Down for ten minutes.
struct Service {
    began: Instant,
    done: RefCell<Vec<u64>>,
}

impl Service {
    #[retry(attempts = 20, timeout = "30s", max_delay = "1m", deadline = "7m", cancel = partition.revoked())]
    async fn work(&self, message: u64, partition: &Partition) -> Result<(), Error<io::Error>> {
        if self.began.elapsed() < ms(600_000) {
            return Err(io::Error::from(io::ErrorKind::ConnectionRefused).into());
        }
        sleep(Duration::from_secs(20)).await;
        self.done.borrow_mut().push(message);
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn a_paused_partition_is_polled_and_no_message_is_lost() {
    let (revoke, revoked) = watch::channel(false);
    let began = Instant::now();
    let partition = Partition {
        next: Cell::new(0),
        paused: Cell::new(false),
        stored: Cell::new(0),
        last_poll: Cell::new(began),
        revoked,
    };
    let service = Service {
        began,
        done: RefCell::default(),
    };
    let rebalance = async {
        while service.done.borrow().len() < 3 {
            sleep(Duration::from_secs(1)).await;
        }
        // In the middle of the fourth message.
        revoke.send_replace(true);
    };
    tokio::join!(consume(&partition, &service), rebalance);
    assert_eq!(*service.done.borrow(), [1, 2, 3]);
    assert_eq!((partition.stored.get(), partition.next.get()), (3, 4));
}
