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
    /// How it signs.
    pub algorithm: PasskeyAlgorithm,
    /// SubjectPublicKeyInfo (RFC 5280), DER.
    pub spki: Vec<u8>,
}

/// A passkey that lets an operator in, without password and second factor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passkey {
    /// Of its credential id; nobody else has it.
    pub digest: Digest,
    /// Whose it is.
    pub operator: OperatorId,
    /// What its owner calls it.
    pub name: String,
    /// What its authenticator calls it.
    pub credential: Vec<u8>,
    /// What its signatures are checked by.
    pub key: PasskeyKey,
    /// The signature counter as it was last seen; zero where the authenticator has none.
    pub counter: u32,
    /// When it was added.
    pub made_at: Timestamp,
    /// When it signed in for the last time.
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
    /// It is on record now.
    Added,
    /// It is on record already, whoever has it.
    Known,
    /// The operator has as many as one may have.
    TooMany,
    /// The challenge was used before; nothing changed.
    Replayed,
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
    /// The challenge was used before; nothing changed.
    Replayed,
    /// It was removed meanwhile.
    Gone,
}

/// Keeps the passkeys of operators. A reset and a removal of the operator takes theirs along.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait PasskeyStore: Send + Sync {
    /// Puts a passkey on record, and uses the challenge up. Of any number at once no operator MUST get
    /// more than [`Passkey::MOST`], no credential id more than one owner, and no challenge more than
    /// one use, from any process.
    async fn add_passkey(
        &self,
        passkey: Passkey,
        challenge: Challenge,
    ) -> Result<PasskeyAdded, StoreError>;

    /// The passkeys of an operator, oldest first, equals by digest.
    async fn passkeys(&self, operator: OperatorId) -> Result<Vec<Passkey>, StoreError>;

    /// A passkey and whose it is.
    async fn passkey(&self, passkey: Digest) -> Result<Option<(Passkey, Operator)>, StoreError>;

    /// Lets its operator in, by [`Passkey::take`]: `session` begins, and the challenge is used up. No
    /// count of failures bars it, and it lifts none.
    ///
    /// Of any number at once with one counter that is not zero, or with one challenge, exactly one
    /// MUST be let in, from any process.
    async fn use_passkey(
        &self,
        passkey: Digest,
        counter: u32,
        challenge: Challenge,
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
    /// The id of the new credential.
    pub credential: &'a [u8],
    /// What the browser says it was asked: `clientDataJSON`.
    pub client_data: &'a [u8],
    /// What the authenticator says of itself and the key.
    pub authenticator_data: &'a [u8],
    /// The public key, as SubjectPublicKeyInfo (RFC 5280).
    pub spki: &'a [u8],
    /// As COSE numbers it.
    pub algorithm: i32,
}

/// What a browser answers when a passkey signs in.
#[derive(Clone, Copy, Debug)]
pub struct PasskeySigned<'a> {
    /// What the browser says it was asked: `clientDataJSON`.
    pub client_data: &'a [u8],
    /// What the authenticator says of itself.
    pub authenticator_data: &'a [u8],
    /// Over both.
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

/// What a passkey is asked to sign. It is not kept: its MAC proves that it was made here, for whom, and
/// until when it counts. That it counts once, a store sees to that remembers those that were used.
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

    /// What [`Challenge::issue`] made for the same session, or for signing in, while it counts.
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

    /// Until when a used one is remembered: from then on it counts no more anyway.
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
