//! Links, attempts, and what lets in.

use super::super::{CROWD, ROUNDS, count};
use super::{find, hash, invited, is_known, right, with_totp, within};
use crate::{Fixtures, MS, START, Stores, minutes, race, seconds};
use dwar_operator::{Admission, Link, LinkKind, Proof, Standing};
use std::sync::Arc;

/// A link works once, as its kind says, and not from its end on.
pub async fn a_link_lets_in_once_until_the_exact_instant(stores: &Stores) {
    let make = Fixtures::random();
    let end = START + Link::INVITE;
    let (password, sign_in) = (LinkKind::Password, LinkKind::SignIn);
    for (kind, given, at, works) in [
        (password, Some(hash("$new")), end - MS, true),
        (password, Some(hash("$new")), end, false),
        (password, None, START, false),
        (sign_in, None, end - MS, true),
        (sign_in, None, end, false),
        (sign_in, Some(hash("$new")), START, false),
    ] {
        let operator = make.operator();
        let link = Link { kind, ..make.link(&operator) };
        assert!(stores.operators.invite(operator.clone(), link.clone()).await.unwrap());
        let session = make.operator_session(&operator, at);
        let spend = || stores.operators.spend(link.digest, given.clone(), session.clone(), at);
        let spent = spend().await.unwrap();
        let mut wanted = operator.clone();
        assert_eq!(link.spend(&mut wanted, given.clone(), at), works);
        assert_eq!(spent, works.then(|| wanted.clone()), "{kind:?} {at}");
        assert_eq!(find(stores, &operator).await, wanted);
        assert_eq!(is_known(stores, &session).await, works);
        assert_eq!(stores.operators.link(link.digest).await.unwrap().is_none(), works);
        if works {
            assert_eq!(spend().await.unwrap(), None, "a second time");
        }
    }
}

/// Whoever comes in by a link is alone with it: older sessions end, and a lock is lifted.
pub async fn a_link_ends_all_that_let_in_before(stores: &Stores) {
    let make = Fixtures::random();
    let (operator, link) = invited(stores, &make, make.operator()).await;
    let (_, stranger) = within(stores, &make).await;
    let old = make.operator_session(&operator, START);
    assert!(stores.operators.sign_in(right(None), old.clone(), START).await.unwrap());
    for _ in 0..5 {
        stores.operators.admit(operator.id, START).await.unwrap();
    }
    let new = make.operator_session(&operator, START);
    let spent = stores.operators.spend(link.digest, Some(hash("$new")), new.clone(), START);
    assert!(spent.await.unwrap().is_some());
    assert!(!is_known(stores, &old).await);
    assert!(is_known(stores, &new).await && is_known(stores, &stranger).await);
    let admitted = stores.operators.admit(operator.id, START).await.unwrap();
    assert_eq!(admitted, Admission::Admitted);
}

/// Of any number who use one link at once one is let in.
pub async fn links_at_once_let_in_once(stores: &Stores) {
    for _ in 0..ROUNDS {
        let make = Fixtures::random();
        let (operator, link) = invited(stores, &make, make.operator()).await;
        let sessions: Vec<_> = (0..20).map(|_| make.operator_session(&operator, START)).collect();
        let answers = race(sessions.len(), |number| {
            let (store, session) = (Arc::clone(&stores.operators), sessions[number].clone());
            let hash = Some(hash(&format!("${number}")));
            async move { store.spend(link.digest, hash, session, START).await.unwrap() }
        })
        .await;
        assert_eq!(count(&answers, Option::is_some), 1);
        assert_eq!(stores.operators.sessions(operator.id).await.unwrap().len(), 1);
    }
}

/// Attempts are admitted and locked as [`Standing`] says, to the instant, also those of nobody.
pub async fn attempts_are_admitted_as_the_domain_says(stores: &Stores) {
    let make = Fixtures::random();
    let (operator, _) = invited(stores, &make, make.operator()).await;
    let stranger = make.id();
    for id in [operator.id, stranger] {
        let (mut standing, mut now) = (Standing::default(), START);
        for step in 0..40 {
            let answer = stores.operators.admit(id, now).await.unwrap();
            assert_eq!(answer, standing.admit(now), "step {step}");
            now = match (answer, step % 3) {
                (Admission::Locked(until), 0) => until - MS,
                (Admission::Locked(until), _) => until,
                (Admission::Admitted, _) => now + MS,
            };
        }
        let day = standing.last_at.unwrap() + minutes(24 * 60);
        assert_eq!(stores.operators.admit(id, day).await.unwrap(), standing.admit(day));
        assert_eq!(standing.failures, 1);
    }
}

/// Of attempts at once as many are admitted as until the lock, and the rest told its end.
pub async fn attempts_at_once_are_admitted_up_to_the_lock(stores: &Stores) {
    let make = Fixtures::random();
    for _ in 0..ROUNDS {
        let id = make.id();
        let answers = race(CROWD, |_| {
            let store = Arc::clone(&stores.operators);
            async move { store.admit(id, START).await.unwrap() }
        })
        .await;
        assert_eq!(count(&answers, |answer| *answer == Admission::Admitted), 5);
        let locked = Admission::Locked(START + seconds(30));
        assert_eq!(count(&answers, |answer| *answer == locked), CROWD - 5);
    }
}

/// An attempt that was neither a failure nor a success does not count; nor does one of nobody.
pub async fn an_attempt_is_taken_back(stores: &Stores) {
    let make = Fixtures::random();
    let id = make.id();
    stores.operators.withdraw(id).await.unwrap();
    for _ in 0..20 {
        assert_eq!(stores.operators.admit(id, START).await.unwrap(), Admission::Admitted);
        stores.operators.withdraw(id).await.unwrap();
    }
}

/// A proof that holds no more lets nobody in and changes nothing; one that does begins a session
/// and clears the standing.
pub async fn a_sign_in_needs_a_proof_that_holds(stores: &Stores) {
    let make = Fixtures::random();
    let wrong = Proof { password: hash("$wrong"), step: None };
    let (plain, _) = invited(stores, &make, make.operator()).await;
    let (two, _) = invited(stores, &make, with_totp(&make)).await;
    for (operator, proof) in
        [(&plain, wrong), (&plain, right(Some(8))), (&two, right(None)), (&two, right(Some(7)))]
    {
        let session = make.operator_session(operator, START);
        assert!(!stores.operators.sign_in(proof, session.clone(), START).await.unwrap());
        assert!(!is_known(stores, &session).await);
        assert_eq!(&find(stores, operator).await, operator);
    }
    for _ in 0..5 {
        stores.operators.admit(two.id, START).await.unwrap();
    }
    let session = make.operator_session(&two, START);
    assert!(stores.operators.sign_in(right(Some(8)), session.clone(), START).await.unwrap());
    let mut wanted = two.clone();
    assert!(wanted.sign_in(&right(Some(8)), START));
    let found = stores.operators.session(session.digest).await.unwrap();
    assert_eq!(found, Some((session, wanted)));
    let admitted = stores.operators.admit(two.id, START).await.unwrap();
    assert_eq!(admitted, Admission::Admitted);
    let nobody = make.operator_session(&make.operator(), START);
    assert!(!stores.operators.sign_in(right(None), nobody, START).await.unwrap());
}

/// Of any number at once with one code one is let in.
pub async fn a_time_step_at_once_lets_in_once(stores: &Stores) {
    for _ in 0..ROUNDS {
        let make = Fixtures::random();
        let (operator, _) = invited(stores, &make, with_totp(&make)).await;
        let sessions: Vec<_> = (0..20).map(|_| make.operator_session(&operator, START)).collect();
        let answers = race(sessions.len(), |number| {
            let (store, session) = (Arc::clone(&stores.operators), sessions[number].clone());
            async move { store.sign_in(right(Some(8)), session, START).await.unwrap() }
        })
        .await;
        assert_eq!(count(&answers, |let_in| *let_in), 1);
        assert_eq!(stores.operators.sessions(operator.id).await.unwrap().len(), 1);
    }
}

/// Whoever signs in while they are reset is either refused or out again.
pub async fn a_sign_in_and_a_reset_at_once_leave_no_session(stores: &Stores) {
    for _ in 0..ROUNDS {
        let make = Fixtures::random();
        let (operator, _) = invited(stores, &make, make.operator()).await;
        let all: Vec<_> = (0..20)
            .map(|_| (make.operator_session(&operator, START), make.link(&operator)))
            .collect();
        race(all.len(), |number| {
            let (store, (session, link)) = (Arc::clone(&stores.operators), all[number].clone());
            async move {
                if number == 10 {
                    assert!(store.reset(session.operator, link).await.unwrap());
                } else {
                    store.sign_in(right(None), session, START).await.unwrap();
                }
            }
        })
        .await;
        assert_eq!(stores.operators.sessions(operator.id).await.unwrap(), []);
    }
}
