//! Writes logs on a separate thread, so that no thread that logs waits for the reader.

use std::io::{self, BufWriter, Write};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;
use tracing_appender::non_blocking::{ErrorCounter, NonBlocking, NonBlockingBuilder, WorkerGuard};

/// Most lines that wait for the reader; about 500 bytes each.
const WAITING: usize = 16_384;
/// How long the thread sleeps when nothing waits. Meanwhile logging threads need not wake it, and
/// lines that arrive together are written together.
const REST: Duration = Duration::from_millis(1);

/// Writes lines to `out` in order until the guard is dropped, which waits at most a second for the
/// remaining lines. While nothing reads, lines beyond the first 16,384 are lost; the next line that
/// is read is followed by one with their number.
pub fn open<W: Write + Send + 'static>(out: W) -> (NonBlocking, WorkerGuard) {
    let lost = Arc::new(OnceLock::new());
    let outlet = LogWriter { out: BufWriter::new(out), lost: Arc::clone(&lost), told: 0 };
    let builder = NonBlockingBuilder::default().buffered_lines_limit(WAITING);
    let (lines, guard) = builder.thread_name("dwar-log").finish(outlet);
    // Only this code sets it.
    let _ = lost.set(lines.error_counter());
    (lines, guard)
}

struct LogWriter<W: Write> {
    out: BufWriter<W>,
    lost: Arc<OnceLock<ErrorCounter>>,
    told: usize,
}

/// Each call of `write` gets one line.
impl<W: Write> Write for LogWriter<W> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let lost = self.lost.get().map_or(0, ErrorCounter::dropped_lines);
        if lost > self.told {
            self.told = lost;
            // This line is queued behind the waiting ones.
            tracing::warn!(lost, "log lines were lost since the start: they were not read in time");
        }
        self.out.write_all(line).map(|()| line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.out.flush();
        thread::sleep(REST);
        flushed
    }
}
