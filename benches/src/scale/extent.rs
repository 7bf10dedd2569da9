//! The amount of measurement, and its settings.

/// How long requests and ended sessions are kept while nothing is to be deleted: the fill is up to
/// 59 days old.
pub const KEEP_HOURS: u64 = 1_500;

/// The amount of measurement.
pub struct Extent {
    /// Number of requests in the large database; it has half as many identities and sessions.
    pub requests: u64,
    /// Rounds of each endpoint, besides a first one that is not counted.
    pub rounds: usize,
    /// Requests to each endpoint in a round, on each database.
    pub samples: usize,
    /// Number of concurrent connections.
    pub connections: usize,
    /// Number of old requests that are deleted while others are answered, over all rounds.
    pub swept: u64,
}

/// Keeps everything of the last `hours`, and lets phones ask for more codes than usual.
pub fn settings(hours: u64) -> Vec<(String, String)> {
    let changed = [
        ("DWAR__RETENTION__REQUESTS_HOURS", hours.to_string()),
        ("DWAR__LIMITS__LIVE__SEND", "20".to_owned()),
        ("DWAR__LIMITS__LIVE__SEND_REACH", "20".to_owned()),
    ];
    changed.map(|(name, value)| (name.to_owned(), value)).into()
}
