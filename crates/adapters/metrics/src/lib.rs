//! Counts what the service does, and shows the counts to Prometheus on a listener of its own.
//!
//! [`Counts`] counts requests as they happen, without locks or allocations. Counts of other parts
//! of the process are read at each scrape, as a [`Snapshot`]. No scrape asks a store. Labels are
//! words from sets that are known at the start, so clients cannot increase the number of series
//! (docs/metrics.md).

mod cells;
mod codes;
mod counts;
mod exposition;
mod format;
mod listener;
mod page;
mod process;
mod requests;
mod settings;
mod snapshot;
mod table;
mod times;

pub use codes::Providers;
pub use counts::Counts;
pub use dwar_wire::{Endpoint, Server, StopHandle};
pub use exposition::Exposition;
pub use listener::{app, scrapes};
pub use process::resident_memory;
pub use requests::Api;
pub use settings::{Settings, Token};
pub use snapshot::{Clock, Database, Loop, Pool, ProgramInfo, Queue, Snapshot, SnapshotSource};
pub use times::Histogram;
