//! Where logs leave the process, on a thread of their own: no thread that logs waits for a reader.

use std::io::{self, BufWriter, Write};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;
use tracing_appender::non_blocking::{ErrorCounter, NonBlocking, NonBlockingBuilder, WorkerGuard};

/// How many lines wait at most for a reader; about 500 bytes each.
const WAITING: usize = 16_384;
/// How long the thread rests once nothing waits. Threads that log meanwhile need not wake it, and lines
/// that come together leave together.
const REST: Duration = Duration::from_millis(1);

/// Writes to `out` what it is given, in order, until the guard is dropped, which waits a second at most
/// for the lines that are left. While nothing reads, lines beyond the first 16,384 are lost, and the
/// next one that is read is followed by one that says how many were.
pub fn open<W: Write + Send + 'static>(out: W) -> (NonBlocking, WorkerGuard) {
    let lost = Arc::new(OnceLock::new());
    let outlet = Outlet { out: BufWriter::new(out), lost: Arc::clone(&lost), told: 0 };
    let builder = NonBlockingBuilder::default().buffered_lines_limit(WAITING);
    let (lines, guard) = builder.thread_name("dwar-log").finish(outlet);
    // Nothing else sets it.
    let _ = lost.set(lines.error_counter());
    (lines, guard)
}

struct Outlet<W: Write> {
    out: BufWriter<W>,
    lost: Arc<OnceLock<ErrorCounter>>,
    told: usize,
}

/// Each write is a line.
impl<W: Write> Write for Outlet<W> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let lost = self.lost.get().map_or(0, ErrorCounter::dropped_lines);
        if lost > self.told {
            self.told = lost;
            // It takes its place behind the lines that wait.
            tracing::warn!(lost, "log lines were lost since the start: nothing read them");
        }
        self.out.write_all(line).map(|()| line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.out.flush();
        thread::sleep(REST);
        flushed
    }
}
