//! Answers of a simulated authenticator, both valid ones and ones that an attacker would send.

use super::*;
use ciborium::Value;
use dwar_operator::PasskeyAlgorithm;
use openssl::bn::{BigNum, BigNumContext};
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

fn with_credential(flags: u8, key: &[u8]) -> Vec<u8> {
    let length = u16::try_from(CREDENTIAL.len()).unwrap().to_be_bytes();
    let head = authenticator(SITE.id, flags | 0x40, 3);
    [head.as_slice(), &[0; 16], &length, CREDENTIAL, key].concat()
}

fn cbor(value: &Value) -> Vec<u8> {
    let mut bytes = Vec::new();
    ciborium::into_writer(value, &mut bytes).unwrap();
    bytes
}

/// The object that browsers return if no attestation is requested.
fn object(data: Vec<u8>) -> Vec<u8> {
    let names = ["fmt", "attStmt", "authData"].map(Value::from);
    let values = [Value::from("none"), Value::Map(Vec::new()), Value::from(data)];
    cbor(&Value::Map(names.into_iter().zip(values).collect()))
}

fn map(entries: &[(i32, Value)]) -> Vec<u8> {
    let pair = |(name, value): &(i32, Value)| (Value::from(*name), value.clone());
    cbor(&Value::Map(entries.iter().map(pair).collect()))
}

/// The key in the encoding of its authenticator (RFC 9053, RFC 8230).
fn cose(algorithm: PasskeyAlgorithm, key: &PKey<Private>) -> Vec<(i32, Value)> {
    let head = |kind: i32| vec![(1, Value::from(kind)), (3, Value::from(algorithm.cose()))];
    let rest = match algorithm {
        PasskeyAlgorithm::Es256 => {
            let (mut x, mut y) = (BigNum::new().unwrap(), BigNum::new().unwrap());
            let (key, mut context) = (key.ec_key().unwrap(), BigNumContext::new().unwrap());
            let point = key.public_key();
            point.affine_coordinates(key.group(), &mut x, &mut y, &mut context).unwrap();
            let of = |number: BigNum| Value::from(number.to_vec_padded(32).unwrap());
            (2, vec![(-1, Value::from(1)), (-2, of(x)), (-3, of(y))])
        }
        PasskeyAlgorithm::EdDsa => {
            (1, vec![(-1, Value::from(6)), (-2, Value::from(key.raw_public_key().unwrap()))])
        }
        PasskeyAlgorithm::Rs256 => {
            let key = key.rsa().unwrap();
            (3, vec![(-1, Value::from(key.n().to_vec())), (-2, Value::from(key.e().to_vec()))])
        }
    };
    [head(rest.0), rest.1].concat()
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
fn a_passkey_is_made_with_the_key_that_its_authenticator_says() {
    let client = client("webauthn.create", SITE.challenge, SITE.origin, "");
    let made = |client: &[u8], attestation: &[u8]| {
        let answer = PasskeyMade { credential: CREDENTIAL, client_data: client, attestation };
        Passkeys.made(SITE, answer)
    };
    let of = |flags, entries: &[(i32, Value)]| object(with_credential(flags, &map(entries)));
    for (algorithm, key) in &keys() {
        let (spki, entries) = (key.public_key_to_der().unwrap(), cose(*algorithm, key));
        let right = of(PRESENT_AND_VERIFIED, &entries);
        let wanted = Ok((PasskeyKey { algorithm: *algorithm, spki }, 3));
        assert_eq!(made(&client, &right), wanted);
        // Extensions follow the key.
        let more = [map(&entries), cbor(&Value::Map(vec![(Value::from("x"), Value::from(true))]))];
        let more = object(with_credential(PRESENT_AND_VERIFIED | 0x80, &more.concat()));
        assert_eq!(made(&client, &more), wanted);

        let with = |name: i32, value: Value| {
            let others = entries.iter().filter(|(known, _)| *known != name).cloned();
            of(PRESENT_AND_VERIFIED, &others.chain([(name, value)]).collect::<Vec<_>>())
        };
        let twice = [entries.as_slice(), &entries[1..2]].concat();
        let mut wrong = vec![
            ("another type", with(1, Value::from(4))),
            ("an algorithm of its own", with(3, Value::from(-37))),
            ("no algorithm", with(3, Value::Null)),
            ("no bytes", with(-2, Value::from("text"))),
            ("a name twice", of(PRESENT_AND_VERIFIED, &twice)),
            ("nobody verified", of(0x01, &entries)),
            ("no credential", object(authenticator(SITE.id, PRESENT_AND_VERIFIED, 3))),
            ("no key", object(with_credential(PRESENT_AND_VERIFIED, &[]))),
            ("no object", b"{}".to_vec()),
            ("nothing", Vec::new()),
            ("cut off", right[..right.len() - 1].to_vec()),
            ("too long", object(vec![0; 20_000])),
        ];
        let others = PasskeyAlgorithm::ALL.into_iter().filter(|other| other != algorithm);
        wrong.extend(others.map(|other| ("another algorithm", with(3, Value::from(other.cose())))));
        if *algorithm != PasskeyAlgorithm::Rs256 {
            wrong.push(("another curve", with(-1, Value::from(2))));
            wrong.push(("a key that is too short", with(-2, Value::from(vec![7; 31]))));
        }
        if *algorithm == PasskeyAlgorithm::Es256 {
            wrong.push(("no point of the curve", with(-3, Value::from(vec![1; 32]))));
        }
        for (attack, attestation) in wrong {
            let said = made(&client, &attestation);
            assert!(said.is_err(), "{attack} with {algorithm:?}: {said:?}");
        }
        assert!(made(&right_client(), &right).is_err(), "a sign-in");
        let answer = PasskeyMade { credential: b"mine", client_data: &client, attestation: &right };
        assert!(Passkeys.made(SITE, answer).is_err(), "the id of another");
    }
    let short = PKey::from_rsa(Rsa::generate(1_024).unwrap()).unwrap();
    let short = cose(PasskeyAlgorithm::Rs256, &short);
    assert!(made(&client, &of(PRESENT_AND_VERIFIED, &short)).is_err(), "RSA that is too short");
}
