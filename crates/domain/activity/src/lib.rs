//! Figures of sends and their outcome, per period of time; and the state of the installation.
//!
//! A request counts in the minute in which it was made, whatever happens to it later. So a figure can say how
//! many of every hundred sends arrived and how many were verified.
//!
//! ```
//! use dwar_activity::{Grain, Ratio};
//! use dwar_kernel::read_instant;
//!
//! // Days are those of the calendar in India.
//! let evening = read_instant("2026-11-27T20:00:00Z").unwrap();
//! assert_eq!(Grain::Day.begin(evening), read_instant("2026-11-28T00:00:00+05:30").unwrap());
//!
//! assert_eq!(Ratio { part: 931, whole: 1_000 }.permille(), Some(931));
//! // Of so few a percentage would say nothing.
//! assert_eq!(Ratio { part: 3, whole: 4 }.permille(), None);
//! ```

mod calendar;
mod causes;
mod counts;
mod figures_lease;
mod gather;
pub mod installation;
mod overview;
mod ports;
mod range;
mod times;

pub use calendar::{
    FigureSpan, Grain, Interval, KEEP_HOURS, KEEP_MINUTES, Period, SETTLED_AFTER, fresh,
};
pub use causes::{Cause, Causes};
pub use counts::{Counts, GuardCounts, Ratio, Traffic};
pub use figures_lease::FiguresLease;
pub use gather::{
    AttemptFacts, Figure, FigureChunk, FiguresBuilder, Key, RefusalFigure, RequestFacts,
};
pub use overview::{Overview, RouteFigures, Trend};
pub use ports::{FiguresStore, Progress};
pub use range::{FiguresPeriod, Range};
pub use times::DurationHistogram;
