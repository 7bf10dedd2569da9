use dwar_kernel::Entropy;
use sha2::{Digest, Sha256};

/// Position of an event in the feed of its project and mode; feeds are read in this order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct FeedPosition {
    /// Number of the transaction that recorded the event; 0 in a database with one writer at a time.
    pub transaction: u64,
    /// Sequence number of the event among all events.
    pub number: u64,
}

/// Identifies the life of a database to which positions belong: after a restore the same positions are given
/// to other events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FeedLife(pub(crate) [u8; 8]);

impl FeedLife {
    /// The life of a database with this name.
    pub fn of(name: &str) -> Self {
        let digest = Sha256::digest(name.as_bytes());
        Self(std::array::from_fn(|place| digest[place]))
    }

    /// A random name for a new life of the database.
    pub fn name(entropy: &dyn Entropy) -> String {
        let mut bytes = [0_u8; 16];
        entropy.fill_public(&mut bytes);
        base16ct::lower::encode_string(&bytes)
    }
}
