//! The guide for operators, `docs/OPERATING.md`.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::dashboard::{PERIOD, panels};
use crate::queries::OUTCOMES;
use crate::{Failure, Tested};

/// The page of the guide on logs, which has a table of all messages and one of their fields.
const SEEING: &str = include_str!("../../../../src/guide/seeing.md");

fn text() -> Result<String, Failure> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/OPERATING.md");
    Ok(fs::read_to_string(path)?)
}

/// The queries of the guide, over a period for which a test can wait.
pub(crate) fn queries() -> Result<Vec<String>, Failure> {
    let text = text()?;
    let blocks = text.split("```promql\n").skip(1);
    let queries: Vec<_> = blocks
        .filter_map(|block| {
            Some(
                block
                    .split_once("```")?
                    .0
                    .replace("[5m]", &format!("[{PERIOD}]")),
            )
        })
        .collect();
    if queries.is_empty() {
        return Err("the guide has no queries".into());
    }
    Ok(queries)
}

/// The fields of events. The page of the guide on logs explains them.
pub(crate) fn fields() -> Result<Vec<String>, Failure> {
    let (_, table) = SEEING
        .split_once("| field | value |\n|---|---|\n")
        .ok_or("the page on logs has no table of fields")?;
    let rows = table.lines().take_while(|line| line.starts_with('|'));
    let names = rows
        .filter_map(|row| row.split('|').nth(1))
        .flat_map(|names| names.split(','));
    Ok(names
        .map(|name| name.trim().trim_matches('`').to_owned())
        .collect())
}

pub(crate) async fn the_guide_for_operators_names_every_failure() -> Tested {
    let text = text()?;
    let failures = OUTCOMES
        .into_iter()
        .filter(|outcome| !outcome.to_string().starts_with("success"));
    for outcome in failures {
        assert!(
            text.contains(&format!("\n| `{outcome}` |")),
            "no row for `{outcome}`"
        );
    }
    Ok(())
}

pub(crate) async fn each_section_of_the_guide_names_panels_parts_of_the_page_and_events_that_exist()
-> Tested {
    let text = text()?;
    let panels: BTreeSet<_> = panels()?.into_iter().map(|panel| panel.title).collect();
    let parts = parts_of_page();
    let mut named = BTreeSet::new();
    for title in [
        "Which call?",
        "Why?",
        "What do I change?",
        "When an upstream is down",
    ] {
        let (_, section) = text.split_once(&format!("\n## {title}\n")).ok_or(title)?;
        let section = section.split("\n## ").next().unwrap_or_default();
        let (_, table) = section
            .split_once("| where | look at | it tells you |\n|---|---|---|\n")
            .ok_or(format!("{title} does not say where to look"))?;
        let mut places = BTreeSet::new();
        for row in table.lines().take_while(|line| line.starts_with('|')) {
            let cells: Vec<_> = row.split('|').map(str::trim).collect();
            let [_, place, look_at, ..] = cells[..] else {
                return Err(format!("no row: {row}").into());
            };
            let quoted = |mark: char| look_at.split(mark).skip(1).step_by(2);
            match place {
                "page" => quoted('*').for_each(|part| {
                    assert!(parts.contains(part), "{title}: the page has no {part}");
                }),
                "dashboard" => quoted('*').for_each(|panel| {
                    assert!(
                        panels.contains(panel),
                        "{title}: the dashboard has no {panel}"
                    );
                    named.insert(panel.to_owned());
                }),
                "events" => quoted('`')
                    .filter(|name| !name.contains('='))
                    .for_each(|message| {
                        let row = format!(" | {message} | ");
                        assert!(SEEING.contains(&row), "{title}: no event is {message}");
                    }),
                other => panic!("{title}: where is {other}?"),
            }
            assert!(look_at.contains(['*', '`']), "{title}: {row} names nothing");
            places.insert(place);
        }
        let all = BTreeSet::from(["page", "dashboard", "events"]);
        assert_eq!(places, all, "where {title} tells to look");
    }
    assert_eq!(
        named, panels,
        "the panels that the guide names, and all panels"
    );
    Ok(())
}

/// The headings of the page, and those of its columns.
fn parts_of_page() -> BTreeSet<&'static str> {
    let page = include_str!("../../src/page.html");
    let after = |start: &'static str| {
        let rests = page.split(start).skip(1);
        rests.filter_map(|rest| Some(rest.split_once('>')?.1.split_once('<')?.0))
    };
    after("<h2").chain(after("<th")).collect()
}
