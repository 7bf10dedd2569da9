//! Answers made by an authenticator of our own, right ones and such as an attacker would send.

use super::*;
use dwar_operator::PasskeyAlgorithm;
use openssl::ec::{EcGroup, EcKey};
use openssl::hash::MessageDigest;
use openssl::nid::Nid;
use openssl::pkey::{PKey, Private};
use openssl::rsa::Rsa;
use openssl::sign::Signer;

const SITE: PasskeySite<'static> = PasskeySite {
    id: "ops.example.com",
    origin: "https://ops.example.com:8443",
    challenge: &[7; 32],
};
const CREDENTIAL: &[u8] = b"credential of a laptop";
const PRESENT_AND_VERIFIED: u8 = 0x05;

fn p256() -> PKey<Private> {
    let group = EcGroup::from_curve_name(Nid::X9_62_PRIME256V1).unwrap();
    PKey::from_ec_key(EcKey::generate(&group).unwrap()).unwrap()
}

fn keys() -> [(PasskeyAlgorithm, PKey<Private>); 3] {
    [
        (PasskeyAlgorithm::Es256, p256()),
        (PasskeyAlgorithm::EdDsa, PKey::generate_ed25519().unwrap()),
        (PasskeyAlgorithm::Rs256, PKey::from_rsa(Rsa::generate(2_048).unwrap()).unwrap()),
    ]
}

fn client(kind: &str, challenge: &[u8], origin: &str, more: &str) -> Vec<u8> {
    let challenge = URL_SAFE_NO_PAD.encode(challenge);
    let text = format!(
        r#"{{"type":"{kind}","challenge":"{challenge}","origin":"{origin}","new":1{more}}}"#
    );
    text.into_bytes()
}

fn authenticator(id: &str, flags: u8, counter: u32) -> Vec<u8> {
    [Sha256::digest(id).as_slice(), &[flags], &counter.to_be_bytes()].concat()
}

fn with_credential(flags: u8) -> Vec<u8> {
    let length = u16::try_from(CREDENTIAL.len()).unwrap().to_be_bytes();
    let head = authenticator(SITE.id, flags | 0x40, 3);
    [head.as_slice(), &[0; 16], &length, CREDENTIAL, b"cose key"].concat()
}

fn sign(key: &PKey<Private>, algorithm: PasskeyAlgorithm, data: &[u8], client: &[u8]) -> Vec<u8> {
    let signed = [data, &Sha256::digest(client)].concat();
    let mut signer = match algorithm {
        PasskeyAlgorithm::EdDsa => Signer::new_without_digest(key).unwrap(),
        _ => Signer::new(MessageDigest::sha256(), key).unwrap(),
    };
    signer.sign_oneshot_to_vec(&signed).unwrap()
}

fn kept(algorithm: PasskeyAlgorithm, key: &PKey<Private>) -> PasskeyKey {
    PasskeyKey { algorithm, spki: key.public_key_to_der().unwrap() }
}

fn check(key: &PasskeyKey, data: &[u8], client: &[u8], signature: &[u8]) -> Result<u32, NoPasskey> {
    let answer = PasskeySigned { client_data: client, authenticator_data: data, signature };
    Passkeys.signed(SITE, key, answer)
}

fn right_client() -> Vec<u8> {
    client("webauthn.get", SITE.challenge, SITE.origin, "")
}

#[test]
fn every_algorithm_signs_in_and_none_with_the_key_of_another() {
    let (data, client) = (authenticator(SITE.id, PRESENT_AND_VERIFIED, 9), right_client());
    for (algorithm, key) in keys() {
        let signature = sign(&key, algorithm, &data, &client);
        assert_eq!(check(&kept(algorithm, &key), &data, &client, &signature), Ok(9));
        for (other, stranger) in keys() {
            assert!(check(&kept(other, &stranger), &data, &client, &signature).is_err());
        }
    }
}

#[test]
fn a_right_signature_of_something_else_is_refused() {
    let key = p256();
    let fine = authenticator(SITE.id, PRESENT_AND_VERIFIED, 1);
    let of = |kind, challenge: &[u8], origin, more| client(kind, challenge, origin, more);
    let get = "webauthn.get";
    let wrong = [
        ("an older question", fine.clone(), of(get, &[8; 32], SITE.origin, "")),
        ("no question", fine.clone(), of(get, &[], SITE.origin, "")),
        ("a look-alike site", fine.clone(), of(get, SITE.challenge, "https://ops.example.co", "")),
        ("another port", fine.clone(), of(get, SITE.challenge, "https://ops.example.com", "")),
        ("plain http", fine.clone(), of(get, SITE.challenge, "http://ops.example.com:8443", "")),
        ("a making", fine.clone(), of("webauthn.create", SITE.challenge, SITE.origin, "")),
        ("a frame", fine.clone(), of(get, SITE.challenge, SITE.origin, r#","crossOrigin":true"#)),
        ("a frame", fine.clone(), of(get, SITE.challenge, SITE.origin, r#","topOrigin":"x""#)),
        ("no JSON", fine.clone(), b"{".to_vec()),
        ("another domain", authenticator("example.com", 5, 1), right_client()),
        ("nobody there", authenticator(SITE.id, 0x04, 1), right_client()),
        ("nobody verified", authenticator(SITE.id, 0x01, 1), right_client()),
        ("backed up though it cannot be", authenticator(SITE.id, 0x15, 1), right_client()),
        ("cut off", fine[..36].to_vec(), right_client()),
        ("a credential cut off", authenticator(SITE.id, 0x45, 1), right_client()),
    ];
    let algorithm = PasskeyAlgorithm::Es256;
    for (attack, data, client) in wrong {
        let signature = sign(&key, algorithm, &data, &client);
        let answer = check(&kept(algorithm, &key), &data, &client, &signature);
        assert!(answer.is_err(), "{attack}");
    }
}

#[test]
fn a_signature_counts_for_what_was_signed_alone() {
    let (key, algorithm) = (p256(), PasskeyAlgorithm::Es256);
    let (data, client) = (authenticator(SITE.id, PRESENT_AND_VERIFIED, 1), right_client());
    let (kept, signature) = (kept(algorithm, &key), sign(&key, algorithm, &data, &client));
    assert_eq!(check(&kept, &data, &client, &signature), Ok(1));
    let higher = authenticator(SITE.id, PRESENT_AND_VERIFIED, 2);
    assert!(check(&kept, &higher, &client, &signature).is_err(), "a counter that was raised");
    let spaced = [client.as_slice(), b" "].concat();
    assert!(check(&kept, &data, &spaced, &signature).is_err());
    for broken in [&[][..], &[0; 64], &signature[..signature.len() - 1]] {
        assert!(check(&kept, &data, &client, broken).is_err());
    }
}

#[test]
fn a_passkey_is_made_with_the_key_that_it_says() {
    let client = client("webauthn.create", SITE.challenge, SITE.origin, "");
    let data = with_credential(PRESENT_AND_VERIFIED);
    let keys = keys();
    for (algorithm, key) in &keys {
        let spki = key.public_key_to_der().unwrap();
        let answer = PasskeyMade {
            credential: CREDENTIAL,
            client_data: &client,
            authenticator_data: &data,
            spki: &spki,
            algorithm: algorithm.cose(),
        };
        let made = Passkeys.made(SITE, answer).unwrap();
        assert_eq!(made, (PasskeyKey { algorithm: *algorithm, spki: spki.clone() }, 3));
        for wrong in PasskeyAlgorithm::ALL.into_iter().filter(|other| other != algorithm) {
            let answer = PasskeyMade { algorithm: wrong.cose(), ..answer };
            assert!(Passkeys.made(SITE, answer).is_err(), "{algorithm:?} as {wrong:?}");
        }
        let unverified = with_credential(0x01);
        let without = authenticator(SITE.id, PRESENT_AND_VERIFIED, 3);
        let signed_in = right_client();
        for (attack, answer) in [
            ("an algorithm of its own", PasskeyMade { algorithm: -37, ..answer }),
            ("the id of another", PasskeyMade { credential: b"mine", ..answer }),
            ("nobody verified", PasskeyMade { authenticator_data: &unverified, ..answer }),
            ("no credential", PasskeyMade { authenticator_data: &without, ..answer }),
            ("a sign-in", PasskeyMade { client_data: &signed_in, ..answer }),
            ("no key", PasskeyMade { spki: &[], ..answer }),
        ] {
            assert!(Passkeys.made(SITE, answer).is_err(), "{attack}");
        }
    }
    let short = PKey::from_rsa(Rsa::generate(1_024).unwrap()).unwrap();
    let spki = short.public_key_to_der().unwrap();
    assert!(key::read(PasskeyAlgorithm::Rs256.cose(), &spki).is_err(), "RSA that is too short");
}
