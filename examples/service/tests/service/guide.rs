//! The guide for operators, `docs/OPERATING.md`.

use std::fs;
use std::path::Path;

use crate::dashboard::PERIOD;
use crate::queries::OUTCOMES;
use crate::{Failure, Tested};

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

/// The fields of events that the guide explains.
pub(crate) fn fields() -> Result<Vec<String>, Failure> {
    let text = text()?;
    let (_, table) = text
        .split_once("| field | it tells you |\n|---|---|\n")
        .ok_or("the guide has no table of fields")?;
    let rows = table.lines().take_while(|line| line.starts_with('|'));
    let names = rows
        .filter_map(|row| row.split('|').nth(1))
        .flat_map(|names| names.split(','));
    Ok(names
        .map(|name| name.trim().trim_matches('`').to_owned())
        .collect())
}

pub(crate) fn names_every_failure() -> Tested {
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
