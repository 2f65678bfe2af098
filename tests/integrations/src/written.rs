//! What events say.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

/// A writer for a subscriber, which keeps the text.
#[derive(Debug, Clone, Default)]
pub struct Written(Arc<Mutex<Vec<u8>>>);

impl Written {
    /// Takes the text out.
    ///
    /// # Panics
    ///
    /// - If it is not UTF-8, or a writer panicked.
    #[must_use]
    pub fn take(&self) -> String {
        String::from_utf8(std::mem::take(&mut *self.0.lock().unwrap())).unwrap()
    }
}

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
