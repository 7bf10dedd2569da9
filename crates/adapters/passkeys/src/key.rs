use crate::cbor::Map;
use dwar_operator::{NoPasskey, PasskeyAlgorithm, PasskeyKey};
use openssl::bn::BigNum;
use openssl::ec::{EcGroup, EcKey};
use openssl::hash::MessageDigest;
use openssl::nid::Nid;
use openssl::pkey::{Id, PKey, Public};
use openssl::rsa::Rsa;
use openssl::sign::Verifier;

/// Labels in a COSE key (RFC 9052, section 7.1; RFC 9053, section 7; RFC 8230, section 4).
const TYPE: i32 = 1;
const ALGORITHM: i32 = 3;
const CURVE: i32 = -1;
const X: i32 = -2;
const Y: i32 = -3;
const MODULUS: i32 = -1;
const EXPONENT: i32 = -2;
/// The key type and curve of each algorithm.
const ED25519: (i32, i32) = (1, 6);
const P256: (i32, i32) = (2, 1);
const RSA: i32 = 3;
const LENGTH: usize = 32;

/// Reads the key of an authenticator, if its algorithm is supported.
pub(crate) fn read(cose: &[u8]) -> Result<PasskeyKey, NoPasskey> {
    let unreadable = || NoPasskey("its key cannot be read");
    let map = Map::read(cose).ok_or_else(unreadable)?;
    let said = map.number(ALGORITHM).ok_or_else(unreadable)?;
    let known = PasskeyAlgorithm::ALL.into_iter().find(|known| known.cose() == said);
    let algorithm = known.ok_or(NoPasskey("its algorithm is not supported"))?;
    let key = public(algorithm, &map).ok_or_else(unreadable)?;
    if !is_of(algorithm, &key) {
        return Err(NoPasskey("its key is of another algorithm"));
    }
    let spki = key.public_key_to_der().map_err(|_| unreadable())?;
    Ok(PasskeyKey { algorithm, spki })
}

/// The key of a map; `None` if it is invalid, or its point is not on the curve.
fn public(algorithm: PasskeyAlgorithm, map: &Map) -> Option<PKey<Public>> {
    let kind = map.number(TYPE)?;
    let coordinate = |name| map.bytes(name).filter(|bytes| bytes.len() == LENGTH);
    match algorithm {
        PasskeyAlgorithm::Es256 => {
            let group = EcGroup::from_curve_name(Nid::X9_62_PRIME256V1).ok()?;
            let x = BigNum::from_slice(coordinate(X)?).ok()?;
            let y = BigNum::from_slice(coordinate(Y)?).ok()?;
            let key = EcKey::from_public_key_affine_coordinates(&group, &x, &y).ok()?;
            let right = (kind, map.number(CURVE)?) == P256 && key.check_key().is_ok();
            PKey::from_ec_key(key).ok().filter(|_| right)
        }
        PasskeyAlgorithm::EdDsa => {
            let right = (kind, map.number(CURVE)?) == ED25519;
            let key = PKey::public_key_from_raw_bytes(coordinate(X)?, Id::ED25519).ok()?;
            Some(key).filter(|_| right)
        }
        PasskeyAlgorithm::Rs256 => {
            let part = |name| BigNum::from_slice(map.bytes(name)?).ok();
            let key = Rsa::from_public_components(part(MODULUS)?, part(EXPONENT)?).ok()?;
            PKey::from_rsa(key).ok().filter(|_| kind == RSA)
        }
    }
}

fn is_of(algorithm: PasskeyAlgorithm, key: &PKey<Public>) -> bool {
    match algorithm {
        PasskeyAlgorithm::Es256 => {
            let curve = key.ec_key().ok().and_then(|key| key.group().curve_name());
            curve == Some(Nid::X9_62_PRIME256V1)
        }
        PasskeyAlgorithm::EdDsa => key.id() == Id::ED25519,
        PasskeyAlgorithm::Rs256 => key.id() == Id::RSA && (2_048..=4_096).contains(&key.bits()),
    }
}

/// Tells whether this key made the signature.
pub(crate) fn verifies(key: &PasskeyKey, signed: &[u8], signature: &[u8]) -> bool {
    let Ok(public) = PKey::public_key_from_der(&key.spki) else { return false };
    let verifier = match key.algorithm {
        PasskeyAlgorithm::EdDsa => Verifier::new_without_digest(&public),
        PasskeyAlgorithm::Es256 | PasskeyAlgorithm::Rs256 => {
            Verifier::new(MessageDigest::sha256(), &public)
        }
    };
    // For the library, a malformed signature is an error.
    verifier.and_then(|mut it| it.verify_oneshot(signature, signed)).unwrap_or(false)
}
