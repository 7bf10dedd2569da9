use dwar_kernel::{Sealed, Timestamp, words};
use std::str::FromStr;

words! {
    /// Signature algorithm of access tokens; the word is the `alg` value (RFC 7518 section 3.1, RFC
    /// 8037).
    Algorithm {
        /// ECDSA on P-256 with SHA-256; the default.
        Es256 = "ES256",
        /// Ed25519.
        EdDsa = "EdDSA",
        /// RSA with 3072 bits, PKCS #1 v1.5, SHA-256.
        Rs256 = "RS256",
    }
}

/// Parse error: the text names no supported algorithm.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("an algorithm is ES256, EdDSA or RS256")]
pub struct UnknownAlgorithm;

impl FromStr for Algorithm {
    type Err = UnknownAlgorithm;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::from_word(text).ok_or(UnknownAlgorithm)
    }
}

/// A key that signs, will sign or has signed access tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SigningKey {
    /// RFC 7638 thumbprint of the public key.
    pub kid: String,
    /// A key is never used with another algorithm.
    pub algorithm: Algorithm,
    pub private: Sealed,
    pub created_at: Timestamp,
    pub signs_from: Timestamp,
    /// When it stops signing; `None` until a successor is known.
    pub signs_until: Option<Timestamp>,
    /// When it is no longer published: its last token has expired.
    pub published_until: Option<Timestamp>,
}

words! {
    /// The state of a signing key at an instant.
    KeyState {
        /// Published, but does not sign yet.
        Next = "next",
        /// Signs.
        Active = "active",
        /// No longer signs, but tokens that it signed may still be valid.
        Retired = "retired",
        /// No longer published.
        Gone = "gone",
    }
}

impl SigningKey {
    /// State of the key at `now`, which follows from its three instants.
    pub fn state(&self, now: Timestamp) -> KeyState {
        let reached = |instant: Option<Timestamp>| instant.is_some_and(|at| now >= at);
        if reached(self.published_until) {
            KeyState::Gone
        } else if reached(self.signs_until) {
            KeyState::Retired
        } else if now >= self.signs_from {
            KeyState::Active
        } else {
            KeyState::Next
        }
    }

    /// Whether the key signs, or will sign, tokens of this algorithm.
    pub fn serves(&self, algorithm: Algorithm, now: Timestamp) -> bool {
        let lasts = matches!(self.state(now), KeyState::Next | KeyState::Active);
        lasts && self.algorithm == algorithm
    }

    /// Makes room for a successor that signs from `signs_until` on. An end that is already set to an earlier
    /// time stays.
    pub fn retire(&mut self, signs_until: Timestamp, published_until: Timestamp) {
        let sooner = |end: Option<Timestamp>, new| Some(end.map_or(new, |end| end.min(new)));
        self.signs_until = sooner(self.signs_until, signs_until);
        self.published_until = sooner(self.published_until, published_until);
    }

    /// The key that signs at `now`: the active key that started last. If no key is active, for example
    /// because the clock was set back to before the first one, the next key: it is published, so its tokens
    /// can be verified.
    pub fn active(keys: &[Self], now: Timestamp) -> Option<&Self> {
        let in_state = |state| keys.iter().filter(move |key| key.state(now) == state);
        let start = |key: &&Self| (key.signs_from, key.created_at);
        let active = in_state(KeyState::Active).max_by_key(start);
        active.or_else(|| in_state(KeyState::Next).min_by_key(start))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_timestamp(1_800_000_000 + seconds, 0).unwrap()
    }

    fn key() -> SigningKey {
        SigningKey {
            kid: "kid".to_owned(),
            algorithm: Algorithm::Es256,
            private: Sealed(vec![]),
            created_at: at(0),
            signs_from: at(600),
            signs_until: Some(at(1_000)),
            published_until: Some(at(2_000)),
        }
    }

    #[test]
    fn the_key_that_signs_is_the_newest_active_one_or_else_the_next() {
        let of = |kid: &str, from, until: Option<i64>| SigningKey {
            kid: kid.to_owned(),
            signs_from: at(from),
            signs_until: until.map(at),
            published_until: None,
            ..key()
        };
        let keys = [of("old", 0, Some(100)), of("new", 100, None), of("last", 200, None)];
        let signs =
            |keys: &[SigningKey], now| SigningKey::active(keys, at(now)).map(|key| key.kid.clone());
        for (now, kid) in [(-1, "old"), (0, "old"), (99, "old"), (100, "new"), (200, "last")] {
            assert_eq!(signs(&keys, now).as_deref(), Some(kid), "{now}");
        }
        assert_eq!(signs(&keys[..1], 100), None, "it signs no more");
        assert_eq!(signs(&[], 0), None);
    }

    #[test]
    fn moves_through_its_states_at_the_exact_instants() {
        let key = key();
        let states = [599, 600, 999, 1_000, 1_999, 2_000].map(|second| key.state(at(second)));
        use KeyState::{Active, Gone, Next, Retired};
        assert_eq!(states, [Next, Active, Active, Retired, Retired, Gone]);
    }
}
