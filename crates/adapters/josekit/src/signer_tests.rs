use super::*;
use crate::tests::{
    ALGORITHMS, Keys, OWN_ISSUER, at, claims, key, live_claims, part, payload, signer, signer_with,
    verify,
};
use dwar_kernel::TokenType;
use serde_json::{Value, json};
use std::time::Duration;

fn parsed(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).unwrap()
}

#[tokio::test]
async fn a_token_says_what_rfc_9068_asks_and_verifies() {
    for algorithm in ALGORITHMS {
        let key = key(algorithm);
        let signer = signer_with(&key);
        let token = signer.sign(&claims(), None).await.unwrap();
        let header = json!({ "alg": algorithm.as_str(), "typ": "at+jwt", "kid": key.kid });
        assert_eq!(parsed(&part(&token, 0)), header);
        assert_eq!(parsed(&part(&token, 1)), payload());
        assert_eq!(verify(&signer_with(&key), &token, at(1)).await, Ok(claims()));
    }
}

/// A token of a project with an issuer of its own.
#[tokio::test]
async fn a_profile_decides_type_issuer_and_further_claims() {
    for algorithm in ALGORITHMS {
        let key = key(algorithm);
        let signer = signer_with(&key);
        let claims = live_claims();
        for token_type in TokenType::ALL {
            let own = TokenProfile { token_type, claims: "role=authenticated".parse().unwrap() };
            let token = signer.sign(&claims, Some(&own)).await.unwrap();
            let header =
                json!({ "alg": algorithm.as_str(), "typ": token_type.as_str(), "kid": key.kid });
            assert_eq!(parsed(&part(&token, 0)), header);
            let said = parsed(&part(&token, 1));
            assert_eq!(
                (&said["iss"], &said["role"]),
                (&json!(OWN_ISSUER), &json!("authenticated"))
            );
            for reader in [&signer, &signer_with(&key)] {
                assert_eq!(verify(reader, &token, at(1)).await, Ok(claims.clone()));
                assert_eq!(verify(reader, &token, at(900)).await, Err(InvalidToken));
            }
        }
    }
}

#[tokio::test]
async fn an_es256_signature_is_always_the_64_bytes_of_jose() {
    let key = key(Algorithm::Es256);
    let (signer, other) = (signer_with(&key), signer_with(&key));
    for _ in 0..1_000 {
        let token = signer.sign(&claims(), None).await.unwrap();
        assert_eq!(part(&token, 2).len(), 64);
        assert_eq!(verify(&other, &token, at(1)).await, Ok(claims()));
    }
}

#[tokio::test]
async fn a_token_ends_at_the_very_millisecond() {
    let signer = signer_with(&key(Algorithm::Es256));
    let token = signer.sign(&claims(), None).await.unwrap();
    let last = at(900) - Duration::from_millis(1);
    assert_eq!(verify(&signer, &token, last).await, Ok(claims()));
    assert_eq!(verify(&signer, &token, at(900)).await, Err(InvalidToken));
}

#[tokio::test]
async fn a_token_names_its_own_issuer_whoever_reads_it() {
    let signer = signer_with(&key(Algorithm::Es256));
    let project = claims().project_mode.project;
    let plain = signer.sign(&claims(), None).await.unwrap();
    let own = signer.sign(&live_claims(), Some(&TokenProfile::default())).await.unwrap();
    let installation = payload()["iss"].as_str().unwrap().to_owned();
    for (token, issuer) in [
        (plain, Some(installation.clone())),
        (own, Some(format!("{installation}/p/{project}"))),
        (AccessToken::new("no token"), None),
        (AccessToken::new("a.b.c"), None),
    ] {
        assert_eq!(signer.issuer(&signer.read(token)), issuer);
    }
}

/// Another instance checks a token completely; the one that made it skips only the signature.
#[tokio::test]
async fn what_a_signer_made_it_knows_as_another_reads_it() {
    for algorithm in ALGORITHMS {
        let key = key(algorithm);
        let (signer, other) = (signer_with(&key), signer_with(&key));
        let precise = Claims { issued_at: at(0) + Duration::from_millis(1), ..claims() };
        let token = signer.sign(&precise, None).await.unwrap();
        let own = signer.read(token.clone()).signature;
        assert_eq!(other.read(token.clone()).signature, Signature::Unchecked);
        assert_eq!(verify(&other, &token, at(1)).await, Ok(claims()));
        assert_eq!(own, other.read(token).signature);
    }
}

#[tokio::test]
async fn a_token_from_a_clock_ahead_of_ours_counts() {
    let key = key(Algorithm::Es256);
    let token = signer_with(&key).sign(&claims(), None).await.unwrap();
    assert_eq!(verify(&signer_with(&key), &token, at(-2)).await, Ok(claims()));
}

#[tokio::test]
async fn a_rotation_takes_effect_at_its_exact_instants() {
    let (old, mut new) = (key(Algorithm::Es256), key(Algorithm::EdDsa));
    new.signs_from = at(100);
    let store = Arc::new(Keys::default());
    store.add_first(old.clone(), at(-9_000)).await.unwrap();
    store.rotate(new.clone(), at(1_100)).await.unwrap();
    let signer = signer(store);

    let mut claims = claims();
    let mut sign_at = async |second| {
        claims.issued_at = at(second);
        claims.expires_at = at(5_000);
        let token = signer.sign(&claims, None).await.unwrap();
        let kid = parsed(&part(&token, 0))["kid"].as_str().unwrap().to_owned();
        (token, kid)
    };
    let (last_of_old, kid) = sign_at(99).await;
    assert_eq!(kid, old.kid);
    let (first_of_new, kid) = sign_at(100).await;
    assert_eq!(kid, new.kid);

    let end = at(1_100) - Duration::from_millis(1);
    let published = async |now| {
        let set = signer.public_keys(now).await.unwrap();
        let keys = parsed(set.json.as_bytes())["keys"].clone();
        let kids = keys.as_array().unwrap().iter().map(|key| key["kid"].clone()).collect();
        (set.etag, Value::Array(kids))
    };
    let (both, kids) = published(at(0)).await;
    assert_eq!(kids, json!([old.kid, new.kid]));
    assert_eq!(published(end).await.0, both);
    let verified = async |token, at| verify(&signer, token, at).await.is_ok();
    assert!(verified(&last_of_old, end).await);
    assert!(!verified(&last_of_old, at(1_100)).await);
    assert!(verified(&first_of_new, at(1_100)).await);

    let (one, kids) = published(at(1_100)).await;
    assert_eq!(kids, json!([new.kid]));
    assert_ne!(one, both);
}

/// Only the result of a valid signature is remembered; everything else about the token is checked
/// again.
#[tokio::test]
async fn a_token_that_is_known_is_asked_for_its_key_its_time_and_its_whole_text() {
    let (old, mut new) = (key(Algorithm::Es256), key(Algorithm::Es256));
    new.signs_from = at(100);
    let store = Arc::new(Keys::default());
    store.add_first(old, at(-9_000)).await.unwrap();
    let signer = signer(Arc::<Keys>::clone(&store));
    let lasting = Claims { expires_at: at(5_000), ..claims() };
    let token = signer.sign(&lasting, None).await.unwrap();
    for _ in 0..2 {
        assert_eq!(verify(&signer, &token, at(1)).await, Ok(lasting.clone()));
    }
    let text = token.expose();
    for at_byte in 0..text.len() {
        let mut altered = text.to_owned();
        let other = if text.as_bytes()[at_byte] == b'A' { "B" } else { "A" };
        altered.replace_range(at_byte..=at_byte, other);
        let altered = verify(&signer, &AccessToken::new(altered), at(1)).await;
        // The last character of Base64 has meaningless bits; a change of them is refused anyway.
        assert_eq!(altered, Err(InvalidToken), "byte {at_byte}");
    }
    store.rotate(new, at(1_100)).await.unwrap();
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(2)).await;
    let end = at(1_100) - Duration::from_millis(1);
    assert_eq!(verify(&signer, &token, end).await, Ok(lasting));
    assert_eq!(verify(&signer, &token, at(1_100)).await, Err(InvalidToken));
}

/// The second time, no signature is checked, and the store need not look up the session.
#[tokio::test]
async fn a_bad_signature_is_remembered_for_its_very_text() {
    let signer = signer_with(&key(Algorithm::Es256));
    let good = signer.sign(&claims(), None).await.unwrap();
    let (signed, _) = good.expose().rsplit_once('.').unwrap();
    let forged = AccessToken::new(format!("{signed}.{}", "A".repeat(86)));
    let first = signer.read(forged.clone());
    assert_eq!((first.session, &first.signature), (Some(claims().session), &Signature::Unchecked));
    assert_eq!(signer.verify(&first, at(1)).await.unwrap(), Err(InvalidToken));
    let again = signer.read(forged);
    assert_eq!((again.session, &again.signature), (None, &Signature::Bad));
    assert_eq!(signer.verify(&again, at(1)).await.unwrap(), Err(InvalidToken));
    assert_eq!(verify(&signer, &good, at(1)).await, Ok(claims()));
    assert!(matches!(signer.read(good).signature, Signature::Good { .. }));
}

#[tokio::test]
async fn forged_tokens_push_no_good_one_out() {
    let signer = signer_with(&key(Algorithm::EdDsa));
    let good = signer.sign(&claims(), None).await.unwrap();
    assert_eq!(verify(&signer, &good, at(1)).await, Ok(claims()));
    let (signed, _) = good.expose().rsplit_once('.').unwrap();
    for digest in 0..2 * KNOWN_FORGERIES as u64 {
        let token = AccessToken::new(format!("{signed}.{digest:086}"));
        signer.forged.insert(signer.digest(&token), ());
    }
    assert!(signer.forged.len() <= KNOWN_FORGERIES);
    assert!(matches!(signer.read(good).signature, Signature::Good { .. }));
}

/// Only permanent results are remembered: a token may arrive before its key is known here.
#[tokio::test]
async fn a_token_whose_key_or_time_is_yet_to_come_is_not_taken_for_forged() {
    let (old, new) = (key(Algorithm::Es256), key(Algorithm::Es256));
    let store = Arc::new(Keys::default());
    store.add_first(old, at(-9_000)).await.unwrap();
    let signer = signer(Arc::<Keys>::clone(&store));
    assert!(signer.public_keys(at(0)).await.is_ok());
    let token = signer_with(&new).sign(&claims(), None).await.unwrap();
    assert_eq!(verify(&signer, &token, at(1)).await, Err(InvalidToken));
    store.rotate(new, at(9_000)).await.unwrap();
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(2)).await;
    assert_eq!(verify(&signer, &token, at(900)).await, Err(InvalidToken));
    assert_eq!(verify(&signer, &token, at(1)).await, Ok(claims()));
}

#[tokio::test]
async fn the_key_set_holds_public_members_only() {
    for (algorithm, kind, members) in [
        (Algorithm::Es256, "EC", &["alg", "crv", "kid", "kty", "use", "x", "y"][..]),
        (Algorithm::EdDsa, "OKP", &["alg", "crv", "kid", "kty", "use", "x"]),
        (Algorithm::Rs256, "RSA", &["alg", "e", "kid", "kty", "n", "use"]),
    ] {
        let stored = key(algorithm);
        let set = signer_with(&stored).public_keys(at(0)).await.unwrap();
        let set = parsed(set.json.as_bytes());
        let published = set["keys"][0].as_object().unwrap();
        let mut names: Vec<_> = published.keys().map(String::as_str).collect();
        names.sort_unstable();
        assert_eq!(names, members);
        assert_eq!(
            (&published["kid"], &published["alg"], &published["kty"], &published["use"]),
            (&json!(stored.kid), &json!(algorithm.as_str()), &json!(kind), &json!("sig"))
        );
    }
}

#[tokio::test]
async fn an_empty_store_publishes_an_empty_set_and_signs_nothing() {
    let signer = signer(Arc::new(Keys::default()));
    assert_eq!(signer.public_keys(at(0)).await.unwrap().json, r#"{"keys":[]}"#);
    let refused = signer.sign(&claims(), None).await;
    assert!(matches!(refused, Err(StoreError::Failed(_))), "{refused:?}");
}

#[tokio::test]
async fn a_key_added_after_the_ring_was_read_signs_at_once() {
    let store = Arc::new(Keys::default());
    let signer = signer(Arc::clone(&store) as _);
    assert_eq!(signer.public_keys(at(0)).await.unwrap().json, r#"{"keys":[]}"#);
    let key = signer.generate(Algorithm::Es256, at(0), at(0)).unwrap();
    assert_eq!((key.created_at, key.signs_from), (at(0), at(0)));
    assert_eq!((key.signs_until, key.published_until), (None, None));
    store.add_first(key, at(0)).await.unwrap();
    let token = signer.sign(&claims(), None).await.unwrap();
    assert_eq!(verify(&signer, &token, at(1)).await, Ok(claims()));
}

#[tokio::test]
async fn a_key_sealed_for_another_row_stops_everything() {
    let mut moved = key(Algorithm::Es256);
    moved.kid = key(Algorithm::Es256).kid;
    let refused = signer_with(&moved).public_keys(at(0)).await;
    assert!(matches!(refused, Err(StoreError::Failed(_))), "{refused:?}");

    let mut mislabelled = key(Algorithm::Es256);
    mislabelled.algorithm = Algorithm::Rs256;
    let refused = signer_with(&mislabelled).public_keys(at(0)).await;
    assert!(matches!(refused, Err(StoreError::Inconsistent { .. })), "{refused:?}");
}
