use dwar_operator::{NoPasskey, PasskeyAlgorithm, PasskeyKey};
use openssl::hash::MessageDigest;
use openssl::nid::Nid;
use openssl::pkey::{Id, PKey, Public};
use openssl::sign::Verifier;

/// No key of ours is longer: RSA with 4,096 bits takes 550.
const LONGEST: usize = 1_024;

/// The key that a browser gives, if it is one of its algorithm.
pub(crate) fn read(cose: i32, spki: &[u8]) -> Result<PasskeyKey, NoPasskey> {
    let known = PasskeyAlgorithm::ALL.into_iter().find(|known| known.cose() == cose);
    let algorithm = known.ok_or(NoPasskey("its algorithm is not supported"))?;
    if spki.len() > LONGEST {
        return Err(NoPasskey("its key is too long"));
    }
    let unreadable = NoPasskey("its key cannot be read");
    let key = PKey::public_key_from_der(spki).map_err(|_| unreadable)?;
    if is_of(algorithm, &key) {
        Ok(PasskeyKey { algorithm, spki: spki.to_vec() })
    } else {
        Err(NoPasskey("its key is of another algorithm"))
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

/// Whether the signature is one of this key.
pub(crate) fn verifies(key: &PasskeyKey, signed: &[u8], signature: &[u8]) -> bool {
    let Ok(public) = PKey::public_key_from_der(&key.spki) else { return false };
    let verifier = match key.algorithm {
        PasskeyAlgorithm::EdDsa => Verifier::new_without_digest(&public),
        PasskeyAlgorithm::Es256 | PasskeyAlgorithm::Rs256 => {
            Verifier::new(MessageDigest::sha256(), &public)
        }
    };
    // Something that is not a signature at all is an error of the library.
    verifier.and_then(|mut it| it.verify_oneshot(signature, signed)).unwrap_or(false)
}
