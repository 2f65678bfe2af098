//! The planted changes of behaviour, as `behaviour.txt` lists them: a rule in words, and an edit of the code that breaks it.
//!
//! ```text
//! The rule.
//! in the file
//! - the text
//! + what stands in its place
//! by the tests that notice it, as `cargo test` gets them
//! ```

use std::fs;
use std::path::Path;

/// One change.
#[derive(Debug)]
pub(crate) struct Change<'t> {
    pub(crate) rule: &'t str,
    pub(crate) file: &'t str,
    from: String,
    to: String,
    pub(crate) tests: &'t str,
}

/// Reads the list.
pub(crate) fn changes(list: &str) -> Vec<Change<'_>> {
    let one = |block| {
        let lines = |mark| -> String {
            let marked = str::lines(block).filter_map(move |line| line.strip_prefix(mark));
            marked.collect::<Vec<_>>().join("\n")
        };
        let line = |mark: &str| {
            let line = block.lines().find_map(|line| line.strip_prefix(mark));
            line.unwrap_or_else(|| panic!("no line with `{mark}` in:\n{block}"))
        };
        Change {
            rule: line(""),
            file: line("in "),
            from: lines("- "),
            to: lines("+ "),
            tests: line("by "),
        }
    };
    list.trim().split("\n\n").map(one).collect()
}

/// Makes each change in the text of its file. If some have no place there, says so of all of them.
pub(crate) fn plant_each<'c, 't: 'c>(
    root: &Path,
    changes: impl IntoIterator<Item = &'c Change<'t>>,
) -> Result<Vec<(&'c Change<'t>, String)>, String> {
    let (mut planted, mut misplaced) = (Vec::new(), Vec::new());
    for change in changes {
        let text = fs::read_to_string(root.join(change.file)).unwrap_or_default();
        match change.plant(&text) {
            Ok(text) => planted.push((change, text)),
            Err(error) => misplaced.push(error),
        }
    }
    if misplaced.is_empty() {
        Ok(planted)
    } else {
        Err(misplaced.join("\n\n"))
    }
}

impl Change<'_> {
    /// Makes the change in the text of its file, whose spaces and line breaks do not count.
    fn plant(&self, text: &str) -> Result<String, String> {
        let dense = |text: &str| -> Vec<(usize, char)> {
            let chars = text.char_indices();
            chars.filter(|(_, char)| !char.is_whitespace()).collect()
        };
        let (all, part) = (dense(text), dense(&self.from));
        let is_here = |window: &&[(usize, char)]| {
            let mut pairs = window.iter().zip(&part);
            pairs.all(|((_, one), (_, other))| one == other)
        };
        let places: Vec<_> = all.windows(part.len()).filter(is_here).collect();
        let [[(start, _), .., (end, last)]] = places[..] else {
            return Err(format!(
                "`{}` is at {} places of {}, in place of one:\n{}\n\nIf the code has moved, write its new text into \
                 `tests/mutants/behaviour.txt`. If the rule is gone, take the entry out.",
                self.rule,
                places.len(),
                self.file,
                self.from,
            ));
        };
        let end = end + last.len_utf8();
        Ok(format!("{}{}{}", &text[..*start], self.to, &text[end..]))
    }
}
