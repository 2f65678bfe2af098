//! The loop of a consumer of Kafka, as the page on messages says: `pause`, go on polling, `seek`, `resume`. The brokers are those with
//! which librdkafka tests itself. They run in this process, and speak the protocol over loopback.

use std::io;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use rdkafka::config::ClientConfig;
use rdkafka::consumer::{BaseConsumer, Consumer as _, ConsumerContext, Rebalance, StreamConsumer};
use rdkafka::error::{KafkaResult, RDKafkaErrorCode};
use rdkafka::message::Message as _;
use rdkafka::mocking::MockCluster;
use rdkafka::producer::{DefaultProducerContext, FutureProducer, FutureRecord};
use rdkafka::{ClientContext, Offset};
use reattempt::{Error, retry};
use tokio::sync::watch;
use tokio::time::sleep;

/// Counts how often the group has taken the partitions away.
struct Group(watch::Sender<u32>);

impl ClientContext for Group {}

impl ConsumerContext for Group {
    fn pre_rebalance(&self, _: &BaseConsumer<Self>, rebalance: &Rebalance<'_>) {
        if matches!(rebalance, Rebalance::Revoke(_)) {
            self.0.send_modify(|count| *count += 1);
        }
    }
}

impl Group {
    fn revoked(&self) -> impl Future<Output = ()> + use<> {
        let mut count = self.0.subscribe();
        async move { while count.changed().await.is_err() {} }
    }
}

/// Stores each message when its work is done.
async fn consume(consumer: &StreamConsumer<Group>, service: &Service) -> KafkaResult<()> {
    loop {
        let message = consumer.recv().await?;
        let revoked = consumer.context().revoked();
        // All of them: the next message of another partition has to wait too.
        let paused = consumer.assignment()?;
        consumer.pause(&paused)?;
        let works = async {
            let result = service.work((message.partition(), message.offset())).await;
            if result.is_err() {
                sleep(Duration::from_millis(300)).await;
            }
            result
        };
        let result = tokio::select! {
            result = works => Some(result),
            // The next owner does the message again.
            () = revoked => None,
            // It gets no message in a pause, and keeps the partitions.
            early = consumer.recv() => panic!("{early:?} came in a pause"),
        };
        match result {
            Some(Ok(())) => consumer.store_offset_from_message(&message)?,
            Some(Err(_)) => {
                let at = Offset::Offset(message.offset());
                consumer.seek(
                    message.topic(),
                    message.partition(),
                    at,
                    Duration::from_secs(1),
                )?;
            }
            None => {}
        }
        // Also after a rebalance: librdkafka keeps the pause of a partition that comes back.
        consumer.resume(&paused)?;
    }
}

/// The partition of a message, and its offset there.
type Place = (i32, i64);

/// Is down at first.
struct Service {
    up_at: Mutex<Instant>,
    begun: Mutex<Vec<Place>>,
    done: Mutex<Vec<Place>>,
}

impl Service {
    fn down_for(time: Duration) -> Self {
        Self {
            up_at: Mutex::new(Instant::now() + time),
            begun: Mutex::default(),
            done: Mutex::default(),
        }
    }

    async fn work(&self, place: Place) -> Result<(), Error<io::Error>> {
        self.begun.lock().unwrap().push(place);
        self.ask(place).await
    }

    #[retry(attempts = 20, base = "10ms", deadline = "400ms", budget = "none")]
    async fn ask(&self, place: Place) -> Result<(), Error<io::Error>> {
        if Instant::now() < *self.up_at.lock().unwrap() {
            return Err(io::Error::from(io::ErrorKind::ConnectionRefused).into());
        }
        self.done.lock().unwrap().push(place);
        Ok(())
    }

    /// Waits until each message is done, once.
    async fn has_done_all(&self) {
        while self.done.lock().unwrap().len() < PLACES.len() {
            sleep(Duration::from_millis(10)).await;
        }
        self.done.lock().unwrap().sort_unstable();
        assert_eq!(*self.done.lock().unwrap(), PLACES);
    }
}

const TOPIC: &str = "orders";
const PLACES: [Place; 4] = [(0, 0), (0, 1), (1, 0), (1, 1)];

/// Brokers with a topic of two partitions, which have the messages.
async fn cluster() -> MockCluster<'static, DefaultProducerContext> {
    let cluster = MockCluster::new(1).unwrap();
    cluster.create_topic(TOPIC, 2, 1).unwrap();
    let mut config = ClientConfig::new();
    config.set("bootstrap.servers", cluster.bootstrap_servers());
    let producer: FutureProducer = config.create().unwrap();
    for (partition, _) in PLACES {
        let order = FutureRecord::<(), str>::to(TOPIC).payload("an order");
        let order = order.partition(partition);
        producer.send(order, Duration::from_secs(5)).await.unwrap();
    }
    cluster
}

/// A consumer that loses its partitions after four seconds without a poll, in place of five minutes.
fn consumer(servers: &str) -> StreamConsumer<Group> {
    let mut config = ClientConfig::new();
    for (key, value) in [
        ("bootstrap.servers", servers),
        ("group.id", "workers"),
        ("auto.offset.reset", "earliest"),
        ("enable.auto.offset.store", "false"),
        ("heartbeat.interval.ms", "100"),
        ("max.poll.interval.ms", "4000"),
        // These brokers let the first members of a group wait for three seconds.
        ("session.timeout.ms", "4000"),
    ] {
        config.set(key, value);
    }
    let group = Group(watch::Sender::new(0));
    let consumer: StreamConsumer<Group> = config.create_with_context(group).unwrap();
    consumer.subscribe(&[TOPIC]).unwrap();
    consumer
}

#[tokio::test]
async fn a_paused_partition_is_polled_and_no_message_is_lost() {
    let cluster = cluster().await;
    let consumer = consumer(&cluster.bootstrap_servers());
    // Twice as long as a consumer keeps its partitions without a poll.
    let service = Service::down_for(Duration::from_secs(12));
    tokio::select! {
        ended = consume(&consumer, &service) => panic!("{ended:?}"),
        () = service.has_done_all() => {}
    }
    assert_eq!(*consumer.context().0.borrow(), 0, "never revoked");
    let begun = service.begun.lock().unwrap();
    let first = begun.iter().take_while(|place| **place == begun[0]);
    assert!(
        first.count() > 5,
        "each time it gives up, the message comes again: {begun:?}"
    );
}

#[tokio::test]
async fn a_message_whose_partition_is_revoked_is_done_by_its_next_owner() {
    let cluster = cluster().await;
    let servers = cluster.bootstrap_servers();
    let service = Service::down_for(Duration::from_secs(3600));
    let first = consumer(&servers);
    let second = async {
        while service.begun.lock().unwrap().is_empty() {
            sleep(Duration::from_millis(10)).await;
        }
        // Each of the two gets one of the partitions.
        consume(&consumer(&servers), &service).await
    };
    let up = async {
        let mut revoked = first.context().0.subscribe();
        revoked.wait_for(|count| *count > 0).await.unwrap();
        *service.up_at.lock().unwrap() = Instant::now();
        service.has_done_all().await;
    };
    tokio::select! {
        ended = consume(&first, &service) => panic!("{ended:?}"),
        ended = second => panic!("{ended:?}"),
        () = up => {}
    }
}

#[tokio::test]
async fn a_consumer_that_does_not_poll_loses_its_partitions() {
    let cluster = cluster().await;
    let consumer = consumer(&cluster.bootstrap_servers());
    consumer.recv().await.unwrap();
    sleep(Duration::from_secs(6)).await;
    let lost = loop {
        // Messages that it has already.
        if let Err(error) = consumer.recv().await {
            break error;
        }
    };
    assert_eq!(
        lost.rdkafka_error_code(),
        Some(RDKafkaErrorCode::PollExceeded)
    );
}
