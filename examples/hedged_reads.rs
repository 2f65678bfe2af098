//! Reads from three replicas, one of which is slow in turns, with and without `hedge`.
//!
//! ```text
//! cargo run --release -p simulation --example hedged_reads
//! ```
//!
//! The replicas are HTTP servers in this program. It takes ten seconds, prints how long the calls took, and draws a picture
//! into `target/storm`. With `--write` the picture goes to `docs/load`, and the table into `docs/LOAD.md`.

#[path = "storm/output.rs"]
mod output;

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use reattempt::reqwest_0_13::{RequestError, ResponseExt as _};
use reattempt::{Attempt, retry};
use reqwest::Client;
use simulation::SEED;
use simulation::chart::{Chart, Line, Style};
use simulation::dice::Dice;
use simulation::http::{answer, next_request};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep};

use crate::output::Output;

const CALLS: u32 = 5_000;
const RATE: u32 = 500;

/// Three servers with the same data.
struct Replicas {
    client: Client,
    urls: [String; 3],
    requests: Arc<AtomicU32>,
}

impl Replicas {
    /// If the first replica has not answered after 20 ms, the next one is asked too.
    #[retry(timeout = "2s", hedge = "20ms")]
    async fn read_hedged(&self, item: u32) -> Result<(), RequestError> {
        let attempt = Attempt::current().map_or(1, |attempt| attempt.number());
        self.request(item, attempt).await
    }

    #[retry(timeout = "2s")]
    async fn read(&self, item: u32) -> Result<(), RequestError> {
        let attempt = Attempt::current().map_or(1, |attempt| attempt.number());
        self.request(item, attempt).await
    }

    /// Each item has its order of replicas.
    async fn request(&self, item: u32, attempt: u32) -> Result<(), RequestError> {
        let replica = (item + attempt) as usize % self.urls.len();
        self.client.get(&self.urls[replica]).send().await?.check()?;
        Ok(())
    }

    /// Starts the servers. They end with the runtime.
    async fn start() -> Result<Self> {
        let (requests, begun) = (Arc::new(AtomicU32::new(0)), Instant::now());
        let mut addresses = [SocketAddr::from(([127, 0, 0, 1], 0)); 3];
        for (replica, address) in addresses.iter_mut().enumerate() {
            let listener = TcpListener::bind(*address).await?;
            *address = listener.local_addr()?;
            let dice = Arc::new(Mutex::new(Dice::of(&[SEED, replica as u64])));
            let requests = Arc::clone(&requests);
            tokio::spawn(async move {
                while let Ok((stream, _)) = listener.accept().await {
                    let (dice, requests) = (Arc::clone(&dice), Arc::clone(&requests));
                    tokio::spawn(async move {
                        let takes = || {
                            requests.fetch_add(1, Ordering::Relaxed);
                            let slow = begun.elapsed().as_secs() % 3 == replica as u64;
                            takes(slow, &mut dice.lock().expect("no holder panics"))
                        };
                        // A client that closes its connection ends this connection only.
                        let _ = serve(stream, takes).await;
                    });
                }
            });
        }
        Ok(Self {
            client: Client::builder().no_proxy().build()?,
            urls: addresses.map(|address| format!("http://{address}/")),
            requests,
        })
    }
}

/// How long an answer takes: up to 10 ms. Of a slow replica, three in a hundred take 500 ms, so one in a hundred of all.
fn takes(slow: bool, dice: &mut Dice) -> Duration {
    if slow && dice.chance(0.03) {
        Duration::from_millis(500)
    } else {
        dice.within(&(Duration::from_millis(1)..=Duration::from_millis(10)))
    }
}

async fn serve(mut stream: TcpStream, takes: impl Fn() -> Duration) -> std::io::Result<()> {
    while next_request(&mut stream).await? {
        sleep(takes()).await;
        answer(&mut stream, "200 OK").await?;
    }
    Ok(())
}

/// How long each call took, the shortest first, and the requests for each call.
struct Measured {
    millis: Vec<f64>,
    load: f64,
}

/// Begins calls at even intervals, even while earlier ones still run.
async fn measure(hedged: bool) -> Result<Measured> {
    let replicas = Arc::new(Replicas::start().await?);
    let mut ticks = interval(Duration::from_secs(1) / RATE);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Burst);
    let mut calls = JoinSet::new();
    for item in 0..CALLS {
        ticks.tick().await;
        let replicas = Arc::clone(&replicas);
        calls.spawn(async move {
            let began = Instant::now();
            let result = if hedged {
                replicas.read_hedged(item).await
            } else {
                replicas.read(item).await
            };
            result.map(|()| began.elapsed().as_secs_f64() * 1000.0)
        });
    }
    let times = calls.join_all().await;
    let mut millis = times.into_iter().collect::<Result<Vec<_>, _>>()?;
    millis.sort_by(f64::total_cmp);
    let requests = replicas.requests.load(Ordering::Relaxed);
    Ok(Measured {
        millis,
        load: f64::from(requests) / f64::from(CALLS),
    })
}

impl Measured {
    /// The time that one call of so many exceeds.
    fn slowest_of(&self, calls: f64) -> f64 {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "an index of the list"
        )]
        let index = (f64::from(CALLS) * (1.0 - 1.0 / calls)) as usize;
        self.millis[index]
    }

    fn row(&self, name: &str) -> String {
        let [half, most, nearly_all] = [2.0, 100.0, 1000.0].map(|calls| self.slowest_of(calls));
        let load = self.load;
        format!("| {name} | {half:.0} ms | {most:.0} ms | {nearly_all:.0} ms | {load:.3} |")
    }

    fn line(&self, name: &str) -> Line {
        // From the fastest call to the slowest of a thousand.
        let exceeded = (0..=150).map(|step| 1000_f64.powf(f64::from(step) / 150.0));
        Line {
            name: name.to_owned(),
            points: exceeded
                .map(|calls| (calls, self.slowest_of(calls)))
                .collect(),
            style: Style::Line,
        }
    }
}

#[tokio::main]
async fn main() -> Result<()> {
    let write = match std::env::args().nth(1).as_deref() {
        None => false,
        Some("--write") => true,
        Some(other) => bail!("found `{other}`, expected `--write`"),
    };
    let mut judged = Ok(());
    let mut measured = None;
    // Other work on the machine may spoil a comparison.
    for _ in 0..3 {
        println!("{CALLS} calls, {RATE} a second, without `hedge` and with it …");
        let (without, with) = tokio::try_join!(measure(false), measure(true))?;
        judged = judge(&without, &with);
        measured = Some((without, with));
        if judged.is_ok() {
            break;
        }
    }
    let (without, with) = measured.context("measured above")?;

    let mut output = Output::new(write)?;
    let head = "| | p50 | p99 | p99.9 | requests for each call |\n|---|---|---|---|---|";
    let rows = [without.row("without"), with.row("`hedge = \"20ms\"`")].join("\n");
    output.table("hedged reads", &format!("{head}\n{rows}"))?;
    let chart = Chart {
        title: "Three replicas over sockets; one answer in a hundred takes 500 ms",
        x: "one call of so many is slower (100: p99; 1000: p99.9)",
        y: "milliseconds",
        log: [true, true],
        lines: vec![without.line("without"), with.line("hedge = \"20ms\"")],
    };
    chart.draw(&output.picture("hedged-reads"))?;
    output.finish()?;
    judged
}

fn judge(without: &Measured, with: &Measured) -> Result<()> {
    let [slow, fast] = [without, with].map(|measured| measured.slowest_of(1000.0));
    ensure!(
        fast < slow / 2.0,
        "hedging did not help: {slow} and {fast} ms"
    );
    let bound = 1.0625 + 10.0 / f64::from(CALLS);
    ensure!(
        with.load <= bound,
        "more than one hedge for 16 calls: {}",
        with.load
    );
    Ok(())
}
