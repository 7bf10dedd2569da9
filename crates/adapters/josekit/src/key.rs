use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use dwar_kernel::{Purpose, Sealed, StoreError, TokenType, Vault};
use dwar_session::{Algorithm, SigningKey};
use josekit::JoseError;
use josekit::jwk::alg::ed::EdCurve;
use josekit::jwk::{Jwk, KeyPair};
use josekit::jws::{ES256, EdDSA, JwsSigner, JwsVerifier, RS256};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::sync::Arc;
use zeroize::{Zeroize, Zeroizing};

/// RS256 with 2048 bits would be weaker than the 128-bit strength of the other two.
const RSA_BITS: u32 = 3_072;

/// A signing key, parsed once and then only read.
#[derive(Debug)]
pub(crate) struct Key {
    pub(crate) kid: Arc<str>,
    /// The header of its tokens, one for each type.
    headers: [(TokenType, String); TokenType::ALL.len()],
    pub(crate) public: String,
    /// Signs only access tokens: with `typ: JWT` nothing else shows the purpose of a signature.
    pub(crate) signer: Box<dyn JwsSigner>,
    pub(crate) verifier: Box<dyn JwsVerifier>,
}

/// The private JWK inside a stored key does not match its row.
#[derive(Debug, thiserror::Error)]
enum BadKey {
    #[error(transparent)]
    Jose(#[from] JoseError),
    #[error("the key is not of type {0}")]
    Type(&'static str),
    #[error("the key lacks the text member {0}")]
    Member(&'static str),
    #[error("the key's thumbprint is not its kid")]
    Thumbprint,
}

/// Makes a new private key; returns its kid, and the key sealed for the row of that kid.
pub(crate) fn generate(
    algorithm: Algorithm,
    vault: &dyn Vault,
) -> Result<(String, Sealed), StoreError> {
    let failed = |cause: BadKey| StoreError::Failed(Box::new(cause));
    let private = draw(algorithm).map_err(failed)?;
    let kid = thumbprint(algorithm, &private).map_err(failed)?;
    let text = Zeroizing::new(private.to_string());
    wipe(private);
    let sealed = vault.seal(Purpose::SigningKey, kid.as_bytes(), text.as_bytes());
    Ok((kid, sealed))
}

fn draw(algorithm: Algorithm) -> Result<Jwk, BadKey> {
    Ok(match algorithm {
        Algorithm::Es256 => ES256.generate_key_pair()?.to_jwk_key_pair(),
        Algorithm::EdDsa => EdDSA.generate_key_pair(EdCurve::Ed25519)?.to_jwk_key_pair(),
        Algorithm::Rs256 => RS256.generate_key_pair(RSA_BITS)?.to_jwk_key_pair(),
    })
}

/// Wipes a private key after use. The signer keeps its own copy in OpenSSL's memory, which OpenSSL
/// wipes when it frees it.
fn wipe(private: Jwk) {
    let members: Map<String, Value> = private.into();
    for (_, member) in members {
        if let Value::String(mut text) = member {
            text.zeroize();
        }
    }
}

impl Key {
    /// Opens and parses a stored key.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be opened or is not the key that its row describes.
    pub(crate) fn open(record: &SigningKey, vault: &dyn Vault) -> Result<Self, StoreError> {
        let kid = record.kid.as_str();
        let private = vault.open(Purpose::SigningKey, kid.as_bytes(), &record.private);
        let private = private.inspect_err(|_| {
            tracing::error!(
                kid,
                "a signing key cannot be decrypted; is its master key configured?"
            );
        })?;
        let private = Zeroizing::new(private);
        Self::parse(kid, record.algorithm, &private).map_err(|cause| {
            tracing::error!(kid, %cause, "a signing key cannot be used");
            StoreError::Inconsistent {
                table: "signing_keys",
                column: "private_sealed",
                row: kid.to_owned(),
            }
        })
    }

    /// The header of its tokens of this type.
    pub(crate) fn header(&self, token_type: TokenType) -> &str {
        let header = self.headers.iter().find(|(it, _)| *it == token_type);
        header.map_or("", |(_, header)| header)
    }

    /// The type of its tokens with this `header`; `None` if there is none.
    pub(crate) fn token_type(&self, header: &str) -> Option<TokenType> {
        self.headers.iter().find(|(_, text)| text == header).map(|(token_type, _)| *token_type)
    }

    fn parse(kid: &str, algorithm: Algorithm, private: &[u8]) -> Result<Self, BadKey> {
        let private = Jwk::from_bytes(private)?;
        let key = Self::from_jwk(kid, algorithm, &private);
        wipe(private);
        key
    }

    fn from_jwk(kid: &str, algorithm: Algorithm, private: &Jwk) -> Result<Self, BadKey> {
        if thumbprint(algorithm, private)? != kid {
            return Err(BadKey::Thumbprint);
        }
        let mut public = required(algorithm, private)?;
        public.extend([("kid", kid), ("alg", algorithm.as_str()), ("use", "sig")]);
        let public = json!(public).to_string();
        let published = Jwk::from_bytes(&public)?;
        Ok(Self {
            kid: kid.into(),
            headers: TokenType::ALL.map(|it| {
                let header = json!({ "alg": algorithm.as_str(), "typ": it.as_str(), "kid": kid });
                (it, URL_SAFE_NO_PAD.encode(header.to_string()))
            }),
            public,
            signer: match algorithm {
                Algorithm::Es256 => Box::new(ES256.signer_from_jwk(private)?),
                Algorithm::EdDsa => Box::new(EdDSA.signer_from_jwk(private)?),
                Algorithm::Rs256 => Box::new(RS256.signer_from_jwk(private)?),
            },
            verifier: match algorithm {
                Algorithm::Es256 => Box::new(ES256.verifier_from_jwk(&published)?),
                Algorithm::EdDsa => Box::new(EdDSA.verifier_from_jwk(&published)?),
                Algorithm::Rs256 => Box::new(RS256.verifier_from_jwk(&published)?),
            },
        })
    }
}

/// RFC 7638: SHA-256 over only the required members, in the order of their names.
fn thumbprint(algorithm: Algorithm, jwk: &Jwk) -> Result<String, BadKey> {
    let canonical = json!(required(algorithm, jwk)?).to_string();
    Ok(URL_SAFE_NO_PAD.encode(Sha256::digest(canonical)))
}

/// The members of the public key, sorted by name; none of them is private.
fn required(algorithm: Algorithm, jwk: &Jwk) -> Result<BTreeMap<&'static str, &str>, BadKey> {
    let (kind, curve, members): (_, _, &[&'static str]) = match algorithm {
        Algorithm::Es256 => ("EC", Some("P-256"), &["crv", "kty", "x", "y"]),
        Algorithm::EdDsa => ("OKP", Some("Ed25519"), &["crv", "kty", "x"]),
        Algorithm::Rs256 => ("RSA", None, &["e", "kty", "n"]),
    };
    if jwk.key_type() != kind || jwk.curve() != curve {
        return Err(BadKey::Type(kind));
    }
    let text = |name: &'static str| {
        let value = jwk.parameter(name).and_then(|value| value.as_str());
        value.map(|value| (name, value)).ok_or(BadKey::Member(name))
    };
    members.iter().copied().map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of RFC 7638 section 3.1.
    #[test]
    fn the_thumbprint_is_the_published_one() {
        let jwk = json!({
            "kty": "RSA",
            "n": "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L\
                  6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4Qy\
                  Q5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbI\
                  SD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-\
                  kEgU8awapJzKnqDKgw",
            "e": "AQAB",
            "alg": "RS256",
            "kid": "2011-04-29",
        });
        let jwk = Jwk::from_bytes(jwk.to_string()).unwrap();
        assert_eq!(
            thumbprint(Algorithm::Rs256, &jwk).unwrap(),
            "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs"
        );
    }

    /// RFC 7518 section 6.2.1.2: coordinates keep their leading zeros.
    #[test]
    fn coordinates_are_always_32_bytes() {
        for _ in 0..600 {
            let jwk = draw(Algorithm::Es256).unwrap();
            let members = required(Algorithm::Es256, &jwk).unwrap();
            assert_eq!((members["x"].len(), members["y"].len()), (43, 43));
        }
    }

    #[test]
    fn a_key_under_another_algorithm_or_kid_is_refused() {
        let jwk = draw(Algorithm::Es256).unwrap();
        let kid = thumbprint(Algorithm::Es256, &jwk).unwrap();
        let private = jwk.to_string();
        assert!(Key::parse(&kid, Algorithm::Es256, private.as_bytes()).is_ok());
        for algorithm in [Algorithm::EdDsa, Algorithm::Rs256] {
            let refused = Key::parse(&kid, algorithm, private.as_bytes());
            assert!(matches!(refused, Err(BadKey::Type(_))), "{refused:?}");
        }
        let refused = Key::parse("another kid", Algorithm::Es256, private.as_bytes());
        assert!(matches!(refused, Err(BadKey::Thumbprint)), "{refused:?}");
    }
}
