use super::*;
use crate::SystemEntropy;
use dwar_operator::Network;
use std::net::IpAddr;
use tokio::task::JoinHandle;

fn hasher() -> Argon2Hasher {
    Argon2Hasher::new(Arc::new(SystemEntropy::default()))
}

fn origin(number: u8) -> Origin {
    Origin::Network(Network::of(Some(IpAddr::from([192, 0, 2, number]))))
}

fn typed(text: &str) -> Password {
    Password::typed(text)
}

#[tokio::test]
async fn a_password_matches_its_own_hash_alone_and_no_two_hashes_are_alike() {
    let hasher = hasher();
    let one = hasher.hash(typed("correct horse battery"), origin(1)).await.unwrap().done().unwrap();
    let two = hasher.hash(typed("correct horse battery"), origin(1)).await.unwrap().done().unwrap();
    assert!(one.as_str().starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{}", one.as_str());
    assert_ne!(one, two);
    for (text, right) in [("correct horse battery", true), ("Correct horse battery", false)] {
        for hash in [&one, &two] {
            let verified = hasher.verify(typed(text), Some(hash.clone()), origin(1)).await.unwrap();
            assert_eq!(verified, Hashing::Done(right));
        }
    }
}

#[tokio::test]
async fn nobody_has_no_password() {
    let hasher = hasher();
    for text in ["", "correct horse battery"] {
        let verified = hasher.verify(typed(text), None, origin(1)).await.unwrap();
        assert_eq!(verified, Hashing::Done(false));
    }
    let broken =
        hasher.verify(typed("x"), Some(PasswordHash::new("no PHC string")), origin(1)).await;
    assert!(matches!(broken, Err(StoreError::Failed(_))));
}

/// An unknown name costs the same work as a known one: same memory, same passes.
#[test]
fn nobody_costs_what_somebody_costs() {
    let nobody = Phc::new(NOBODY).unwrap();
    let params = Params::try_from(&nobody).unwrap();
    assert_eq!((params.m_cost(), params.t_cost(), params.p_cost()), (MEMORY_KIB, PASSES, LANES));
    assert_eq!(nobody.salt.unwrap().len(), SALT);
    assert_eq!(nobody.hash.unwrap().as_bytes().len(), 32);
}

/// Attempts that wait by origin while two others are running.
struct Crowd {
    hasher: Argon2Hasher,
    waiting: Vec<JoinHandle<Result<Hashing<bool>, StoreError>>>,
}

impl Crowd {
    async fn comes(&mut self, origin: Origin, count: usize) {
        for _ in 0..count {
            let hasher = self.hasher.clone();
            let job = async move { hasher.verify(typed("x"), None, origin).await };
            self.waiting.push(tokio::spawn(job));
        }
        tokio::task::yield_now().await;
    }

    async fn done(self) -> usize {
        let mut done = 0;
        for one in self.waiting {
            done += usize::from(one.await.unwrap().unwrap() == Hashing::Done(false));
        }
        done
    }
}

/// A flood of passwords: as many as there are places are checked, two at a time. The others are
/// refused before any work.
#[tokio::test]
async fn beyond_its_places_it_refuses_at_once() {
    let hasher = hasher();
    let hold = [hasher.queue.enter(origin(1)).await, hasher.queue.enter(origin(1)).await];
    let mut flood = Crowd { hasher: hasher.clone(), waiting: Vec::new() };
    flood.comes(origin(1), WAITING).await;
    for _ in 0..100 {
        let refused = hasher.verify(typed("x"), None, origin(1)).await.unwrap();
        assert_eq!(refused, Hashing::Busy);
    }
    drop(hold);
    assert_eq!(flood.done().await, WAITING);
    let again = hasher.verify(typed("x"), None, origin(1)).await.unwrap();
    assert_eq!(again, Hashing::Done(false), "there is room again");
}

/// The attack: forty clients of one address, and another person who signs in.
#[tokio::test]
async fn a_flood_of_one_origin_leaves_others_their_turns() {
    let hasher = hasher();
    let hold = [hasher.queue.enter(origin(1)).await, hasher.queue.enter(origin(1)).await];
    let crowd = || Crowd { hasher: hasher.clone(), waiting: Vec::new() };
    let (mut flood, mut others) = (crowd(), crowd());
    flood.comes(origin(1), 40).await;
    for number in 2..=4 {
        others.comes(origin(number), 1).await;
    }
    drop(hold);
    assert_eq!((others.done().await, flood.done().await), (3, WAITING - 3));
}
