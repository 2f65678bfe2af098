//! The events of each millisecond, in a ring of lists.
//!
//! A heap would take too long for two million calls a second.

/// Future events, by millisecond.
#[derive(Debug)]
pub(crate) struct Wheel<T> {
    slots: Vec<Vec<T>>,
    now: usize,
}

impl<T> Wheel<T> {
    /// Makes a wheel for events that are less than this many milliseconds ahead.
    pub(crate) fn new(millis: usize) -> Self {
        Self {
            slots: std::iter::repeat_with(Vec::new).take(millis).collect(),
            now: 0,
        }
    }

    /// Adds an event `ahead` milliseconds from now, at least one.
    ///
    /// # Panics
    ///
    /// - If `ahead` is 0, or further than the wheel reaches.
    pub(crate) fn put(&mut self, ahead: u64, thing: T) {
        let slots = self.slots.len();
        let ahead = usize::try_from(ahead).expect("milliseconds of a simulation");
        assert!(ahead > 0 && ahead < slots, "within the wheel");
        self.slots[(self.now + ahead) % slots].push(thing);
    }

    /// Moves to the next millisecond, and swaps its events with `done`, an empty list whose memory is used again.
    pub(crate) fn turn(&mut self, done: &mut Vec<T>) {
        debug_assert!(done.is_empty());
        self.now = (self.now + 1) % self.slots.len();
        std::mem::swap(&mut self.slots[self.now], done);
    }
}
