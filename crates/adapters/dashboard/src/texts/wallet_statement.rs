//! Texts of the statement.

pub(crate) const EVERY_KIND: &str = "All types";
pub(crate) const REFERENCE: &str = "Reference or OTP ID";
pub(crate) const DAYS: &str =
    "Dates are days in Indian time (IST, UTC+05:30). The last day is included.";
pub(crate) const NOTHING: &str = "No entries match these filters.";
pub(crate) const FURTHER: &str = "Nothing among these entries is over yet.";

pub(crate) fn stands_for(entries: u64) -> String {
    match entries {
        1 => "(1 entry, exported)".to_owned(),
        _ => format!("({entries} entries, exported)"),
    }
}
