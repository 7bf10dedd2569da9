//! Background work besides that of logins: heartbeats, figures, and expired rows of operators.

mod heartbeat;
mod keep_figures;
mod sweep;

pub use heartbeat::{Heartbeat, ProcessInfo};
pub use keep_figures::KeepFigures;
pub use sweep::{ConsoleSweep, ConsoleSwept};

/// The background work of the operators' side, for the binary to run.
pub struct ConsoleUpkeep {
    pub heartbeat: Heartbeat,
    pub keep_figures: KeepFigures,
    pub sweep: ConsoleSweep,
}
