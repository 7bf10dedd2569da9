//! Background work beside that of logins: which instances run, figures, what operators leave behind.

mod heartbeat;
mod keep_figures;
mod sweep;

pub use heartbeat::{About, Heartbeat};
pub use keep_figures::KeepFigures;
pub use sweep::{ConsoleSweep, ConsoleSwept};

/// What goes on alongside the requests of those who run a service.
pub struct ConsoleUpkeep {
    pub heartbeat: Heartbeat,
    pub keep_figures: KeepFigures,
    /// Drops what operators and their tokens leave behind.
    pub sweep: ConsoleSweep,
}
