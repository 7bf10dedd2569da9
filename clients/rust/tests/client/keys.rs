//! Keys that cannot be fetched.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use dwar_client::{Code, Verifier};
use futures_util::FutureExt;
use serde_json::{Value, json};

use crate::fake::Fake;

/// `{"alg":"ES256","typ":"at+jwt","kid":"b"}`, a kid that the sets of these tests lack.
const TOKEN_OF_B: &str = "eyJhbGciOiJFUzI1NiIsInR5cCI6ImF0K2p3dCIsImtpZCI6ImIifQ.e30.AA";

/// The key of RFC 8037 appendix A.2 as the key `a`.
fn keys_with_a() -> Value {
    let x = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";
    let key = json!({
        "kid": "a", "kty": "OKP", "crv": "Ed25519", "alg": "EdDSA", "use": "sig", "x": x,
    });
    json!({ "keys": [key] })
}

async fn fault(verifier: &Verifier) -> (Code, Option<u16>) {
    let error = verifier.verify(TOKEN_OF_B).await.unwrap_err();
    (error.code(), error.status())
}

const NO_SUCH_KEY: (Code, Option<u16>) = (Code::InvalidAccessToken, None);

#[tokio::test]
async fn an_unknown_kid_whose_fetch_failed_is_the_error_of_the_fetch() {
    let fake = Fake::answering(&keys_with_a());
    let ahead = Arc::new(AtomicU64::new(0));
    let seconds = Arc::clone(&ahead);
    let start = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
    let verifier = Verifier::new(&fake.url, "project-1").unwrap();
    let verifier = verifier.with_timeout(Duration::from_millis(500)).unwrap();
    let verifier =
        verifier.with_clock(move || start + Duration::from_secs(seconds.load(Ordering::Relaxed)));
    assert_eq!(fault(&verifier).await, NO_SUCH_KEY);

    ahead.store(70, Ordering::Relaxed);
    fake.refuse(502, &json!("bad gateway"));
    for _ in 0..3 {
        assert_eq!(fault(&verifier).await, (Code::UnknownError, Some(502)));
    }
    ahead.store(140, Ordering::Relaxed);
    fake.answer(&keys_with_a());
    for _ in 0..2 {
        assert_eq!(fault(&verifier).await, NO_SUCH_KEY);
    }
}

/// As the tests of an application do, each of which has a runtime.
#[test]
fn a_fetch_whose_runtime_ended_is_begun_anew() {
    let runtime = || {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        runtime.enable_all().build().unwrap()
    };
    let fake = Fake::answering(&keys_with_a());
    let start = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
    let ahead = Arc::new(AtomicU64::new(0));
    let seconds = Arc::clone(&ahead);
    let verifier = Verifier::new(&fake.url, "project-1").unwrap();
    let verifier =
        verifier.with_clock(move || start + Duration::from_secs(seconds.load(Ordering::Relaxed)));
    assert_eq!(runtime().block_on(fault(&verifier)), NO_SUCH_KEY);

    ahead.store(70, Ordering::Relaxed);
    runtime().block_on(async {
        assert!(verifier.verify(TOKEN_OF_B).now_or_never().is_none());
    });
    assert_eq!(runtime().block_on(fault(&verifier)), NO_SUCH_KEY);
}
