/// An instant in UTC, whole milliseconds.
pub type Timestamp = chrono::DateTime<chrono::Utc>;

/// Tells the time.
///
/// Only use cases and drivers ask; stores and aggregates are handed `now`.
pub trait Clock: Send + Sync {
    /// The present instant, truncated to whole milliseconds (so every store keeps it exactly).
    fn now(&self) -> Timestamp;
}
