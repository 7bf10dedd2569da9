use crate::Timestamp;
use uuid::Uuid;

/// A cryptographically secure source of random bytes and of UUIDs.
pub trait Entropy: Send + Sync {
    /// Fills the whole buffer. MUST never return with less, or with predictable bytes.
    fn fill(&self, buffer: &mut [u8]);

    /// Like [`Entropy::fill`], for bytes that are not secret: they may be drawn in advance.
    fn fill_public(&self, buffer: &mut [u8]) {
        self.fill(buffer);
    }

    /// A fresh UUIDv7 (RFC 9562 section 5.7) for `now`: sortable by time, not a secret.
    fn uuid(&self, now: Timestamp) -> Uuid {
        let mut tail = [0_u8; 10];
        self.fill_public(&mut tail);
        let millis = u64::try_from(now.timestamp_millis()).unwrap_or_default();
        uuid::Builder::from_unix_timestamp_millis(millis, &tail).into_uuid()
    }
}
