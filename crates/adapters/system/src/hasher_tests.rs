use super::*;
use crate::SystemEntropy;

fn hasher() -> Argon2Hasher {
    Argon2Hasher::new(Arc::new(SystemEntropy::default()))
}

fn typed(text: &str) -> Password {
    Password::typed(text)
}

#[tokio::test]
async fn a_password_matches_its_own_hash_alone_and_no_two_hashes_are_alike() {
    let hasher = hasher();
    let one = hasher.hash(typed("correct horse battery")).await.unwrap();
    let two = hasher.hash(typed("correct horse battery")).await.unwrap();
    assert!(one.as_str().starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{}", one.as_str());
    assert_ne!(one, two);
    for (text, right) in [("correct horse battery", true), ("Correct horse battery", false)] {
        for hash in [&one, &two] {
            assert_eq!(hasher.verify(typed(text), Some(hash.clone())).await.unwrap(), right);
        }
    }
}

#[tokio::test]
async fn nobody_has_no_password() {
    let hasher = hasher();
    for text in ["", "correct horse battery"] {
        assert!(!hasher.verify(typed(text), None).await.unwrap());
    }
    let broken = hasher.verify(typed("x"), Some(PasswordHash::new("no PHC string"))).await;
    assert!(matches!(broken, Err(StoreError::Failed(_))));
}

/// The work for a name that nobody has is that for one that somebody has: same memory, same passes.
#[test]
fn nobody_costs_what_somebody_costs() {
    let nobody = Phc::new(NOBODY).unwrap();
    let params = Params::try_from(&nobody).unwrap();
    assert_eq!((params.m_cost(), params.t_cost(), params.p_cost()), (MEMORY_KIB, PASSES, LANES));
    assert_eq!(nobody.salt.unwrap().len(), SALT);
    assert_eq!(nobody.hash.unwrap().as_bytes().len(), 32);
}

/// A flood of passwords: as many as there are places are judged, two at a time, and the rest is
/// refused before anything is worked on.
#[tokio::test]
async fn beyond_its_places_it_refuses_at_once() {
    let hasher = hasher();
    let hold = Arc::clone(&hasher.work).acquire_many_owned(2).await.unwrap();
    let waiting: Vec<_> = (0..AT_ONCE + WAITING)
        .map(|_| {
            let hasher = hasher.clone();
            tokio::spawn(async move { hasher.verify(typed("x"), None).await })
        })
        .collect();
    tokio::task::yield_now().await;
    for _ in 0..100 {
        let refused = hasher.verify(typed("x"), None).await;
        assert!(matches!(refused, Err(StoreError::Unavailable(_))));
    }
    drop(hold);
    for one in waiting {
        assert!(!one.await.unwrap().unwrap());
    }
    assert!(!hasher.verify(typed("x"), None).await.unwrap(), "there is room again");
}
