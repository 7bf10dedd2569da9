//! How much is measured, and with which settings.

/// How long requests and ended sessions are kept while nothing is to leave: what is filled in is
/// up to 59 days old.
pub const KEEP_HOURS: u64 = 1_500;

/// How much is measured.
pub struct Extent {
    /// Requests on record in the large database; it has half as many identities and sessions.
    pub requests: u64,
    /// How often each endpoint has its turn, beside a first time that is not counted.
    pub rounds: usize,
    /// How often each endpoint is asked in a round, on each database.
    pub samples: usize,
    /// How many connections ask at once.
    pub connections: usize,
    /// How many old requests leave while others are answered, over all rounds.
    pub swept: u64,
}

/// Everything of the last `hours` is kept, and phones may ask for more codes than usual.
pub fn settings(hours: u64) -> Vec<(String, String)> {
    let changed = [
        ("DWAR__RETENTION__REQUESTS_HOURS", hours.to_string()),
        ("DWAR__LIMITS__LIVE__SEND", "20".to_owned()),
        ("DWAR__LIMITS__LIVE__SEND_REACH", "20".to_owned()),
    ];
    changed.map(|(name, value)| (name.to_owned(), value)).into()
}
