//! The stream of NATS JetStream, and the consumer that all processes share.

use async_nats::jetstream::consumer::{AckPolicy, PullConsumer, pull};
use async_nats::jetstream::stream;
use async_nats::jetstream::{self, Context};

use crate::Failure;
use crate::bookings::ACK_WAIT;

const STREAM: &str = "bookings";
pub(crate) const BOOK: &str = "bookings.book";
/// Messages that no attempt can help.
pub(crate) const DEAD: &str = "bookings.dead";

pub(crate) async fn connect(url: &str) -> Result<Context, Failure> {
    Ok(jetstream::new(async_nats::connect(url).await?))
}

pub(crate) async fn create(broker: &Context) -> Result<(), Failure> {
    let config = stream::Config {
        name: STREAM.to_owned(),
        subjects: vec![BOOK.to_owned(), DEAD.to_owned()],
        ..stream::Config::default()
    };
    let stream = broker.create_stream(config).await?;
    let config = pull::Config {
        durable_name: Some(STREAM.to_owned()),
        filter_subject: BOOK.to_owned(),
        ack_policy: AckPolicy::Explicit,
        ack_wait: ACK_WAIT,
        // A message that waits in a process is already delivered, so its time runs. Each process works on all that it has, and
        // the broker delivers no more than this.
        max_ack_pending: 64,
        ..pull::Config::default()
    };
    stream.create_consumer(config).await?;
    Ok(())
}

pub(crate) async fn consumer(broker: &Context) -> Result<PullConsumer, Failure> {
    let stream = broker.get_stream(STREAM).await?;
    stream.get_consumer(STREAM).await
}

/// How many messages of this subject the stream has.
pub(crate) async fn count(broker: &Context, subject: &str) -> Result<usize, Failure> {
    let stream = broker.get_stream(STREAM).await?;
    let mut info = stream.info_with_subjects(subject).await?;
    let mut count = 0;
    while let Some((_, messages)) = futures::TryStreamExt::try_next(&mut info).await? {
        count += messages;
    }
    Ok(count)
}
