//! A session with an MQTT broker that is kept open, through a broker that ends sessions at once, a connection that breaks, and a
//! wrong password.
//!
//! ```text
//! cargo run -p integrations --example mqtt_session
//! ```
//!
//! It starts its own `nats-server`, which speaks MQTT.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use futures::future::try_join_all;
use integrations::nats::Server;
use integrations::proxy::{Proxy, To};
use reattempt::{Attempt, Verdict, retry};
use rumqttc::{
    AsyncClient, ConnectReturnCode, ConnectionError, Event, MqttOptions, Packet, Publish, QoS,
};
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::sync::{Notify, watch};
use tokio::time::error::Elapsed;
use tokio::time::{sleep, timeout};

const BACKLOG: usize = 100;

/// What another session cannot mend.
fn verdict(error: &ConnectionError) -> Verdict {
    use ConnectReturnCode::{BadUserNamePassword, NotAuthorized};
    match error {
        ConnectionError::ConnectionRefused(BadUserNamePassword | NotAuthorized) => {
            Verdict::Permanent
        }
        _ => Verdict::Transient,
    }
}

struct Doors {
    options: MqttOptions,
    subscribed: Arc<Notify>,
    shutdown: watch::Receiver<bool>,
}

impl Doors {
    fn new(port: u16, password: &str, shutdown: watch::Receiver<bool>) -> Self {
        let mut options = MqttOptions::new("porter", "127.0.0.1", port);
        options.set_credentials("device", password);
        // The broker keeps the subscription and the messages while no session is open.
        options.set_clean_session(false);
        // A message is acknowledged when its work is done.
        options.set_manual_acks(true);
        // A session that is silent for longer is over.
        options.set_keep_alive(Duration::from_secs(5));
        Self {
            options,
            subscribed: Arc::default(),
            shutdown,
        }
    }

    async fn shut_down(&self) {
        let _ = self.shutdown.clone().wait_for(|down| *down).await;
    }

    /// Hands the messages over until the shutdown. The body is one session.
    #[retry(
        attempts = "unlimited",
        max_delay = "30s",
        verdict = verdict,
        cancel = self.shut_down(),
    )]
    async fn follow(
        &self,
        messages: &UnboundedSender<(AsyncClient, Publish)>,
    ) -> Result<Infallible, reattempt::Error<ConnectionError>> {
        // Each session has an event loop of its own: one that is polled again connects again at once.
        let (client, mut session) = AsyncClient::new(self.options.clone(), 10);
        loop {
            match session.poll().await? {
                Event::Incoming(Packet::ConnAck(_)) => {
                    let _ = client.subscribe("doors/#", QoS::AtLeastOnce).await;
                }
                Event::Incoming(Packet::SubAck(_)) => self.subscribed.notify_one(),
                Event::Incoming(Packet::Publish(message)) => {
                    Attempt::record_progress();
                    // Who works acknowledges it: here, `ack` would wait for a channel that only this loop empties.
                    let _ = messages.send((client.clone(), message));
                }
                // It has lasted for the time of the keep-alive.
                Event::Incoming(Packet::PingResp) => Attempt::record_progress(),
                _ => {}
            }
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let broker = Server::start().await?;
    let (ends_at_once, sessions) = (
        Arc::new(AtomicBool::new(true)),
        Arc::new(AtomicUsize::new(0)),
    );
    let (ends, counted, port) = (
        Arc::clone(&ends_at_once),
        Arc::clone(&sessions),
        broker.mqtt(),
    );
    let proxy = Proxy::start(move |_| {
        counted.fetch_add(1, Relaxed);
        if ends.load(Relaxed) {
            To::FirstAnswer(port)
        } else {
            To::Server(port)
        }
    })
    .await;
    let (signal, shutdown) = watch::channel(false);
    let (sender, mut messages) = mpsc::unbounded_channel();

    let wrong = Doors::new(broker.mqtt(), "guessed", shutdown.clone());
    let Err(refused) = wrong.follow(&sender).await;
    println!("with a wrong password, after one session: {refused}");
    assert!(refused.into_failed().is_ok());

    let doors = Doors::new(proxy.port, "secret", shutdown);
    let subscribed = Arc::clone(&doors.subscribed);
    let following = tokio::spawn(async move { doors.follow(&sender).await });
    sleep(Duration::from_secs(4)).await;
    let sessions = sessions.load(Relaxed);
    println!("sessions that the broker ends at once, in 4 s: {sessions}");
    assert!((3..=20).contains(&sessions), "{sessions}");

    ends_at_once.store(false, Relaxed);
    // Before the first subscription, the broker keeps nothing.
    subscribed.notified().await;
    // Another client opens doors, and the connection breaks between two of them.
    let opener = opener(broker.mqtt());
    // A message whose acknowledgement is lost comes again.
    let mut done = BTreeSet::new();
    for number in 1..=3 {
        let open = format!("open {number}");
        let quality = QoS::AtLeastOnce;
        opener.publish("doors/front", quality, false, open).await?;
        while done.len() < number {
            done.extend(work(&mut messages).await?);
        }
        proxy.cut();
    }
    println!("done, over connections that break: {done:?}");

    // More at once than the session has room for acknowledgements.
    let opens = (0..BACKLOG).map(|number| {
        let open = format!("back {number}");
        opener.publish("doors/back", QoS::AtLeastOnce, false, open)
    });
    try_join_all(opens).await?;
    while done.len() < 3 + BACKLOG {
        done.extend(work(&mut messages).await?);
    }
    println!("done of a backlog: {BACKLOG}");

    signal.send_replace(true);
    let Err(stopped) = following.await?;
    println!("at the shutdown: {stopped}");
    Ok(())
}

/// Does the work of a message, and then acknowledges it. If its session has ended, the broker sends it again.
async fn work(
    messages: &mut UnboundedReceiver<(AsyncClient, Publish)>,
) -> Result<Option<String>, Elapsed> {
    let Some((client, message)) = timeout(Duration::from_mins(1), messages.recv()).await? else {
        return Ok(None);
    };
    let done = String::from_utf8_lossy(&message.payload).into_owned();
    let _ = client.ack(&message).await;
    Ok(Some(done))
}

/// A client that sends. Its event loop runs in a task.
fn opener(port: u16) -> AsyncClient {
    let mut options = MqttOptions::new("opener", "127.0.0.1", port);
    options.set_credentials("device", "secret");
    let (client, mut session) = AsyncClient::new(options, 10);
    tokio::spawn(async move { while session.poll().await.is_ok() {} });
    client
}
