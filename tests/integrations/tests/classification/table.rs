//! The table of the page.

use std::collections::{BTreeMap, BTreeSet};

use super::Errors;

/// The word of the verdict, by source and error.
#[derive(Debug)]
pub(crate) struct Table(BTreeMap<(String, String), String>);

/// The error in the last row of a source.
const ANY_OTHER: &str = "any other";

pub(crate) fn is_row(line: &str) -> bool {
    line.starts_with("| `")
}

pub(crate) fn cells(line: &str) -> [&str; 4] {
    let line = line.trim_start_matches("| ").trim_end_matches(" |");
    let cells: Vec<&str> = line.split(" | ").collect();
    cells.try_into().unwrap()
}

impl Table {
    pub(crate) fn parse(text: &str) -> Self {
        let mut rows = BTreeMap::new();
        for line in text.lines().filter(|line| is_row(line)) {
            let [of, errors, verdict, why] = cells(line);
            assert!(!why.is_empty(), "{line}");
            for of in names(of) {
                for error in names(errors) {
                    let twice = rows.insert((of.clone(), error.clone()), verdict.to_owned());
                    assert!(twice.is_none(), "twice in the table: {of} {error}");
                }
            }
        }
        Self(rows)
    }

    pub(crate) fn sources(&self) -> BTreeSet<&str> {
        self.0.keys().map(|(of, _)| of.as_str()).collect()
    }

    /// The rows that are wrong, missing or left over for these sources.
    pub(crate) fn compare(&self, code: &[(&str, Errors)]) -> Vec<String> {
        let mut mistakes = Vec::new();
        let mut used = BTreeSet::new();
        for (of, errors) in code {
            for (error, verdict) in errors {
                match self.find(of, error) {
                    Some((row, said)) => {
                        used.insert(row);
                        if said != verdict.as_str() {
                            mistakes.push(format!("{of}: {error} is {verdict}, not {said}"));
                        }
                    }
                    None => mistakes.push(format!("{of}: {error} is missing ({verdict})")),
                }
            }
        }
        let unused = self.0.keys().filter(|row| !used.contains(row));
        let unused = unused.filter(|(of, _)| code.iter().any(|(source, _)| source == of));
        mistakes.extend(unused.map(|(of, error)| format!("{of}: there is no {error}")));
        mistakes
    }

    /// The row of the error, or of its class (`4xx` for 404, `23xxx` for 23505), or *any other*.
    fn find(&self, of: &str, error: &str) -> Option<(&(String, String), &str)> {
        let class = match error.len() {
            3 => format!("{}xx", &error[..1]),
            5 if error.is_ascii() => format!("{}xxx", &error[..2]),
            _ => String::new(),
        };
        // An error in words has no class.
        let (class, any) = if error.contains(' ') {
            (error, error)
        } else {
            (class.as_str(), ANY_OTHER)
        };
        [error, class, any]
            .into_iter()
            .find_map(|name| self.0.get_key_value(&(of.to_owned(), name.to_owned())))
            .map(|(row, verdict)| (row, verdict.as_str()))
    }
}

/// The names in a cell: words in backticks, or names of several words with a semicolon between them.
pub(crate) fn names(cell: &str) -> Vec<String> {
    let is_name = |word: &str| word.starts_with('`') && word.ends_with('`');
    let between = if cell.split(' ').all(is_name) {
        " "
    } else {
        "; "
    };
    cell.split(between)
        .map(|name| name.replace('`', ""))
        .collect()
}
