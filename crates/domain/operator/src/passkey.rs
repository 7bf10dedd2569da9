use crate::{Operator, OperatorSession};
use async_trait::async_trait;
use dwar_kernel::{Digest, OperatorId, StoreError, Timestamp, words};
use std::collections::VecDeque;
use std::time::Duration;

words! {
    /// How the answers of a passkey are signed (RFC 9053 and RFC 8812).
    PasskeyAlgorithm {
        /// ECDSA on P-256 with SHA-256.
        Es256 = "es256",
        /// Ed25519.
        EdDsa = "eddsa",
        /// RSA with PKCS #1 v1.5 and SHA-256, which Windows Hello uses.
        Rs256 = "rs256",
    }
}

impl PasskeyAlgorithm {
    /// Every algorithm, the preferred one first.
    pub const ALL: [Self; 3] = [Self::Es256, Self::EdDsa, Self::Rs256];

    /// Its number in the registry of COSE algorithms.
    pub const fn cose(self) -> i32 {
        match self {
            Self::Es256 => -7,
            Self::EdDsa => -8,
            Self::Rs256 => -257,
        }
    }
}

/// The part of a passkey that is ours to keep; the secret part never leaves its authenticator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PasskeyKey {
    pub algorithm: PasskeyAlgorithm,
    /// SubjectPublicKeyInfo (RFC 5280), DER.
    pub spki: Vec<u8>,
}

/// A passkey that lets an operator in, without password and second factor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passkey {
    /// Of its credential id; nobody else has it.
    pub digest: Digest,
    pub operator: OperatorId,
    /// What its owner calls it.
    pub name: String,
    /// What its authenticator calls it.
    pub credential: Vec<u8>,
    pub key: PasskeyKey,
    /// The signature counter as it was last seen; zero where the authenticator has none.
    pub counter: u32,
    pub made_at: Timestamp,
    pub used_at: Option<Timestamp>,
}

impl Passkey {
    /// So many passkeys one operator may have.
    pub const MOST: usize = 10;

    /// Notes a use; `false`, and nothing is noted, if the counter did not grow, which is the mark of
    /// a copied authenticator (WebAuthn Level 3, section 7.2, step 22).
    pub fn take(&mut self, counter: u32, now: Timestamp) -> bool {
        let grown = counter > self.counter || counter == 0 && self.counter == 0;
        if grown {
            self.counter = counter;
            self.used_at = Some(now);
        }
        grown
    }
}

/// The answer to a passkey that is to be added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PasskeyAdded {
    Added,
    /// It is on record already, whoever has it.
    Known,
    /// The operator has as many as one may have.
    TooMany,
    /// There is no such operator any more.
    NoOperator,
}

/// The answer to a passkey that signs in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PasskeyUsed {
    /// The session has begun.
    LetIn,
    /// Its counter did not grow; nothing changed.
    Regressed,
    /// It was removed meanwhile.
    Gone,
}

/// Keeps the passkeys of operators. A reset and a removal of the operator takes theirs along.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait PasskeyStore: Send + Sync {
    /// Puts a passkey on record. Of any number at once no operator MUST get more than
    /// [`Passkey::MOST`], and no credential id more than one owner.
    async fn add_passkey(&self, passkey: Passkey) -> Result<PasskeyAdded, StoreError>;

    /// The passkeys of an operator, oldest first, equals by digest.
    async fn passkeys(&self, operator: OperatorId) -> Result<Vec<Passkey>, StoreError>;

    /// A passkey and whose it is.
    async fn passkey(&self, passkey: Digest) -> Result<Option<(Passkey, Operator)>, StoreError>;

    /// Lets its operator in, by [`Passkey::take`]: `session` begins, and their standing is as new.
    ///
    /// Of any number at once with one counter, that is not zero, exactly one MUST be let in.
    async fn use_passkey(
        &self,
        passkey: Digest,
        counter: u32,
        session: OperatorSession,
        now: Timestamp,
    ) -> Result<PasskeyUsed, StoreError>;

    /// Removes a passkey of the operator and ends every session of theirs but `keep`; `false` if
    /// they have none such, and nothing changed.
    async fn remove_passkey(
        &self,
        operator: OperatorId,
        passkey: Digest,
        keep: Digest,
    ) -> Result<bool, StoreError>;
}

/// For which site, and which question, an answer of a passkey has to be.
#[derive(Clone, Copy, Debug)]
pub struct PasskeySite<'a> {
    /// The domain that passkeys are bound to.
    pub id: &'a str,
    /// As browsers write it: scheme, host and port.
    pub origin: &'a str,
    /// What they were asked to sign.
    pub challenge: &'a [u8],
}

/// What a browser answers when a passkey was made, each part as the authenticator gave it.
#[derive(Clone, Copy, Debug)]
pub struct PasskeyMade<'a> {
    pub credential: &'a [u8],
    pub client_data: &'a [u8],
    pub authenticator_data: &'a [u8],
    pub spki: &'a [u8],
    /// As COSE numbers it.
    pub algorithm: i32,
}

/// What a browser answers when a passkey signs in.
#[derive(Clone, Copy, Debug)]
pub struct PasskeySigned<'a> {
    pub client_data: &'a [u8],
    pub authenticator_data: &'a [u8],
    pub signature: &'a [u8],
}

/// An answer that counts for nothing: another site, another question, a signature that does not
/// fit, nobody was asked for a fingerprint or PIN. Which of them is for the log alone.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an answer to this question: {0}")]
pub struct NoPasskey(pub &'static str);

/// Checks what passkeys answer (WebAuthn Level 3, sections 7.1 and 7.2). Both ask that the user was
/// verified.
#[cfg_attr(feature = "mocks", mockall::automock)]
pub trait PasskeyVerifier: Send + Sync {
    /// The key of a passkey that was made, and its counter.
    #[allow(clippy::needless_lifetimes, reason = "the mock wants them named")]
    fn made<'a>(
        &self,
        site: PasskeySite<'a>,
        answer: PasskeyMade<'a>,
    ) -> Result<(PasskeyKey, u32), NoPasskey>;

    /// The counter of a passkey that signed.
    #[allow(clippy::needless_lifetimes, reason = "the mock wants them named")]
    fn signed<'a>(
        &self,
        site: PasskeySite<'a>,
        key: &PasskeyKey,
        answer: PasskeySigned<'a>,
    ) -> Result<u32, NoPasskey>;
}

/// What passkeys are asked to sign, until they have answered: each counts once, and for whom it was
/// made.
#[derive(Debug, Default)]
pub struct Challenges(VecDeque<Challenge>);

#[derive(Debug)]
struct Challenge {
    bytes: [u8; 32],
    /// The session that asked; none where somebody signs in.
    session: Option<Digest>,
    expires_at: Timestamp,
}

impl Challenges {
    /// An answer may take this long.
    pub const LIFETIME: Duration = Duration::from_secs(300);
    /// So many are open at once; one more takes the place of the oldest.
    pub const MOST: usize = 1_000;

    /// Opens one.
    pub fn open(&mut self, bytes: [u8; 32], session: Option<Digest>, now: Timestamp) {
        self.0.retain(|open| now < open.expires_at);
        if self.0.len() >= Self::MOST {
            self.0.pop_front();
        }
        self.0.push_back(Challenge { bytes, session, expires_at: now + Self::LIFETIME });
    }

    /// Uses one up; `false` if there is none such that is open, or it is somebody else's.
    pub fn take(&mut self, bytes: &[u8], session: Option<Digest>, now: Timestamp) -> bool {
        let own = |open: &Challenge| open.bytes == bytes && open.session == session;
        let found = self.0.iter().position(own).and_then(|place| self.0.remove(place));
        found.is_some_and(|open| now < open.expires_at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn a_counter_has_to_grow_unless_there_is_none() {
        let now = Timestamp::UNIX_EPOCH;
        let make = |counter| Passkey {
            digest: Digest([1; 32]),
            operator: "00000000-0000-7000-8000-000000000001".parse().unwrap(),
            name: "Laptop".to_owned(),
            credential: vec![1],
            key: PasskeyKey { algorithm: PasskeyAlgorithm::Es256, spki: vec![1] },
            counter,
            made_at: now,
            used_at: None,
        };
        for (known, seen, taken) in
            [(0, 0, true), (0, 1, true), (1, 2, true), (1, 1, false), (2, 1, false), (1, 0, false)]
        {
            let mut passkey = make(known);
            assert_eq!(passkey.take(seen, now), taken, "{known} {seen}");
            assert_eq!(passkey.counter, if taken { seen } else { known });
            assert_eq!(passkey.used_at, taken.then_some(now));
        }
    }

    #[test]
    fn a_challenge_counts_once_for_whom_it_was_made_and_for_five_minutes() {
        let (now, mut open) = (Timestamp::UNIX_EPOCH, Challenges::default());
        let (mine, other) = (Some(Digest([1; 32])), Some(Digest([2; 32])));
        let end = now + Challenges::LIFETIME;
        for (byte, session) in [(1, None), (2, mine), (3, None), (4, None)] {
            open.open([byte; 32], session, now);
        }
        assert!(!open.take(&[9; 32], None, now) && !open.take(&[], None, now));
        assert!(!open.take(&[2; 32], None, now) && !open.take(&[2; 32], other, now));
        assert!(open.take(&[2; 32], mine, now) && !open.take(&[2; 32], mine, now));
        assert!(!open.take(&[1; 32], mine, now) && open.take(&[1; 32], None, end - MS));
        assert!(!open.take(&[3; 32], None, end));
    }

    #[test]
    fn a_flood_of_challenges_is_bounded() {
        let (now, mut open) = (Timestamp::UNIX_EPOCH, Challenges::default());
        let bytes = |number: usize| {
            let mut bytes = [0; 32];
            bytes[..8].copy_from_slice(&number.to_be_bytes());
            bytes
        };
        for number in 0..=Challenges::MOST {
            open.open(bytes(number), None, now);
        }
        assert_eq!(open.0.len(), Challenges::MOST);
        assert!(!open.take(&bytes(0), None, now) && open.take(&bytes(1), None, now));
    }
}
