//! Fleets against a server in trouble.

use anyhow::Result;
use simulation::SEED;
use simulation::chart::{Chart, Line, Style};
use simulation::fleet::Fleet;
use simulation::manner::Manner;
use simulation::server::Trouble;
use simulation::tables;
use simulation::timeline::Timeline;

use crate::{Output, Size, table};

const SECONDS: usize = 28;

/// The troubles of the server, with their names.
const TROUBLES: [(Trouble, &str, &str); 2] = [
    (Trouble::SLOW_DOWN, "slow-down", "a slow-down of 1 s"),
    (Trouble::OUTAGE, "outage", "an outage of 10 s"),
];

pub(crate) fn run(output: &mut Output, size: Size) -> Result<()> {
    let processes = match size {
        Size::Full => 1_000,
        Size::Quick => 50,
    };
    let rate = 200;
    for (trouble, short, long) in TROUBLES {
        let timelines = simulate(Fleet { processes, rate }, trouble);
        let rows = Manner::ALL.iter().zip(&timelines);
        let rows =
            rows.map(|(manner, timeline)| tables::overload_row(&manner.in_tables(), timeline));
        let name = format!("overload, {rate} a second, {short}");
        output.table(&name, &table(tables::OVERLOAD_HEAD, rows))?;
        let title = format!("{processes} processes, {rate} calls a second each: {long}");
        let picture = output.picture(&format!("overload-{rate}-{short}"));
        chart(&title, &timelines).draw(&picture)?;
    }
    Ok(())
}

/// Simulates all manners of retrying, two at a time.
fn simulate(fleet: Fleet, trouble: Trouble) -> Vec<Timeline> {
    let run = |manner: &Manner| fleet.run(manner, trouble, SECONDS, SEED);
    let [none, naive, backoff, aws, budget, small] = &Manner::ALL;
    std::thread::scope(|scope| {
        // Manners without a budget take longest, so each thread gets one of them.
        let other = scope.spawn(|| [naive, none, aws].map(run));
        let [backoff, budget, small] = [backoff, budget, small].map(run);
        let [naive, none, aws] = other.join().expect("a simulation does not panic");
        vec![none, naive, backoff, aws, budget, small]
    })
}

fn chart<'a>(title: &'a str, timelines: &[Timeline]) -> Chart<'a> {
    let seconds = || (0_u32..).map(f64::from);
    let line = |(manner, timeline): (&Manner, &Timeline)| Line {
        name: manner.name.replace('`', ""),
        points: seconds().zip(timeline.load()).collect(),
        style: Style::Line,
    };
    let mut lines: Vec<Line> = Manner::ALL.iter().zip(timelines).map(line).collect();
    lines.push(Line {
        name: "the server's capacity".to_owned(),
        // The normal load is 70 % of the capacity.
        points: seconds().take(SECONDS).map(|x| (x, 1.0 / 0.7)).collect(),
        style: Style::Bound,
    });
    Chart {
        title,
        x: "seconds (trouble begins at 5)",
        y: "load, 1 is normal",
        log: [false, false],
        lines,
    }
}
