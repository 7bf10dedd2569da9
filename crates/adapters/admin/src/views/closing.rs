use super::text::id;
use dwar_wallet::{Balance, Closing};
use serde::Serialize;
use std::path::PathBuf;
use utoipa::ToSchema;

/// Holds, captures and releases of a closed month, which one entry replaces.
#[derive(Serialize, ToSchema)]
pub struct ClosedEntries {
    /// Number of entries replaced so far; less than `exported` while the month is being closed.
    entries: u64,
    /// Number of entries exported.
    exported: u64,
    /// Position of the first exported entry.
    first_position: u64,
    last_position: u64,
    /// SHA-256 of the exported file.
    sha256: String,
}

/// A month that was closed, for the command line.
#[derive(Serialize)]
pub struct ClosedMonth {
    project_id: String,
    month: String,
    amount_paise: i64,
    held_paise: i64,
    #[serde(flatten)]
    closed: ClosedEntries,
    file: PathBuf,
}

/// A month that can be closed, for the command line.
#[derive(Serialize)]
pub struct MonthToClose {
    project_id: String,
    month: String,
    entries: u64,
    first_position: u64,
    last_position: u64,
    /// Whether an earlier run already started to close it.
    begun: bool,
}

impl From<&Closing> for ClosedEntries {
    fn from(Closing { exported, digest, closed, .. }: &Closing) -> Self {
        Self {
            entries: closed.entries,
            exported: exported.entries,
            first_position: exported.first,
            last_position: exported.last,
            sha256: digest.to_string(),
        }
    }
}

impl ClosedMonth {
    /// Makes the view of a month that was exported to this file.
    pub fn new(closing: &Closing, file: PathBuf) -> Self {
        let Balance { balance, held } = closing.closed.sums;
        Self {
            project_id: id(closing.project),
            month: id(closing.month),
            amount_paise: balance.0,
            held_paise: held.0,
            closed: closing.into(),
            file,
        }
    }
}

impl From<&dwar_console::MonthToClose> for MonthToClose {
    fn from(it: &dwar_console::MonthToClose) -> Self {
        Self {
            project_id: id(it.project),
            month: id(it.month),
            entries: it.entries.entries,
            first_position: it.entries.first,
            last_position: it.entries.last,
            begun: it.begun.is_some(),
        }
    }
}
