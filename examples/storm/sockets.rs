//! An annotated `reqwest` client against servers on loopback that fail 80 % of requests for 20 s.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::{Result, ensure};
use reattempt::reqwest::{RequestError, ResponseExt as _};
use reattempt::{Budget, retry};
use reqwest::Client;
use simulation::SEED;
use simulation::dice::Dice;
use simulation::http::{answer, next_request};
use simulation::manner::Manner;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep};

use crate::{Output, Progress};
use simulation::chart::{Chart, Line, Style};

/// Calls a second, at even distances.
const RATE: u32 = 100;

/// When the servers begin to fail, when they stop failing, and when the run ends, in seconds.
const FAILING_FROM: usize = 3;
const FAILING_TO: usize = 23;
const SECONDS: usize = 28;

/// The functions, with their attempts and their budget.
const CLIENTS: [(Fetch, u32, Option<Manner>); 6] = [
    (Fetch::Three, 3, None),
    (Fetch::Eight, 8, None),
    (Fetch::ThreeAws, 3, Some(Manner::AWS)),
    (Fetch::EightAws, 8, Some(Manner::AWS)),
    (Fetch::ThreeBudget, 3, Some(Manner::BUDGET)),
    (Fetch::EightBudget, 8, Some(Manner::BUDGET)),
];

#[derive(Clone, Copy)]
enum Fetch {
    Three,
    Eight,
    ThreeAws,
    EightAws,
    ThreeBudget,
    EightBudget,
}

#[retry(attempts = 3, budget = "none")]
async fn three(client: &Client, url: &str) -> Result<(), RequestError> {
    request(client, url).await
}

#[retry(attempts = 8, budget = "none")]
async fn eight(client: &Client, url: &str) -> Result<(), RequestError> {
    request(client, url).await
}

static THREE_AWS: Budget = Budget::aws();
static EIGHT_AWS: Budget = Budget::aws();

#[retry(attempts = 3, budget = THREE_AWS)]
async fn three_aws(client: &Client, url: &str) -> Result<(), RequestError> {
    request(client, url).await
}

#[retry(attempts = 8, budget = EIGHT_AWS)]
async fn eight_aws(client: &Client, url: &str) -> Result<(), RequestError> {
    request(client, url).await
}

#[retry(attempts = 3)]
async fn three_budget(client: &Client, url: &str) -> Result<(), RequestError> {
    request(client, url).await
}

#[retry(attempts = 8)]
async fn eight_budget(client: &Client, url: &str) -> Result<(), RequestError> {
    request(client, url).await
}

async fn request(client: &Client, url: &str) -> Result<(), RequestError> {
    client.get(url).send().await?.check()?;
    Ok(())
}

pub(crate) fn run(output: &mut Output) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    let counts = runtime.block_on(measure())?;
    let mut table =
        "| attempts | budget | requests a second while 80 % fail | for each call |\n|---|---|---|---|"
            .to_owned();
    let mut lines = Vec::new();
    let mut rates = Vec::new();
    for ((_, attempts, manner), seconds) in CLIENTS.iter().zip(counts) {
        let name = manner.map_or("none", |manner| manner.name);
        let budget = manner.map_or("none".to_owned(), |manner| manner.in_tables());
        let failing = &seconds[FAILING_FROM..FAILING_TO];
        let rate = f64::from(failing.iter().sum::<u32>()) / f64::from(20);
        rates.push(rate);
        let each = rate / f64::from(RATE);
        table = format!("{table}\n| {attempts} | {budget} | {rate:.1} | {each:.3} |");
        lines.push(Line {
            name: format!("{attempts} attempts, budget: {}", name.replace('`', "")),
            points: (0_u32..)
                .zip(seconds)
                .map(|(x, y)| (f64::from(x), f64::from(y)))
                .collect(),
            style: Style::Line,
        });
    }
    output.table("sockets", &table)?;
    let chart = Chart {
        title: "100 calls a second; the server fails 80 % from second 3 to 23",
        x: "seconds",
        y: "requests a second",
        log: [false, false],
        lines,
    };
    chart.draw(&output.picture("sockets"))?;
    let [
        three,
        eight,
        three_aws,
        eight_aws,
        three_budget,
        eight_budget,
    ] = rates[..]
    else {
        unreachable!("one for each client");
    };
    for [three, eight] in [[three_aws, eight_aws], [three_budget, eight_budget]] {
        let apart = (eight / three - 1.0).abs();
        ensure!(
            apart <= 0.1,
            "with a budget, 3 and 8 attempts differ by {apart}"
        );
        let bound = 1.3 * f64::from(RATE);
        ensure!(
            three <= bound && eight <= bound,
            "above 1.3 of the calls: {three} and {eight}"
        );
    }
    ensure!(
        three > 2.0 * three_budget && eight > three,
        "without it, no storm"
    );
    Ok(())
}

/// The requests that each server got in each second.
async fn measure() -> Result<Vec<Vec<u32>>> {
    let progress = Arc::new(Progress::begin("sockets", SECONDS));
    let mut counts = Vec::new();
    for (fetch, ..) in CLIENTS {
        let server = Server::start().await?;
        counts.push(Arc::clone(&server.counts));
        tokio::spawn(calls(fetch, server.address));
    }
    for _ in 0..SECONDS {
        sleep(Duration::from_secs(1)).await;
        progress.step();
    }
    Ok(counts
        .iter()
        .map(|counts| counts.lock().expect("no holder panics").clone())
        .collect())
}

/// Begins a call every ten milliseconds, even while earlier calls still run.
async fn calls(fetch: Fetch, address: SocketAddr) {
    let client = Client::builder()
        .no_proxy()
        .build()
        .expect("no settings that can fail");
    let url = format!("http://{address}/");
    let mut ticks = interval(Duration::from_secs(1) / RATE);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Burst);
    loop {
        ticks.tick().await;
        let (client, url) = (client.clone(), url.clone());
        tokio::spawn(async move {
            // The server counts the requests, so the result is not needed.
            let _ = match fetch {
                Fetch::Three => three(&client, &url).await,
                Fetch::Eight => eight(&client, &url).await,
                Fetch::ThreeAws => three_aws(&client, &url).await,
                Fetch::EightAws => eight_aws(&client, &url).await,
                Fetch::ThreeBudget => three_budget(&client, &url).await,
                Fetch::EightBudget => eight_budget(&client, &url).await,
            };
        });
    }
}

/// A server on loopback. It ends with the runtime.
struct Server {
    address: SocketAddr,
    counts: Arc<Mutex<Vec<u32>>>,
}

impl Server {
    async fn start() -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let counts = Arc::new(Mutex::new(vec![0; SECONDS]));
        let dice = Arc::new(Mutex::new(Dice::new(SEED)));
        let (begun, counted) = (Instant::now(), Arc::clone(&counts));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (counts, dice) = (Arc::clone(&counted), Arc::clone(&dice));
                tokio::spawn(async move {
                    // A client that closes its connection ends this connection only.
                    let _ = serve(stream, begun, &counts, &dice).await;
                });
            }
        });
        Ok(Self { address, counts })
    }
}

async fn serve(
    mut stream: TcpStream,
    begun: Instant,
    counts: &Mutex<Vec<u32>>,
    dice: &Mutex<Dice>,
) -> std::io::Result<()> {
    while next_request(&mut stream).await? {
        let second = usize::try_from(begun.elapsed().as_secs()).unwrap_or(SECONDS);
        if let Some(count) = counts.lock().expect("no holder panics").get_mut(second) {
            *count += 1;
        }
        let fails = (FAILING_FROM..FAILING_TO).contains(&second)
            && dice.lock().expect("no holder panics").chance(0.8);
        let status = if fails {
            "503 Service Unavailable"
        } else {
            "200 OK"
        };
        answer(&mut stream, status).await?;
    }
    Ok(())
}
