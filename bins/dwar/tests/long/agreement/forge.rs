//! Slightly wrong tokens: signed by the key of the service or by another one, or with the original
//! signature.

use crate::common::Database;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use dwar_kernel::{Purpose, Sealed, Vault};
use dwar_system::{RustCryptoVault, SystemEntropy};
use openssl::bn::{BigNum, BigNumContext};
use openssl::ec::{EcGroup, EcKey, EcPoint};
use openssl::ecdsa::EcdsaSig;
use openssl::nid::Nid;
use openssl::pkey::Private;
use openssl::sha::sha256;
use serde_json::{Value, json};
use std::sync::Arc;

pub const MASTER_KEY: &str = "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWY=";

/// Random-looking numbers that are the same for one seed (splitmix64).
pub struct Draw(pub u64);

impl Draw {
    pub fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((mixed ^ (mixed >> 31)) % end as u64).unwrap()
    }

    pub fn of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}

/// A key for ES256.
pub struct Key(EcKey<Private>);

impl Key {
    pub fn stranger() -> Self {
        Self(EcKey::generate(&group()).unwrap())
    }

    pub async fn of_service(database: &Database) -> Self {
        let kid = database.bytes(&as_bytes(database, "kid")).await;
        let sealed = Sealed(database.bytes("SELECT private_sealed FROM signing_keys").await);
        let entropy = Arc::new(SystemEntropy::default());
        let vault = RustCryptoVault::new(MASTER_KEY.parse().unwrap(), [], None, entropy);
        let opened = vault.open(Purpose::SigningKey, &kid, &sealed).unwrap();
        let jwk: Value = serde_json::from_slice(&opened).unwrap();
        let number = |name: &str| {
            let bytes = URL_SAFE_NO_PAD.decode(jwk[name].as_str().unwrap()).unwrap();
            BigNum::from_slice(&bytes).unwrap()
        };
        let (group, mut context) = (group(), BigNumContext::new().unwrap());
        let mut point = EcPoint::new(&group).unwrap();
        point.set_affine_coordinates_gfp(&group, &number("x"), &number("y"), &mut context).unwrap();
        Self(EcKey::from_private_components(&group, &number("d"), &point).unwrap())
    }

    pub fn sign(&self, header: &str, payload: &str) -> String {
        let signed = format!("{}.{}", encoded(header), encoded(payload));
        let signature = EcdsaSig::sign(&sha256(signed.as_bytes()), &self.0).unwrap();
        format!("{signed}.{}", both(signature.r(), signature.s()))
    }
}

fn as_bytes(database: &Database, column: &str) -> String {
    match database {
        Database::Sqlite(_) => format!("SELECT CAST({column} AS blob) FROM signing_keys"),
        _ => format!("SELECT convert_to({column}, 'UTF8') FROM signing_keys"),
    }
}

fn group() -> EcGroup {
    EcGroup::from_curve_name(Nid::X9_62_PRIME256V1).unwrap()
}

/// The signature of JOSE: two numbers of 32 bytes (RFC 7518 section 3.4).
fn both(r: &openssl::bn::BigNumRef, s: &openssl::bn::BigNumRef) -> String {
    URL_SAFE_NO_PAD.encode([r.to_vec_padded(32).unwrap(), s.to_vec_padded(32).unwrap()].concat())
}

fn encoded(text: &str) -> String {
    URL_SAFE_NO_PAD.encode(text)
}

fn decoded(part: &str) -> String {
    String::from_utf8(URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap()
}

/// The expected verdict of the token's own project on a changed token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Worth {
    /// The same as before.
    Same,
    Nothing,
    /// The rules decide; they have tests of their own.
    Open,
}

/// A token that was issued, with others to mix it with.
pub struct Given<'a> {
    pub token: &'a str,
    pub other: &'a str,
}

pub struct Signers {
    pub service: Key,
    pub stranger: Key,
}

impl Signers {
    /// A variation of the token, its description, and its expected verdict.
    pub fn vary(&self, given: &Given<'_>, draw: &mut Draw) -> (String, String, Worth) {
        match draw.below(10) {
            0 => (given.token.to_owned(), "as it is".to_owned(), Worth::Same),
            1 => other_signature(given, draw),
            2 => other_shape(given, draw),
            _ => self.other_content(given, draw),
        }
    }

    fn other_content(&self, given: &Given<'_>, draw: &mut Draw) -> (String, String, Worth) {
        let [header, payload, signature] = parts(given.token);
        let (header, payload) = (decoded(header), decoded(payload));
        let (what, header, payload) = match draw.below(4) {
            0 => ("nothing".to_owned(), header, payload),
            1 => {
                let (what, header) = other_header(&header, draw);
                (what, header, payload)
            }
            _ => {
                let (what, payload) = other_claims(&payload, given.other, draw);
                (what, header, payload)
            }
        };
        let changed = what != "nothing";
        let worth = |same: bool| match (changed, same) {
            (false, true) => Worth::Same,
            (true, true) => Worth::Open,
            (_, false) => Worth::Nothing,
        };
        match draw.below(3) {
            0 => (self.service.sign(&header, &payload), format!("{what}, our key"), worth(true)),
            1 => {
                (self.stranger.sign(&header, &payload), format!("{what}, other key"), worth(false))
            }
            _ => {
                let token = format!("{}.{}.{signature}", encoded(&header), encoded(&payload));
                let worth = if changed { Worth::Nothing } else { Worth::Same };
                (token, format!("{what}, old signature"), worth)
            }
        }
    }
}

fn parts(token: &str) -> [&str; 3] {
    token.split('.').collect::<Vec<_>>().try_into().unwrap()
}

fn other_header(header: &str, draw: &mut Draw) -> (String, String) {
    let mut members: Value = serde_json::from_str(header).unwrap();
    let changes = [
        ("typ", json!("JWT")),
        ("typ", json!("AT+JWT")),
        ("typ", json!("application/at+jwt")),
        ("typ", json!("id+jwt")),
        ("typ", json!("JOSE")),
        ("typ", json!(null)),
        ("alg", json!("none")),
        ("alg", json!("HS256")),
        ("alg", json!("RS256")),
        ("alg", json!("ES384")),
        ("alg", json!("es256")),
        ("kid", json!("../../dev/null")),
        ("kid", json!("")),
        ("kid", json!(null)),
        ("crit", json!(["exp"])),
        ("b64", json!(false)),
        ("jku", json!("https://attacker.example/jwks.json")),
        ("jwk", json!({ "kty": "oct", "k": "AA" })),
    ];
    let (name, value) = draw.of(&changes);
    set(&mut members, name, value);
    (format!("{name} {value}"), members.to_string())
}

fn other_claims(payload: &str, other: &str, draw: &mut Draw) -> (String, String) {
    let mut claims: Value = serde_json::from_str(payload).unwrap();
    let of_other: Value = serde_json::from_str(&decoded(parts(other)[1])).unwrap();
    let (iat, exp) = (claims["iat"].as_i64().unwrap(), claims["exp"].as_i64().unwrap());
    let project = claims["aud"].as_str().unwrap().to_owned();
    let mut changes = vec![
        ("iss", json!("")),
        ("iss", json!(format!("{}/", claims["iss"].as_str().unwrap()))),
        ("iss", json!(format!("https://otp.example.com/p/{project}"))),
        ("iss", json!("https://otp.example.com")),
        ("iss", json!("https://otp.example.com/p/")),
        ("aud", json!([project])),
        ("aud", json!(null)),
        ("aud", json!(project.to_uppercase())),
        ("client_id", json!("another")),
        ("mode", json!("live")),
        ("mode", json!("test")),
        ("mode", json!("LIVE")),
        ("iat", json!(exp)),
        ("iat", json!(exp + 1)),
        ("iat", json!(iat - 86_400)),
        ("iat", json!(iat + 60)),
        ("iat", json!(1.5)),
        ("exp", json!(iat)),
        ("exp", json!(iat - 1)),
        ("exp", json!(exp + 86_400)),
        ("exp", json!(exp.to_string())),
        ("exp", json!(i64::MAX)),
        ("exp", json!(-1)),
        ("nbf", json!(exp)),
        ("nbf", json!(iat)),
        ("nbf", json!("now")),
        ("jti", json!("")),
        ("scope", json!("admin")),
        ("sub", json!(null)),
    ];
    let swapped = ["iss", "aud", "client_id", "mode", "sid", "sub", "jti", "iat", "exp"];
    changes.extend(swapped.map(|name| (name, of_other[name].clone())));
    let (name, value) = draw.of(&changes);
    set(&mut claims, name, value);
    if draw.below(4) == 0 && *name == "aud" {
        set(&mut claims, "client_id", value);
    }
    let twice = draw.below(20) == 0;
    let mut text = claims.to_string();
    if twice {
        text = text.replacen('{', &format!("{{\"{name}\":{value},"), 1);
    }
    // The same claims again change nothing.
    if text == payload { ("nothing".to_owned(), text) } else { (format!("{name} {value}"), text) }
}

fn set(object: &mut Value, name: &str, value: &Value) {
    let members = object.as_object_mut().unwrap();
    match value {
        Value::Null => drop(members.remove(name)),
        value => drop(members.insert(name.to_owned(), value.clone())),
    }
}

fn other_signature(given: &Given<'_>, draw: &mut Draw) -> (String, String, Worth) {
    let [header, payload, signature] = parts(given.token);
    let mut bytes = URL_SAFE_NO_PAD.decode(signature).unwrap();
    let (what, worth) = match draw.below(6) {
        0 => {
            // The other of the two valid ECDSA signatures.
            let (r, s) = bytes.split_at(32);
            let (mut order, mut context) = (BigNum::new().unwrap(), BigNumContext::new().unwrap());
            group().order(&mut order, &mut context).unwrap();
            let mut mirrored = BigNum::new().unwrap();
            mirrored.checked_sub(&order, &BigNum::from_slice(s).unwrap()).unwrap();
            let both = both(&BigNum::from_slice(r).unwrap(), &mirrored);
            return (format!("{header}.{payload}.{both}"), "mirrored".to_owned(), Worth::Same);
        }
        1 => {
            bytes.truncate(draw.below(64));
            ("signature cut", Worth::Nothing)
        }
        2 => {
            bytes.push(0);
            ("signature longer", Worth::Nothing)
        }
        3 => {
            bytes.fill(0);
            ("signature of zeros", Worth::Nothing)
        }
        _ => {
            let bit = draw.below(512);
            bytes[bit / 8] ^= 1 << (bit % 8);
            ("a bit of the signature", Worth::Nothing)
        }
    };
    (format!("{header}.{payload}.{}", URL_SAFE_NO_PAD.encode(bytes)), what.to_owned(), worth)
}

fn other_shape(given: &Given<'_>, draw: &mut Draw) -> (String, String, Worth) {
    let token = given.token;
    let [header, payload, signature] = parts(token);
    let place = 1 + draw.below(token.len() - 1);
    let (start, end) = token.split_at(place);
    let shapes = [
        String::new(),
        format!("{token}="),
        format!("{token}=="),
        format!("{header}=.{payload}.{signature}"),
        format!("{start} {end}"),
        format!("{start}.{end}"),
        format!("{start}+{end}"),
        start.to_owned(),
        end.to_owned(),
        format!("{header}.{payload}"),
        format!("{header}.{payload}."),
        format!(".{payload}.{signature}"),
        format!("{token}.{signature}"),
        format!("{token}{}", "A".repeat(4_096)),
        format!("Bearer {token}"),
        format!("\"{token}\""),
        token.to_uppercase(),
        token.chars().rev().collect(),
        "null".to_owned(),
        "svc_rt_01a3185c507b7d32832dc651501b9d27".to_owned(),
        "%65%79%4a".to_owned(),
        "a&token=b".to_owned(),
    ];
    let shape = draw.of(&shapes).clone();
    let what = format!("shape {shape:.40}");
    (shape, what, Worth::Nothing)
}
