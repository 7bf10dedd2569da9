//! Captures the logs of a test's own thread, to prove that they do not contain certain text.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};
use tracing::subscriber::{DefaultGuard, set_default, set_global_default};
use tracing_subscriber::fmt;

#[derive(Clone, Default)]
pub struct CapturedLogs(Arc<Mutex<Vec<u8>>>);

impl CapturedLogs {
    /// Captures every line of this thread, at every level, until the guard is dropped.
    ///
    /// Lines have no time, because its microseconds have six digits like a code.
    pub fn start() -> (Self, DefaultGuard) {
        // With a single subscriber, `tracing` would cache for all threads that a callsite is
        // disabled, if another thread logs there first. So there are always two.
        let sink = fmt().with_max_level(tracing::Level::TRACE).with_writer(io::sink).finish();
        let _ = set_global_default(sink);
        let logs = Self::default();
        let writer = logs.clone();
        let subscriber = fmt()
            .with_max_level(tracing::Level::TRACE)
            .with_ansi(false)
            .without_time()
            .with_writer(move || writer.clone())
            .finish();
        (logs, set_default(subscriber))
    }

    pub fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl Write for CapturedLogs {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
