use dwar_kernel::{Digest, Entropy, Purpose, Timestamp, Vault};
use std::fmt;
use subtle::ConstantTimeEq;

const ID: usize = 16;
const UNTIL: usize = 8;
const MAC: usize = 32;

/// Bytes that prove without a record that they were made here: for one purpose, for the subject `about`, and
/// with an expiry. They consist of a random id, an instant and a MAC of both.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ticket([u8; Ticket::LENGTH]);

impl Ticket {
    pub(crate) const LENGTH: usize = ID + UNTIL + MAC;

    pub(crate) fn issue(
        (vault, purpose): (&dyn Vault, Purpose),
        about: &[&[u8]],
        until: Timestamp,
        entropy: &dyn Entropy,
    ) -> Self {
        let mut bytes = [0; Self::LENGTH];
        entropy.fill(&mut bytes[..ID]);
        bytes[ID..ID + UNTIL].copy_from_slice(&until.timestamp_millis().to_be_bytes());
        let mac = mac((vault, purpose), about, &bytes[..ID + UNTIL]);
        bytes[ID + UNTIL..].copy_from_slice(&mac.0);
        Self(bytes)
    }

    /// Verifies the bytes of [`Ticket::issue`] for the same purpose and subject; `None` if they are not
    /// genuine or have expired.
    pub(crate) fn read(
        bytes: &[u8],
        (vault, purpose): (&dyn Vault, Purpose),
        about: &[&[u8]],
        now: Timestamp,
    ) -> Option<Self> {
        let ticket = Self(bytes.try_into().ok()?);
        let (head, given) = ticket.0.split_at(ID + UNTIL);
        let genuine = mac((vault, purpose), about, head).0.ct_eq(given);
        (bool::from(genuine) && now < ticket.until()?).then_some(ticket)
    }

    pub(crate) const fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The MAC, which identifies the ticket: no two are the same.
    pub(crate) fn digest(&self) -> Digest {
        let mut digest = [0; MAC];
        digest.copy_from_slice(&self.0[ID + UNTIL..]);
        Digest(digest)
    }

    /// The first instant at which the ticket has expired.
    pub(crate) fn until(&self) -> Option<Timestamp> {
        let mut millis = [0; UNTIL];
        millis.copy_from_slice(&self.0[ID..ID + UNTIL]);
        Timestamp::from_timestamp_millis(i64::from_be_bytes(millis))
    }
}

impl fmt::Debug for Ticket {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Ticket(…)")
    }
}

fn mac((vault, purpose): (&dyn Vault, Purpose), about: &[&[u8]], head: &[u8]) -> Digest {
    vault.digest(purpose, &[about, &[head][..]].concat())
}
