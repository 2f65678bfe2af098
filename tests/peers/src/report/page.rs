//! A page whose figures a program writes, and whose sentences people write.

use std::fs;
use std::path::PathBuf;

pub(crate) struct Page {
    file: PathBuf,
    text: String,
}

impl Page {
    /// Reads a page of the workspace.
    pub(crate) fn read(name: &str) -> Self {
        let file = crate::program::root().join(name);
        let text = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{name}: {error}"));
        Self { file, text }
    }

    /// Replaces the text between the two marks of a name.
    pub(crate) fn fill(&mut self, name: &str, figures: &str) {
        self.text = filled(&self.text, name, figures)
            .unwrap_or_else(|| panic!("{}: no marks of {name}", self.file.display()));
    }

    pub(crate) fn write(self) {
        fs::write(&self.file, self.text).expect("the page");
    }
}

fn filled(text: &str, name: &str, figures: &str) -> Option<String> {
    let (begin, end) = (
        format!("<!-- {name} -->\n"),
        format!("<!-- end {name} -->\n"),
    );
    let (before, rest) = text.split_once(&begin)?;
    let (_, after) = rest.split_once(&end)?;
    Some(format!("{before}{begin}{figures}{end}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_outside_of_the_marks_stays() {
        let page = "one\n<!-- x -->\nold\n<!-- end x -->\ntwo\n";
        let new = "one\n<!-- x -->\nnew\n<!-- end x -->\ntwo\n";
        assert_eq!(filled(page, "x", "new\n").as_deref(), Some(new));
        assert_eq!(filled(new, "x", "new\n").as_deref(), Some(new));
        assert_eq!(filled(page, "y", "new\n"), None);
    }
}
