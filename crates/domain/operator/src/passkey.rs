use crate::ticket::Ticket;
use crate::{Operator, OperatorSession};
use async_trait::async_trait;
use dwar_kernel::{Digest, Entropy, OperatorId, Purpose, StoreError, Timestamp, Vault, words};
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
    /// Its number in the registry of COSE algorithms.
    pub const fn cose(self) -> i32 {
        match self {
            Self::Es256 => -7,
            Self::EdDsa => -8,
            Self::Rs256 => -257,
        }
    }
}

/// The part of a passkey that we keep; the secret part never leaves its authenticator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PasskeyKey {
    pub algorithm: PasskeyAlgorithm,
    /// SubjectPublicKeyInfo (RFC 5280), DER.
    pub spki: Vec<u8>,
}

/// A passkey that lets an operator in, without a password or second factor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passkey {
    /// The digest of its credential id; no other passkey has it.
    pub digest: Digest,
    pub operator: OperatorId,
    pub name: String,
    pub credential: Vec<u8>,
    pub key: PasskeyKey,
    /// The signature counter as it was last seen; zero where the authenticator has none.
    pub counter: u32,
    pub made_at: Timestamp,
    /// When it signed in for the last time.
    pub used_at: Option<Timestamp>,
}

impl Passkey {
    /// The most passkeys that one operator may have.
    pub const MOST: usize = 10;

    /// Notes a use; `false`, and nothing is noted, if the counter did not grow, which is the sign of
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

/// The answer to adding a passkey.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PasskeyAdded {
    Added,
    /// It is on record already, with this operator or another.
    Known,
    /// The operator has as many as one may have.
    TooMany,
    /// The challenge was used before; nothing changed.
    Replayed,
    NoOperator,
}

/// The answer to signing in with a passkey.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PasskeyUsed {
    LetIn,
    /// Its counter did not grow; nothing changed.
    Regressed,
    /// The challenge was used before; nothing changed.
    Replayed,
    Gone,
}

/// Keeps the passkeys of operators. A reset or removal of the operator removes theirs, too.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait PasskeyStore: Send + Sync {
    /// Records a passkey, and uses the challenge up. However many calls run at once, from any process,
    /// an operator MUST NOT get more than [`Passkey::MOST`], a credential id more than one owner, or a
    /// challenge more than one use.
    async fn add_passkey(
        &self,
        passkey: Passkey,
        challenge: Challenge,
    ) -> Result<PasskeyAdded, StoreError>;

    async fn all_passkeys(&self) -> Result<Vec<Passkey>, StoreError>;

    /// The passkeys of an operator, oldest first, equals by digest.
    async fn passkeys(&self, operator: OperatorId) -> Result<Vec<Passkey>, StoreError>;

    async fn passkey(&self, passkey: Digest) -> Result<Option<(Passkey, Operator)>, StoreError>;

    /// Lets its operator in, by [`Passkey::take`]: `session` begins, and the challenge is used up.
    /// Counts of failures neither block it nor are reset by it.
    ///
    /// Of any number of calls at once with one counter that is not zero, or with one challenge,
    /// exactly one MUST be let in, from any process.
    async fn use_passkey(
        &self,
        passkey: Digest,
        counter: u32,
        challenge: Challenge,
        session: OperatorSession,
        now: Timestamp,
    ) -> Result<PasskeyUsed, StoreError>;

    /// Removes a passkey of the operator and ends every session of theirs but `keep`; `false`, with
    /// nothing changed, if they have no such passkey.
    async fn remove_passkey(
        &self,
        operator: OperatorId,
        passkey: Digest,
        keep: Digest,
    ) -> Result<bool, StoreError>;
}

/// The site and the challenge that a passkey's answer must be for.
#[derive(Clone, Copy, Debug)]
pub struct PasskeySite<'a> {
    pub id: &'a str,
    /// As browsers write it: scheme, host and port.
    pub origin: &'a str,
    pub challenge: &'a [u8],
}

/// What a browser answers when a passkey was made, each part as the authenticator gave it.
#[derive(Clone, Copy, Debug)]
pub struct PasskeyMade<'a> {
    pub credential: &'a [u8],
    /// What the browser says it was asked: `clientDataJSON`.
    pub client_data: &'a [u8],
    /// What the authenticator says about itself and the key: `attestationObject`, which every browser
    /// gives.
    pub attestation: &'a [u8],
}

/// What a browser answers when a passkey signs in.
#[derive(Clone, Copy, Debug)]
pub struct PasskeySigned<'a> {
    /// What the browser says it was asked: `clientDataJSON`.
    pub client_data: &'a [u8],
    pub authenticator_data: &'a [u8],
    pub signature: &'a [u8],
}

/// An answer that is not accepted: another site, another challenge, a signature that does not
/// match, or no fingerprint or PIN asked for. Which of them is for the log, and for whoever adds a passkey
/// of their own.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an answer to this question: {0}")]
pub struct NoPasskey(pub &'static str);

/// Checks what passkeys answer (WebAuthn Level 3, sections 7.1 and 7.2). Both require that the user
/// was verified.
#[cfg_attr(feature = "mocks", mockall::automock)]
pub trait PasskeyVerifier: Send + Sync {
    /// The key of a passkey that was made, and its counter.
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

/// What a passkey is asked to sign. It is not kept: its MAC proves that it was made here, for whom, and
/// until when it is valid. A store remembers used ones, so that each works only once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Challenge(Ticket);

impl Challenge {
    /// An answer may take this long.
    pub const LIFETIME: Duration = Duration::from_secs(300);

    /// A fresh one: for the session that adds a passkey, or for somebody who signs in.
    pub fn issue(
        session: Option<Digest>,
        (vault, entropy): (&dyn Vault, &dyn Entropy),
        now: Timestamp,
    ) -> Self {
        let key = (vault, Purpose::PasskeyChallenge);
        Self(Ticket::issue(key, &[whose(session.as_ref())], now + Self::LIFETIME, entropy))
    }

    /// What [`Challenge::issue`] made for the same session, or for signing in, while it is valid.
    pub fn read(
        bytes: &[u8],
        session: Option<Digest>,
        vault: &dyn Vault,
        now: Timestamp,
    ) -> Option<Self> {
        let key = (vault, Purpose::PasskeyChallenge);
        Ticket::read(bytes, key, &[whose(session.as_ref())], now).map(Self)
    }

    /// What is signed.
    pub const fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }

    /// What a used one is remembered by.
    pub fn digest(&self) -> Digest {
        self.0.digest()
    }

    /// Until when a used one is remembered: from then on it is no longer valid anyway.
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
