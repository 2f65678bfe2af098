//! What happens at which millisecond: a ring of lists.
//!
//! Two million calls a second are more than a heap can sort in the time that a person waits.

/// Things to come, by millisecond.
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

    /// Puts a thing some milliseconds ahead, at least one.
    ///
    /// # Panics
    ///
    /// - If it lies further ahead than the wheel reaches, or not at all.
    pub(crate) fn put(&mut self, ahead: u64, thing: T) {
        let slots = self.slots.len();
        let ahead = usize::try_from(ahead).expect("milliseconds of a simulation");
        assert!(ahead > 0 && ahead < slots, "within the wheel");
        self.slots[(self.now + ahead) % slots].push(thing);
    }

    /// Turns to the next millisecond and swaps what happens in it with `done`, an empty list whose
    /// memory is used again.
    pub(crate) fn turn(&mut self, done: &mut Vec<T>) {
        debug_assert!(done.is_empty());
        self.now = (self.now + 1) % self.slots.len();
        std::mem::swap(&mut self.slots[self.now], done);
    }
}
