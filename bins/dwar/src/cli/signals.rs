use std::io::{self, IsTerminal};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// The signals that by default end a process at once, together with its work. After [`Self::take`]
/// none of them does.
pub struct Signals {
    hang_up: Signal,
    interrupt: Signal,
    quit: Signal,
    terminate: Signal,
    user_1: Signal,
    user_2: Signal,
    /// Whether a terminal is attached. Closing it sends HUP; a process that was started with
    /// `nohup` has none.
    has_terminal: bool,
}

impl Signals {
    /// Takes over the signals. A signal that arrives before [`Self::stop`] is kept.
    ///
    /// # Errors
    /// The operating system refused.
    pub fn take() -> io::Result<Self> {
        Ok(Self {
            hang_up: signal(SignalKind::hangup())?,
            interrupt: signal(SignalKind::interrupt())?,
            quit: signal(SignalKind::quit())?,
            terminate: signal(SignalKind::terminate())?,
            user_1: signal(SignalKind::user_defined1())?,
            user_2: signal(SignalKind::user_defined2())?,
            has_terminal: io::stdin().is_terminal()
                || io::stdout().is_terminal()
                || io::stderr().is_terminal(),
        })
    }

    /// Waits for a signal to stop and returns its name: TERM, INT, QUIT, or HUP from a terminal.
    /// Logs other signals.
    pub async fn stop(&mut self) -> &'static str {
        loop {
            let (name, stops) = tokio::select! {
                _ = self.terminate.recv() => ("TERM", true),
                _ = self.interrupt.recv() => ("INT", true),
                _ = self.quit.recv() => ("QUIT", true),
                _ = self.hang_up.recv() => ("HUP", self.has_terminal),
                _ = self.user_1.recv() => ("USR1", false),
                _ = self.user_2.recv() => ("USR2", false),
            };
            if stops {
                return name;
            }
            tracing::warn!(
                signal = name,
                "a signal is ignored: settings are read only at the start, and TERM stops the \
                 service"
            );
        }
    }
}
