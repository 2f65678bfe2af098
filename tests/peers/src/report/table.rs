//! A table in Markdown.

use std::fmt::Write as _;

/// Rows of cells, with a heading and with a title for each row.
pub(crate) struct Table(String);

impl Table {
    pub(crate) fn new(corner: &str, headings: impl IntoIterator<Item: AsRef<str>>) -> Self {
        let (mut first, mut second) = (format!("| {corner} |"), "|---|".to_owned());
        for heading in headings {
            let _ = write!(first, " {} |", heading.as_ref());
            second.push_str("---:|");
        }
        Self(format!("{first}\n{second}\n"))
    }

    pub(crate) fn row(&mut self, title: &str, cells: impl IntoIterator<Item = String>) {
        let _ = write!(self.0, "| {title} |");
        for cell in cells {
            let _ = write!(self.0, " {cell} |");
        }
        self.0.push('\n');
    }

    pub(crate) fn text(self) -> String {
        self.0
    }
}

/// A number, or a dash for `None`.
pub(crate) fn number(number: Option<impl Into<u64>>) -> String {
    number.map_or_else(|| "–".to_owned(), |number| thousands(number.into()))
}

/// A ratio, or a dash for `None`.
pub(crate) fn ratio(ratio: Option<f64>) -> String {
    ratio.map_or_else(|| "–".to_owned(), |ratio| format!("{ratio:.2}"))
}

fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_read_in_groups_of_three_digits() {
        assert_eq!(number(Some(7_u32)), "7");
        assert_eq!(number(Some(999_u32)), "999");
        assert_eq!(number(Some(1_000_u32)), "1,000");
        assert_eq!(number(Some(1_234_567_u32)), "1,234,567");
        assert_eq!(number(None::<u32>), "–");
    }
}
