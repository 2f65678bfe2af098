//! What events say.

use std::io::{self, Write};
use std::sync::{Arc, LazyLock, Mutex};

use tracing::subscriber::{DefaultGuard, NoSubscriber, set_default};
use tracing::{Dispatch, Level};

/// A writer for a subscriber, which keeps the text.
#[derive(Debug, Clone, Default)]
pub struct Written(Arc<Mutex<Vec<u8>>>);

impl Written {
    /// Keeps what events of this level and above say in this thread, until the guard is dropped.
    #[must_use]
    pub fn subscribe(level: Level) -> (Self, DefaultGuard) {
        // With a single subscriber, `tracing` asks only the thread that first reaches an event, and believes it for all.
        static SECOND: LazyLock<Dispatch> = LazyLock::new(|| Dispatch::new(NoSubscriber::new()));
        LazyLock::force(&SECOND);
        let written = Self::default();
        let writer = written.clone();
        let subscriber = tracing_subscriber::fmt().with_ansi(false);
        let subscriber = subscriber.with_max_level(level);
        let subscriber = subscriber.with_writer(move || writer.clone()).finish();
        (written, set_default(subscriber))
    }

    /// Fails unless this is so often in the text so far.
    ///
    /// # Panics
    ///
    /// - If it is not, or a writer panicked.
    #[track_caller]
    pub fn counts(&self, text: &str, times: usize) {
        let written = String::from_utf8_lossy(&self.0.lock().unwrap()).into_owned();
        assert_eq!(written.matches(text).count(), times, "{written}");
    }

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
