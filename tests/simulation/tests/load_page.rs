//! `docs/LOAD.md` agrees with the code. The tests compute each row again that is cheap enough.

use simulation::closed::Batch;
use simulation::hedges::Service;
use simulation::manner::Manner;
use simulation::server::Trouble;
use simulation::tables::{self, FAILING};

const PAGE: &str = include_str!("../../../docs/LOAD.md");

/// The table between its marks.
fn table(name: &str) -> &'static str {
    let (_, rest) = PAGE
        .split_once(&format!("<!-- storm: {name} -->\n"))
        .unwrap_or_else(|| panic!("`{name}` is on the page"));
    rest.split_once("<!-- /storm -->").unwrap().0
}

fn assert_shows(name: &str, row: &str) {
    let table = table(name);
    assert!(
        table.lines().any(|line| line == row),
        "{name}: made\n{row}\nand found\n{table}run `cargo run --release -p simulation --example storm -- --write`"
    );
}

#[test]
fn the_page_shows_what_the_budget_costs() {
    for failing in FAILING {
        assert_shows("cost", &tables::cost_row(failing));
    }
}

#[test]
fn the_page_shows_the_load_of_busy_processes() {
    let timelines = tables::rates(500, Trouble::OUTAGE);
    assert_shows("rates, outage", &tables::rates_row(500, &timelines));
}

/// Without failures, so that the library draws no delays.
#[test]
fn the_page_shows_what_hedges_add_to_the_load() {
    assert_shows("hedges", tables::HEDGES_HEAD.lines().next().unwrap());
    for service in [Service::SlowAtTimes, Service::Slow] {
        for rate in tables::HEDGES_RATES {
            assert_shows("hedges", &tables::hedges_row(service, rate));
        }
    }
}

/// The library draws the delays of these runs itself. In one of some thousand runs with refusals a call is lost.
#[test]
fn the_page_shows_which_batches_lose_no_call_to_the_default_budget() {
    let rows: Vec<_> = table("workers").lines().skip(2).collect();
    assert_eq!(rows.len(), Batch::ALL.len());
    for (row, batch) in rows.iter().zip(&Batch::ALL) {
        let cells: Vec<_> = row.trim_matches(['|', ' ']).split(" | ").collect();
        assert_eq!(cells[0], batch.name);
        let lost: f64 = cells[3].parse().unwrap();
        assert!(lost <= 0.2, "{row}");
    }
}

/// In the tables and in words.
#[test]
fn the_page_says_which_budget_is_the_default() {
    let [default, other] = [Manner::BUDGET, Manner::AWS].map(|manner| manner.in_tables());
    assert_eq!(default, "`Budget::new()`, the default");
    assert_eq!(other, "`Budget::aws()`");
    let head = |table: &str| table.lines().next().unwrap().to_owned();
    for (name, head) in [
        ("cost", head(tables::COST_HEAD)),
        ("rates, outage", head(&tables::rates_head())),
    ] {
        assert!(head.contains(&default) && head.contains(&other), "{head}");
        assert_shows(name, &head);
    }
    for name in [
        "overload, 200 a second, slow-down",
        "overload, 200 a second, outage",
        "workers",
    ] {
        let table = table(name);
        for manner in [&default, &other] {
            assert!(table.contains(manner.as_str()), "{name}: {table}");
        }
    }
    assert!(PAGE.contains(&format!("\n| | {default} | {other} |\n")));
}

/// The other tables need a release build. This test checks that they exist and are not empty.
#[test]
fn no_table_and_no_picture_is_missing() {
    let [mut tables, mut pictures] = [0, 0];
    for (at, mark) in PAGE.match_indices("<!-- storm: ") {
        let name = PAGE[at + mark.len()..].split_once(" -->").unwrap().0;
        assert!(table(name).lines().count() > 2, "{name} is empty");
        tables += 1;
    }
    for (at, mark) in PAGE.match_indices("](load/") {
        let name = PAGE[at + mark.len()..].split_once(')').unwrap().0;
        let path = format!("{}/../../docs/load/{name}", env!("CARGO_MANIFEST_DIR"));
        let picture = std::fs::read_to_string(&path).unwrap();
        assert!(picture.contains("</svg>"), "{name}");
        pictures += 1;
    }
    assert_eq!([tables, pictures], [9, 4]);
}
