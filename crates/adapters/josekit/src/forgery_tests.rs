//! Tokens that [`JosekitSigner`] must refuse. Most are signed with the real key, so that each check
//! is tested on its own.

use crate::JosekitSigner;
use crate::tests::{
    ALGORITHMS, Forge, OWN_ISSUER, at, claims, join, key, part, payload, signed_part, signer_with,
    verify,
};
use dwar_session::{AccessToken, Algorithm, InvalidToken, TokenSigner};
use josekit::jws::HS256;
use josekit::jws::JwsSigner;
use openssl::pkey::PKey;
use proptest::prelude::*;
use serde_json::{Value, json};

struct Scene {
    forge: Forge,
    signer: JosekitSigner,
    public: Value,
}

impl Scene {
    async fn new(algorithm: Algorithm) -> Self {
        let key = key(algorithm);
        let signer = signer_with(&key);
        let set = signer.public_keys(at(0)).await.unwrap().json;
        let public = serde_json::from_str::<Value>(&set).unwrap()["keys"][0].clone();
        Self { forge: Forge::new(&key), signer, public }
    }

    async fn accepts(&self, token: &AccessToken) -> bool {
        verify(&self.signer, token, at(1)).await.is_ok()
    }

    async fn refuses(&self, token: &AccessToken, why: &str) {
        let verdict = verify(&self.signer, token, at(1)).await;
        assert_eq!(verdict, Err(InvalidToken), "{:?} {why}", self.forge.algorithm);
    }
}

/// `value` with `name` set, or removed.
fn with(mut value: Value, name: &str, to: Option<Value>) -> Value {
    let members = value.as_object_mut().unwrap();
    match to {
        Some(to) => members.insert(name.to_owned(), to),
        None => members.shift_remove(name),
    };
    value
}

#[tokio::test]
async fn the_forge_itself_makes_good_tokens() {
    for algorithm in ALGORITHMS {
        let scene = Scene::new(algorithm).await;
        assert!(scene.accepts(&scene.forge.with_payload(&payload())).await);
        let extended = with(payload(), "unknown", Some(json!("claim")));
        assert!(scene.accepts(&scene.forge.with_payload(&extended)).await);
    }
}

#[tokio::test]
async fn another_header_over_a_good_signature_is_refused() {
    for algorithm in ALGORITHMS {
        let scene = Scene::new(algorithm).await;
        for (name, value) in [
            ("alg", Some(json!("none"))),
            ("alg", Some(json!("HS256"))),
            ("alg", Some(json!("ES384"))),
            ("alg", Some(json!("PS256"))),
            ("alg", Some(json!(algorithm.as_str().to_lowercase()))),
            ("alg", None),
            ("kid", Some(json!("unknown"))),
            ("kid", Some(json!(["list"]))),
            ("kid", None),
            ("crit", Some(json!(["exp"]))),
            ("crit", Some(json!([]))),
            ("b64", Some(json!(false))),
            ("zip", Some(json!("DEF"))),
            ("cty", Some(json!("JWT"))),
            ("jwk", Some(scene.public.clone())),
            ("jku", Some(json!("https://evil.example/jwks.json"))),
            ("x5u", Some(json!("https://evil.example/cert.pem"))),
            ("x5c", Some(json!(["MIIB"]))),
        ] {
            let header = with(scene.forge.header(), name, value);
            scene.refuses(&scene.forge.with_header(&header), &header.to_string()).await;
        }
        for other in ALGORITHMS.iter().filter(|other| **other != algorithm) {
            let header = with(scene.forge.header(), "alg", Some(json!(other.as_str())));
            scene.refuses(&scene.forge.with_header(&header), other.as_str()).await;
        }
        let twice = scene.forge.header().to_string().replace('{', r#"{"alg":"none","#);
        let token = scene.forge.sign(&twice, payload().to_string().as_bytes());
        scene.refuses(&token, "alg twice").await;
    }
}

/// Our own headers are always written the same way. So the rule of RFC 7515 section 4.1.9, by which
/// media types are compared without case and may have a prefix, leads to no other accepted value.
/// The types of other JWTs are tested too.
#[tokio::test]
async fn a_type_that_this_token_is_not_issued_with_is_refused() {
    const OTHERS: [&str; 19] = [
        "",
        " at+jwt",
        "AT+JWT",
        "at+JWT",
        "application/at+jwt",
        "application/at+JWT",
        "jwt",
        "Jwt",
        "JWT ",
        "application/jwt",
        "JOSE",
        "JOSE+JSON",
        "id+jwt",
        "logout+jwt",
        "secevent+jwt",
        "dpop+jwt",
        "rt+jwt",
        "none",
        "token-introspection+jwt",
    ];
    let test = payload();
    let live = with(payload(), "mode", Some(json!("live")));
    let own = with(live.clone(), "iss", Some(json!(OWN_ISSUER)));
    let own_of_test = with(test.clone(), "iss", Some(json!(OWN_ISSUER)));
    for algorithm in ALGORITHMS {
        let scene = Scene::new(algorithm).await;
        let token = |typ: Option<Value>, payload: &Value| {
            let header = with(scene.forge.header(), "typ", typ).to_string();
            scene.forge.sign(&header, payload.to_string().as_bytes())
        };
        let others = OTHERS.iter().map(|typ| json!(typ));
        let others = others.chain([json!(null), json!(1), json!(["at+jwt"])]).map(Some);
        for typ in others.chain([None]) {
            for payload in [&test, &live, &own] {
                scene.refuses(&token(typ.clone(), payload), &format!("{typ:?}")).await;
            }
        }
        // Only a project with an issuer of its own can choose JWT.
        let (at_jwt, jwt) = (Some(json!("at+jwt")), Some(json!("JWT")));
        for (payload, plain) in [(&test, false), (&live, false), (&own, true)] {
            assert!(scene.accepts(&token(at_jwt.clone(), payload)).await, "{payload}");
            assert_eq!(scene.accepts(&token(jwt.clone(), payload)).await, plain, "{payload}");
        }
        for typ in [at_jwt, jwt] {
            scene.refuses(&token(typ, &own_of_test), "a test token of a project's issuer").await;
        }
    }
}

#[tokio::test]
async fn no_signature_and_the_public_key_as_a_secret_are_refused() {
    for algorithm in ALGORITHMS {
        let scene = Scene::new(algorithm).await;
        let body = payload().to_string();
        for alg in ["none", "None", "NONE", "nOnE", algorithm.as_str()] {
            let header = with(scene.forge.header(), "alg", Some(json!(alg))).to_string();
            let signed = signed_part(&header, body.as_bytes());
            scene.refuses(&join(&signed, b""), alg).await;
            scene.refuses(&AccessToken::new(signed), alg).await;
        }

        let header = with(scene.forge.header(), "alg", Some(json!("HS256"))).to_string();
        let signed = signed_part(&header, body.as_bytes());
        for secret in public_forms(&scene) {
            let mac = HS256.signer_from_bytes(&secret).unwrap().sign(signed.as_bytes()).unwrap();
            scene.refuses(&join(&signed, &mac), "HMAC under the public key").await;
            let honest = signed_part(&scene.forge.header().to_string(), body.as_bytes());
            let mac = HS256.signer_from_bytes(&secret).unwrap().sign(honest.as_bytes()).unwrap();
            scene.refuses(&join(&honest, &mac), "HMAC under the public key, honest alg").await;
        }
    }
}

/// The public key in each form that could be mistaken for an HMAC secret.
fn public_forms(scene: &Scene) -> Vec<Vec<u8>> {
    let pem = match scene.forge.algorithm {
        Algorithm::Es256 => josekit::jwk::alg::ec::EcKeyPair::from_jwk(&scene.forge.jwk)
            .map(|pair| josekit::jwk::KeyPair::to_pem_public_key(&pair)),
        Algorithm::EdDsa => josekit::jwk::alg::ed::EdKeyPair::from_jwk(&scene.forge.jwk)
            .map(|pair| josekit::jwk::KeyPair::to_pem_public_key(&pair)),
        Algorithm::Rs256 => josekit::jwk::alg::rsa::RsaKeyPair::from_jwk(&scene.forge.jwk)
            .map(|pair| josekit::jwk::KeyPair::to_pem_public_key(&pair)),
    };
    let pem = pem.unwrap();
    let der = PKey::public_key_from_pem(&pem).unwrap().public_key_to_der().unwrap();
    vec![pem, der, scene.public.to_string().into_bytes(), scene.forge.kid.clone().into_bytes()]
}

#[tokio::test]
async fn a_key_of_somebody_else_is_refused_even_under_our_kid() {
    for algorithm in ALGORITHMS {
        let scene = Scene::new(algorithm).await;
        let mut stranger = Forge::new(&key(algorithm));
        scene.refuses(&stranger.with_payload(&payload()), "unknown kid").await;
        stranger.kid.clone_from(&scene.forge.kid);
        scene.refuses(&stranger.with_payload(&payload()), "our kid").await;
    }
}

#[tokio::test]
async fn a_missing_mistyped_or_wrong_claim_is_refused() {
    let scene = Scene::new(Algorithm::Es256).await;
    let names = payload().as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    for name in &names {
        for value in [
            None,
            Some(Value::Null),
            Some(json!("")),
            Some(json!(true)),
            Some(json!({})),
            Some(json!([payload()[name]])),
            Some(json!(payload()[name].to_string())),
            Some(json!(1_800_000_500.5)),
        ] {
            let forged = with(payload(), name, value);
            scene.refuses(&scene.forge.with_payload(&forged), &forged.to_string()).await;
        }
    }
    for (name, value) in [
        ("iss", json!("https://auth.example/")),
        ("iss", json!("https://AUTH.example")),
        ("aud", json!("0190a5d4-7c1e-7000-8000-000000000009")),
        ("client_id", json!("0190a5d4-7c1e-7000-8000-000000000009")),
        ("sub", json!("{0190a5d4-7c1e-7000-8000-000000000003}")),
        ("mode", json!("Live")),
        ("iat", json!(1_800_000_900)),
        ("exp", json!(1_800_000_001)),
        ("exp", json!(0)),
        ("exp", json!(-1)),
        ("exp", json!(i64::MAX)),
        ("exp", json!(u64::MAX)),
        ("nbf", json!(1_800_000_002)),
        ("nbf", json!("1800000000")),
    ] {
        let forged = with(payload(), name, Some(value));
        scene.refuses(&scene.forge.with_payload(&forged), &forged.to_string()).await;
    }
    let begun = with(payload(), "nbf", Some(json!(1_800_000_001)));
    assert!(scene.accepts(&scene.forge.with_payload(&begun)).await);
    let twice = payload().to_string().replace('{', r#"{"mode":"live","#);
    let header = scene.forge.header().to_string();
    scene.refuses(&scene.forge.sign(&header, twice.as_bytes()), "mode twice").await;
    for payload in [&b""[..], b"null", b"[]", b"{", b"\xff\xfe"] {
        scene.refuses(&scene.forge.sign(&header, payload), "not an object").await;
    }
}

#[tokio::test]
async fn a_changed_shape_is_refused() {
    for algorithm in ALGORITHMS {
        let scene = Scene::new(algorithm).await;
        let token = scene.signer.sign(&claims(), None).await.unwrap();
        let good = token.expose();
        assert!(scene.accepts(&token).await);
        for text in [
            String::new(),
            ".".to_owned(),
            "..".to_owned(),
            "...".to_owned(),
            format!("{good}."),
            format!(".{good}"),
            format!("{good}.{good}"),
            format!("{good}="),
            format!("{good} "),
            format!(" {good}"),
            format!("{good}\n"),
            format!("{good}\0"),
            format!("{good}é"),
            good.replacen('.', "..", 1),
            good.replace('.', ""),
            good.replacen('.', ".=", 1),
            good.to_lowercase(),
            "a".repeat(64 * 1_024),
            format!("{good}{}", "A".repeat(4_096)),
        ] {
            scene.refuses(&AccessToken::new(&*text), &text).await;
        }
        for end in 0..good.len() {
            scene.refuses(&AccessToken::new(&good[..end]), "cut short").await;
        }
        let signed = good.rsplit_once('.').unwrap().0;
        for signature in [vec![0; 64], vec![0xff; 64], vec![0; 384], vec![0; 63], vec![1; 65]] {
            scene.refuses(&join(signed, &signature), "made-up signature").await;
        }
    }
}

#[tokio::test]
async fn a_signature_in_der_form_is_refused() {
    let scene = Scene::new(Algorithm::Es256).await;
    let token = scene.signer.sign(&claims(), None).await.unwrap();
    let raw = part(&token, 2);
    let number = |bytes| openssl::bn::BigNum::from_slice(bytes).unwrap();
    let signature =
        openssl::ecdsa::EcdsaSig::from_private_components(number(&raw[..32]), number(&raw[32..]));
    let signed = token.expose().rsplit_once('.').unwrap().0;
    let der = join(signed, &signature.unwrap().to_der().unwrap());
    scene.refuses(&der, "DER").await;
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_token_with_any_characters_changed_is_refused(
        changes in proptest::collection::vec((any::<proptest::sample::Index>(), "[A-Za-z0-9._-]"), 1..4),
    ) {
        runtime().block_on(async {
            let scene = Scene::new(Algorithm::EdDsa).await;
            let token = scene.signer.sign(&claims(), None).await.unwrap();
            let mut text = token.expose().to_owned();
            for (at, to) in changes {
                let at = at.index(text.len());
                text.replace_range(at..=at, &to);
            }
            let accepted = scene.accepts(&AccessToken::new(&*text)).await;
            assert_eq!(accepted, text == token.expose());
        });
    }

    #[test]
    fn noise_is_refused(text in "\\PC{0,200}", dotted in "[A-Za-z0-9_.-]{0,400}") {
        runtime().block_on(async {
            let scene = Scene::new(Algorithm::Es256).await;
            scene.refuses(&AccessToken::new(text), "noise").await;
            scene.refuses(&AccessToken::new(dotted), "noise").await;
        });
    }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap()
}
