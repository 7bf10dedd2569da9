use chrono::SecondsFormat;
use dwar_kernel::Timestamp;
use std::fmt::Display;

pub(crate) fn id(id: impl Display) -> String {
    id.to_string()
}

/// Formats an instant as the public API does: RFC 3339, UTC.
pub fn instant(at: Timestamp) -> String {
    at.to_rfc3339_opts(SecondsFormat::AutoSi, true)
}
