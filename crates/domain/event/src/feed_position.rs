use dwar_kernel::Entropy;
use sha2::{Digest, Sha256};

/// Where an event stands in the feed of its world, which is read in this order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct FeedPosition {
    /// The number of the transaction that recorded it; 0 in a database where one writes at a time.
    pub transaction: u64,
    /// The number of the event among all events.
    pub number: u64,
}

/// Which life of a database positions belong to: after a restore the same positions are given to other events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FeedLife(pub(crate) [u8; 8]);

impl FeedLife {
    /// The life of a database that names it by this text.
    pub fn of(name: &str) -> Self {
        let digest = Sha256::digest(name.as_bytes());
        Self(std::array::from_fn(|place| digest[place]))
    }

    /// A name for a new life.
    pub fn name(entropy: &dyn Entropy) -> String {
        let mut bytes = [0_u8; 16];
        entropy.fill_public(&mut bytes);
        base16ct::lower::encode_string(&bytes)
    }
}
