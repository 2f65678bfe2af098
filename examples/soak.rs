//! Ten thousand calls at a time on real sockets, with random faults, drops and cancellations: does anything grow, get lost or
//! stay behind?
//!
//! ```text
//! cargo run --release -p simulation --example soak                   # a minute
//! cargo run --release -p simulation --example soak -- 3600 --write   # an hour, and the picture in docs/soak.svg
//! ```

use std::env;
use std::io::{self, BufRead as _, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use reattempt::retry;
use simulation::SEED;
use simulation::books::{Books, Entry};
use simulation::chart::{Chart, Line, Style};
use simulation::dice::Dice;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Handle;
use tokio::task::JoinSet;
use tokio::time::{Instant, interval, sleep, timeout};

/// Calls at a time: a task for each, which makes one call after the other.
const CALLERS: u32 = 10_000;
/// The time until all callers are under way, and the process has the memory that it needs.
const WARM_UP: usize = 15;

static BOOKS: Books = Books::new();

#[tokio::main]
async fn main() -> Result<()> {
    let (mut seconds, mut write) = (60, false);
    for argument in env::args().skip(1) {
        match argument.as_str() {
            "--serve" => return serve().await,
            "--write" => write = true,
            number => {
                seconds = number
                    .parse()
                    .context("expected a number of seconds, or `--write`")?;
            }
        }
    }
    ensure!(
        seconds >= 3 * WARM_UP,
        "expected at least {} seconds",
        3 * WARM_UP
    );
    let before = Sample::now()?;
    let server = Server::start()?;
    let until = Instant::now() + Duration::from_secs(seconds.try_into()?);
    let mut callers = JoinSet::new();
    for number in 0..CALLERS {
        callers.spawn(call(
            server.address,
            Dice::of(&[SEED, number.into()]),
            until,
        ));
    }
    let samples = sample(seconds).await?;
    while let Some(ended) = callers.join_next().await {
        ended?;
    }
    server.stop()?;
    BOOKS.close();
    judge(&before, &samples, &Sample::now()?)?;
    if write {
        draw(&samples)?;
    }
    Ok(())
}

/// Makes one call after the other. Of a hundred, five are dropped by their caller and two are cancelled.
async fn call(server: SocketAddr, mut dice: Dice, until: Instant) {
    let line = Mutex::new(None);
    // Not all callers begin at once.
    sleep(dice.pause(1)).await;
    while Instant::now() < until {
        let millis = Duration::from_millis(dice.below(3_000).into());
        let (fate, entry) = (dice.below(100), Entry::default());
        let patience = if fate < 2 { millis } else { Duration::MAX };
        let call = ask(server, &line, patience, &entry);
        // The books say how it ended.
        let _ = match fate {
            2..7 => timeout(millis, call).await,
            _ => Ok(call.await),
        };
    }
}

#[retry(
    attempts = 3,
    timeout = "3s",
    deadline = "8s",
    budget = BOOKS.budget(),
    cancel = sleep(patience),
    on_retry = |_| entry.asked(),
    on_end = |report| BOOKS.enter(entry, report),
)]
async fn ask(
    server: SocketAddr,
    line: &Mutex<Option<TcpStream>>,
    patience: Duration,
    entry: &Entry,
) -> io::Result<()> {
    entry.attempt();
    let open = line.lock().expect("no holder panics").take();
    // An attempt that is cut drops its connection.
    let mut stream = match open {
        Some(stream) => stream,
        None => TcpStream::connect(server).await?,
    };
    stream.write_u8(0).await?;
    let ok = stream.read_u8().await? == 0;
    *line.lock().expect("no holder panics") = Some(stream);
    if ok {
        Ok(())
    } else {
        Err(io::ErrorKind::ConnectionReset.into())
    }
}

/// The server in a process of its own, so that each process has one end of each connection.
struct Server {
    process: Child,
    address: SocketAddr,
}

impl Server {
    fn start() -> Result<Self> {
        let mut process = Command::new(env::current_exe()?)
            .arg("--serve")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut address = String::new();
        io::BufReader::new(process.stdout.take().context("it is piped")?)
            .read_line(&mut address)?;
        Ok(Self {
            process,
            address: address.trim().parse()?,
        })
    }

    /// Fails if it has ended by itself: then the calls had no server.
    fn stop(mut self) -> Result<()> {
        if let Some(status) = self.process.try_wait()? {
            bail!("the server has ended: {status}");
        }
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Ends when the process that started it does. Answers after half a second to one and a half. Of a hundred requests, eight fail, two end their connection, two get no
/// answer, and one gets it too late.
async fn serve() -> Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    writeln!(io::stdout(), "{}", listener.local_addr()?)?;
    std::thread::spawn(|| {
        // The other end of this pipe closes, also if that process is killed.
        let _ = io::stdin().read_to_end(&mut Vec::new());
        std::process::exit(0);
    });
    for connection in 0.. {
        let (mut stream, _) = listener.accept().await?;
        let mut dice = Dice::of(&[SEED, connection]);
        tokio::spawn(async move {
            while stream.read_u8().await.is_ok() {
                let fate = dice.below(100);
                let answer = Duration::from_millis(match fate {
                    10 | 11 => 60_000,
                    12 => 4_000,
                    _ => 500 + u64::from(dice.below(1_000)),
                });
                // Whoever hangs up is not waited for: at two hundred a second, the descriptors would run out.
                let hung_up = timeout(answer, stream.read_u8()).await.is_ok();
                let ends = hung_up || matches!(fate, 8 | 9);
                if ends || stream.write_u8(u8::from(fate < 8)).await.is_err() {
                    break;
                }
            }
        });
    }
    Ok(())
}

/// What the process has.
#[derive(Clone, Copy, Debug)]
struct Sample {
    /// Megabytes in memory.
    memory: f64,
    descriptors: usize,
    tasks: usize,
}

impl Sample {
    fn now() -> io::Result<Self> {
        let status = std::fs::read_to_string("/proc/self/status")?;
        let kilobytes = status.lines().find_map(|line| {
            line.strip_prefix("VmRSS:")?
                .trim()
                .strip_suffix(" kB")?
                .parse::<f64>()
                .ok()
        });
        Ok(Self {
            memory: kilobytes.ok_or(io::ErrorKind::InvalidData)? / 1024.0,
            descriptors: std::fs::read_dir("/proc/self/fd")?.count(),
            tasks: Handle::current().metrics().num_alive_tasks(),
        })
    }
}

/// One sample each second, and a line each ten.
async fn sample(seconds: usize) -> Result<Vec<Sample>> {
    let mut ticks = interval(Duration::from_secs(1));
    let mut samples = Vec::with_capacity(seconds);
    for second in 0..seconds {
        ticks.tick().await;
        let sample = Sample::now()?;
        samples.push(sample);
        if second % 10 == 0 {
            let Sample {
                memory,
                descriptors,
                tasks,
            } = sample;
            println!(
                "{second} s: {memory:.1} MB, {descriptors} descriptors, {tasks} tasks, {} attempts",
                BOOKS.attempts()
            );
        }
    }
    Ok(samples)
}

/// Nothing has grown since the warm-up, and nothing is left.
fn judge(before: &Sample, samples: &[Sample], after: &Sample) -> Result<()> {
    println!("{:?}, {} attempts", BOOKS.outcomes(), BOOKS.attempts());
    let warm = &samples[WARM_UP..];
    let (first, last) = warm.split_at(warm.len() / 2);
    let most = |samples: &[Sample]| {
        samples
            .iter()
            .map(|sample| sample.memory)
            .fold(0.0, f64::max)
    };
    let [first, last] = [first, last].map(most);
    println!("memory: at most {first:.1} MB in the first half, {last:.1} MB in the second");
    ensure!(last <= 1.05 * first, "memory grows");
    for sample in warm {
        let callers = usize::try_from(CALLERS)?;
        ensure!(
            sample.descriptors <= callers + before.descriptors,
            "{sample:?}"
        );
        ensure!(sample.tasks <= callers + before.tasks, "{sample:?}");
    }
    if (after.descriptors, after.tasks) != (before.descriptors, before.tasks) {
        bail!("left behind: {after:?}, {before:?} before");
    }
    Ok(())
}

fn draw(samples: &[Sample]) -> Result<()> {
    let line = |name: &str, value: &dyn Fn(&Sample) -> f64| Line {
        name: name.to_owned(),
        points: (0_u32..)
            .zip(samples)
            .map(|(second, sample)| (f64::from(second), value(sample)))
            .collect(),
        style: Style::Line,
    };
    #[expect(clippy::cast_precision_loss, reason = "at most some ten thousand")]
    let thousands = |count: usize| count as f64 / 1_000.0;
    let chart = Chart {
        title: "10,000 calls at a time",
        x: "seconds",
        y: "megabytes, thousands",
        log: [false, false],
        lines: vec![
            line("memory of the process, MB", &|sample| sample.memory),
            line("open descriptors, thousands", &|sample| {
                thousands(sample.descriptors)
            }),
            line("tasks, thousands", &|sample| thousands(sample.tasks)),
        ],
    };
    chart.draw(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/soak.svg"))
}
