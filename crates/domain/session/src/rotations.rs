use dwar_kernel::Timestamp;

const KEPT: usize = 16;

/// Times of the latest exchanges of a session's refresh token, oldest first; at most 16.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rotations(Vec<Timestamp>);

impl Rotations {
    pub(crate) fn push(&mut self, at: Timestamp) {
        let old = (self.0.len() + 1).saturating_sub(KEPT);
        self.0.drain(..old);
        self.0.push(at);
    }

    /// Time of the exchange that `later` exchanges followed, or of the oldest one that is kept.
    pub(crate) fn before(&self, later: u32) -> Option<Timestamp> {
        let later = usize::try_from(later).unwrap_or(KEPT);
        self.0.iter().rev().nth(later).or(self.0.first()).copied()
    }

    /// Stored form: milliseconds since 1970 in eight bytes each, big-endian.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.0.iter().flat_map(|at| at.timestamp_millis().to_be_bytes()).collect()
    }

    /// Parses what [`Rotations::to_bytes`] wrote for a session of this generation; `None` if the length or a
    /// time does not fit.
    pub fn from_bytes(bytes: &[u8], generation: u32) -> Option<Self> {
        let (instants, rest) = bytes.as_chunks();
        let instant =
            |bytes: &[u8; 8]| Timestamp::from_timestamp_millis(i64::from_be_bytes(*bytes));
        let expected = usize::try_from(generation).map_or(KEPT, |count| count.min(KEPT));
        let whole = rest.is_empty() && instants.len() == expected;
        whole.then(|| instants.iter().map(instant).collect::<Option<_>>().map(Self))?
    }
}
