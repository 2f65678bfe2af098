//! The lines of a text.

/// Where the lines of a text end, so that each look-up is a binary search and the text is read once.
pub(super) struct LineBreaks {
    breaks: Vec<usize>,
}

impl LineBreaks {
    pub(super) fn of(text: &[u8]) -> Self {
        let bytes = text.iter().enumerate();
        let breaks = bytes.filter(|(_, byte)| **byte == b'\n');
        Self {
            breaks: breaks.map(|(at, _)| at).collect(),
        }
    }

    /// The line of a byte, from 1.
    pub(super) fn line(&self, at: usize) -> usize {
        1 + self.breaks.partition_point(|end| *end < at)
    }
}
