//! A process that takes messages, works on them, and acknowledges what is done.

use std::time::Duration;

use async_nats::jetstream::{AckKind, Context, Message};
use futures::StreamExt as _;
use reattempt::Retryable as _;
use sqlx::postgres::PgPoolOptions;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::Failure;
use crate::bookings::{Booking, Books};
use crate::broker;

/// When a message that was given back is delivered again, unless the server asks for another delay.
const REDELIVERY: Duration = Duration::from_secs(2);

/// Works until SIGTERM, and then gives back what is not done.
pub(crate) async fn run(broker: &str, database: &str) -> Result<(), Failure> {
    let mut terminated = signal(SignalKind::terminate())?;
    let (stop, shutdown) = watch::channel(false);
    let broker = broker::connect(broker).await?;
    let pool = PgPoolOptions::new()
        .max_connections(6)
        // While the database is down, an attempt does not wait for the default of 30 s.
        .acquire_timeout(Duration::from_secs(1))
        // The process may start while the database is down.
        .connect_lazy(database)?;
    let books = Books { pool, shutdown };
    let mut messages = broker::consumer(&broker).await?.messages().await?;
    let mut handlers = JoinSet::new();
    loop {
        tokio::select! {
            _ = terminated.recv() => break,
            message = messages.next() => match message {
                Some(message) => {
                    handlers.spawn(handle(broker.clone(), books.clone(), message?));
                }
                None => break,
            },
            Some(handled) = handlers.join_next() => handled?,
        }
    }
    stop.send_replace(true);
    while let Some(handled) = handlers.join_next().await {
        handled?;
    }
    broker.client().flush().await?;
    Ok(())
}

async fn handle(broker: Context, books: Books, message: Message) {
    // If the broker does not get the answer, it delivers the message again, and the key keeps the work from running twice.
    if let Err(error) = answer(&broker, &books, &message).await {
        eprintln!("no answer for {:?}: {error}", message.subject);
    }
}

async fn answer(broker: &Context, books: &Books, message: &Message) -> Result<(), Failure> {
    let Some(booking) = Booking::read(&message.payload) else {
        // No delivery can help this message, so it goes to the dead letters.
        let dead = broker.publish(broker::DEAD, message.payload.clone());
        dead.await?.await?;
        return message.ack_with(AckKind::Term).await;
    };
    let delivery = message.info()?.delivered;
    let Err(error) = books.book(booking, delivery).await else {
        return message.ack().await;
    };
    // Any other fault passes. At the end of this process, another one takes the message at once.
    let ends = *books.shutdown.borrow();
    let delay = (!ends).then(|| error.hint().unwrap_or(REDELIVERY));
    message.ack_with(AckKind::Nak(delay)).await
}
