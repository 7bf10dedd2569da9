use crate::ticket::Ticket;
use crate::{Operator, OperatorSession};
use async_trait::async_trait;
use dwar_kernel::{Digest, Entropy, OperatorId, Purpose, StoreError, Timestamp, Vault, words};
use std::time::Duration;

words! {
    /// Signature algorithm of a passkey (RFC 9053 and RFC 8812).
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
    /// Identifier in the IANA registry of COSE algorithms.
    pub const fn cose(self) -> i32 {
        match self {
            Self::Es256 => -7,
            Self::EdDsa => -8,
            Self::Rs256 => -257,
        }
    }
}

/// Public key of a passkey; the private key never leaves the authenticator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PasskeyKey {
    pub algorithm: PasskeyAlgorithm,
    /// SubjectPublicKeyInfo (RFC 5280) in DER.
    pub spki: Vec<u8>,
}

/// A passkey, which signs in an operator without a password or second factor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passkey {
    /// Digest of the credential id, unique among all passkeys.
    pub digest: Digest,
    pub operator: OperatorId,
    pub name: String,
    pub credential: Vec<u8>,
    pub key: PasskeyKey,
    /// Last seen signature counter; zero if the authenticator has none.
    pub counter: u32,
    pub made_at: Timestamp,
    pub used_at: Option<Timestamp>,
}

impl Passkey {
    /// Most passkeys of one operator; further ones are refused.
    pub const MOST: usize = 10;

    /// Records a use. `false`, with nothing recorded, if the counter did not grow, which is the sign of a
    /// copied authenticator (WebAuthn Level 3, section 7.2, step 22).
    pub fn take(&mut self, counter: u32, now: Timestamp) -> bool {
        let grown = counter > self.counter || counter == 0 && self.counter == 0;
        if grown {
            self.counter = counter;
            self.used_at = Some(now);
        }
        grown
    }
}

/// Result of adding a passkey to an operator's account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PasskeyAdded {
    Added,
    /// Already on record, for this operator or another.
    Known,
    TooMany,
    /// The challenge was used before; nothing changed.
    Replayed,
    NoOperator,
}

/// Result of signing in an operator with a passkey.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PasskeyUsed {
    LetIn,
    /// The counter did not grow; nothing changed.
    Regressed,
    /// The challenge was used before; nothing changed.
    Replayed,
    Gone,
}

/// Keeps the passkeys of operators. A reset or removal of an operator also removes the passkeys.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait PasskeyStore: Send + Sync {
    /// Stores a passkey and uses up the challenge. Under any number of concurrent calls, from any process, an
    /// operator MUST NOT get more than [`Passkey::MOST`] passkeys, a credential id more than one owner, or a
    /// challenge more than one use.
    async fn add_passkey(
        &self,
        passkey: Passkey,
        challenge: Challenge,
    ) -> Result<PasskeyAdded, StoreError>;

    async fn all_passkeys(&self) -> Result<Vec<Passkey>, StoreError>;

    /// The passkeys of an operator, oldest first, equal times by digest.
    async fn passkeys(&self, operator: OperatorId) -> Result<Vec<Passkey>, StoreError>;

    async fn passkey(&self, passkey: Digest) -> Result<Option<(Passkey, Operator)>, StoreError>;

    /// Signs in the operator of a passkey by [`Passkey::take`]: `session` begins, and the challenge is used
    /// up. Counts of failures neither block this nor are reset by it.
    ///
    /// Exactly one of any number of concurrent calls with the same non-zero counter, or with the same
    /// challenge, MUST sign in, from any process.
    async fn use_passkey(
        &self,
        passkey: Digest,
        counter: u32,
        challenge: Challenge,
        session: OperatorSession,
        now: Timestamp,
    ) -> Result<PasskeyUsed, StoreError>;

    /// Removes a passkey of the operator and ends every session of the operator except `keep`; `false`, with
    /// nothing changed, if the operator has no such passkey.
    async fn remove_passkey(
        &self,
        operator: OperatorId,
        passkey: Digest,
        keep: Digest,
    ) -> Result<bool, StoreError>;
}

/// The site and the challenge that a passkey's answer must match.
#[derive(Clone, Copy, Debug)]
pub struct PasskeySite<'a> {
    pub id: &'a str,
    /// Origin as browsers send it: scheme, host and port.
    pub origin: &'a str,
    pub challenge: &'a [u8],
}

/// A browser's answer after making a passkey, each part as the authenticator returned it.
#[derive(Clone, Copy, Debug)]
pub struct PasskeyMade<'a> {
    pub credential: &'a [u8],
    /// `clientDataJSON`: what the browser was asked, according to the browser.
    pub client_data: &'a [u8],
    /// `attestationObject`: what the authenticator says about itself and the key; every browser sends it.
    pub attestation: &'a [u8],
}

/// A browser's answer when a passkey signs in.
#[derive(Clone, Copy, Debug)]
pub struct PasskeySigned<'a> {
    /// `clientDataJSON`: what the browser was asked, according to the browser.
    pub client_data: &'a [u8],
    pub authenticator_data: &'a [u8],
    pub signature: &'a [u8],
}

/// A refused answer: another site, another challenge, a signature that does not match, or no fingerprint or
/// PIN. The reason is for the log, and for operators who add a passkey of their own.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an answer to this question: {0}")]
pub struct NoPasskey(pub &'static str);

/// Verifies answers of passkeys (WebAuthn Level 3, sections 7.1 and 7.2). Both kinds require user
/// verification.
#[cfg_attr(feature = "mocks", mockall::automock)]
pub trait PasskeyVerifier: Send + Sync {
    /// The public key of a new passkey, and its counter.
    #[allow(clippy::needless_lifetimes, reason = "the mock wants them named")]
    fn made<'a>(
        &self,
        site: PasskeySite<'a>,
        answer: PasskeyMade<'a>,
    ) -> Result<(PasskeyKey, u32), NoPasskey>;

    #[allow(clippy::needless_lifetimes, reason = "the mock wants them named")]
    fn signed<'a>(
        &self,
        site: PasskeySite<'a>,
        key: &PasskeyKey,
        answer: PasskeySigned<'a>,
    ) -> Result<u32, NoPasskey>;
}

/// The challenge that a passkey signs. It is not stored: its MAC proves that it was made here, for whom, and
/// until when it is valid. A store remembers used challenges, so that each works once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Challenge(Ticket);

impl Challenge {
    /// Most time from challenge to answer: five minutes.
    pub const LIFETIME: Duration = Duration::from_secs(300);

    /// Makes a challenge: for the session that adds a passkey, or (`None`) for a sign-in.
    pub fn issue(
        session: Option<Digest>,
        (vault, entropy): (&dyn Vault, &dyn Entropy),
        now: Timestamp,
    ) -> Self {
        let key = (vault, Purpose::PasskeyChallenge);
        Self(Ticket::issue(key, &[whose(session.as_ref())], now + Self::LIFETIME, entropy))
    }

    /// Verifies a challenge of [`Challenge::issue`] for the same session, or for a sign-in; `None` if it is
    /// not genuine or has expired.
    pub fn read(
        bytes: &[u8],
        session: Option<Digest>,
        vault: &dyn Vault,
        now: Timestamp,
    ) -> Option<Self> {
        let key = (vault, Purpose::PasskeyChallenge);
        Ticket::read(bytes, key, &[whose(session.as_ref())], now).map(Self)
    }

    /// The bytes that the browser passes to the authenticator to be signed.
    pub const fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }

    /// Stored form of a used challenge, by which a repetition is recognised.
    pub fn digest(&self) -> Digest {
        self.0.digest()
    }

    /// Until when a used challenge is remembered: after that it has expired anyway.
    pub fn expires_at(&self) -> Timestamp {
        self.0.until().unwrap_or(Timestamp::MAX_UTC)
    }
}

fn whose(session: Option<&Digest>) -> &[u8] {
    session.map_or(&[], |session| &session.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{Ones, Sums};

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
    fn a_challenge_counts_for_whom_it_was_made_and_for_five_minutes() {
        let now = Timestamp::UNIX_EPOCH;
        let (mine, other) = (Some(Digest([1; 32])), Some(Digest([2; 32])));
        let end = now + Challenge::LIFETIME;
        let read = |bytes: &[u8], session, at| Challenge::read(bytes, session, &Sums, at);
        for (session, others) in [(mine, [None, other]), (None, [mine, other])] {
            let made = Challenge::issue(session, (&Sums, &Ones), now);
            let bytes = made.as_bytes();
            assert_eq!(read(bytes, session, end - Duration::from_millis(1)), Some(made));
            assert_eq!((made.expires_at(), read(bytes, session, end)), (end, None));
            for other in others {
                assert_eq!(read(bytes, other, now), None);
            }
            for at in 0..bytes.len() {
                let mut forged = bytes.to_vec();
                forged[at] ^= 1;
                assert_eq!(read(&forged, session, now), None, "{at}");
            }
            assert_eq!((read(&[], session, now), read(&bytes[1..], session, now)), (None, None));
        }
    }
}
