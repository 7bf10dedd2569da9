//! Links, sign-in attempts, and what signs in an operator.

use super::super::{CROWD, ROUNDS, count};
use super::{
    admit, every_attempt, find, from, hash, in_browser, invited, is_known, lock, right, sign_in,
    with_totp, within,
};
use crate::{ClearVault, Fixtures, MS, START, Stores, minutes, race, seconds};
use dwar_operator::{
    Attempt, AttemptAdmission, FailureCounter, LinkKind, Lockout, Network, OneTimeLink, Operator,
    SignInProof,
};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A link works once, as its kind says, and no longer from its end on.
pub async fn a_link_lets_in_once_until_the_exact_instant(stores: &Stores) {
    let make = Fixtures::random();
    let end = START + OneTimeLink::INVITE;
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
        let link = OneTimeLink { kind, ..make.link(&operator) };
        assert!(stores.console.operators.invite(operator.clone(), link.clone()).await.unwrap());
        let session = make.operator_session(&operator, at);
        let spend =
            || stores.console.operators.spend(link.digest, given.clone(), session.clone(), at);
        let spent = spend().await.unwrap();
        let mut wanted = operator.clone();
        assert_eq!(link.spend(&mut wanted, given.clone(), at), works);
        assert_eq!(spent, works.then(|| wanted.clone()), "{kind:?} {at}");
        assert_eq!(find(stores, &operator).await, wanted);
        assert_eq!(is_known(stores, &session).await, works);
        assert_eq!(stores.console.operators.link(link.digest).await.unwrap().is_none(), works);
        if works {
            assert_eq!(spend().await.unwrap(), None, "a second time");
        }
    }
}

/// Following a link ends all older sessions and lifts locks.
pub async fn a_link_ends_all_that_let_in_before(stores: &Stores) {
    let make = Fixtures::random();
    let (operator, link) = invited(stores, &make, make.operator()).await;
    let (_, stranger) = within(stores, &make).await;
    let old = make.operator_session(&operator, START);
    assert!(sign_in(stores, right(None), &old, START).await);
    let attempts = every_attempt(operator.id);
    lock(stores, &attempts).await;
    let new = make.operator_session(&operator, START);
    let spent = stores.console.operators.spend(link.digest, Some(hash("$new")), new.clone(), START);
    assert!(spent.await.unwrap().is_some());
    assert!(!is_known(stores, &old).await);
    assert!(is_known(stores, &new).await && is_known(stores, &stranger).await);
    for attempt in &attempts {
        assert_eq!(admit(stores, attempt, START).await, AttemptAdmission::Admitted);
    }
}

/// Exactly one of any number of concurrent uses of one link succeeds.
pub async fn links_at_once_let_in_once(stores: &Stores) {
    for _ in 0..ROUNDS {
        let make = Fixtures::random();
        let (operator, link) = invited(stores, &make, make.operator()).await;
        let sessions: Vec<_> = (0..20).map(|_| make.operator_session(&operator, START)).collect();
        let answers = race(sessions.len(), |number| {
            let (store, session) =
                (Arc::clone(&stores.console.operators), sessions[number].clone());
            let hash = Some(hash(&format!("${number}")));
            async move { store.spend(link.digest, hash, session, START).await.unwrap() }
        })
        .await;
        assert_eq!(count(&answers, Option::is_some), 1);
        assert_eq!(stores.console.operators.sessions(operator.id).await.unwrap().len(), 1);
    }
}

/// Attempts are admitted and locked as [`Attempt`] says, to the instant, also for unknown names.
pub async fn attempts_are_admitted_as_the_domain_says(stores: &Stores) {
    let make = Fixtures::random();
    let (operator, _) = invited(stores, &make, make.operator()).await;
    let (name, home) = (make.operator().name, Network::of(None));
    let nobody = Attempt::of_nobody(name.as_str(), home, &ClearVault);
    for attempt in [from(operator.id, 1), in_browser(operator.id, make.digest()), nobody] {
        let (mut known, mut now) = (BTreeMap::new(), START);
        let mut judge = |now| {
            let counter =
                |count| Ok::<_, ()>(*known.get(&count).unwrap_or(&FailureCounter::fresh(now)));
            let (admission, counted) = attempt.admit(now, counter).unwrap();
            known.extend(counted);
            admission
        };
        for step in 0..40 {
            let answer = admit(stores, &attempt, now).await;
            assert_eq!(answer, judge(now), "step {step}");
            now = match (answer, step % 3) {
                (AttemptAdmission::Locked(until), 0) => until - MS,
                (AttemptAdmission::Locked(until), _) => until,
                (AttemptAdmission::Admitted, _) => now + MS,
            };
        }
        let day = now + minutes(24 * 60);
        assert_eq!(admit(stores, &attempt, day).await, judge(day));
    }
}

/// Failures are counted per name and network, and per browser: a lock of one does not affect another.
pub async fn a_lock_is_of_one_origin_alone(stores: &Stores) {
    let make = Fixtures::random();
    let (operator, other) = (make.id(), make.id());
    let (near, mine) = (from(operator, 1), in_browser(operator, make.digest()));
    lock(stores, &[near, mine]).await;
    for free in [
        from(operator, 2),
        from(other, 1),
        in_browser(operator, make.digest()),
        Attempt::with_code(operator),
    ] {
        assert_eq!(admit(stores, &free, START).await, AttemptAdmission::Admitted);
    }
}

/// A name admits a hundred failures and then one every 36 seconds, from all networks together. A refused
/// attempt leaves no record, and known browsers are not affected.
pub async fn a_name_is_slowed_however_many_networks_take_part(stores: &Stores) {
    let make = Fixtures::random();
    let operator = make.id();
    for number in 0..100 {
        assert_eq!(admit(stores, &from(operator, number), START).await, AttemptAdmission::Admitted);
    }
    let next = START + seconds(36);
    for number in 1_000..1_020 {
        let answer = admit(stores, &from(operator, number), next - MS).await;
        assert_eq!(answer, AttemptAdmission::Locked(next));
    }
    assert_eq!(admit(stores, &from(operator, 1_000), next).await, AttemptAdmission::Admitted);
    assert_eq!(
        admit(stores, &from(operator, 1_000), next).await,
        AttemptAdmission::Locked(next + seconds(36))
    );
    let known = in_browser(operator, make.digest());
    assert_eq!(admit(stores, &known, next).await, AttemptAdmission::Admitted);
}

/// The lock admits as many concurrent attempts as attempts one after the other. The others get the end of
/// the lock.
pub async fn attempts_at_once_are_admitted_up_to_the_lock(stores: &Stores) {
    let make = Fixtures::random();
    for _ in 0..ROUNDS {
        let attempt = from(make.id(), 1);
        let answers = race(CROWD, |_| {
            let (stores, attempt) = (stores.clone(), attempt.clone());
            async move { admit(&stores, &attempt, START).await }
        })
        .await;
        assert_eq!(count(&answers, |answer| *answer == AttemptAdmission::Admitted), 5);
        let locked = AttemptAdmission::Locked(START + seconds(30));
        assert_eq!(count(&answers, |answer| *answer == locked), CROWD - 5);
    }
}

/// The limit of a name holds for concurrent attempts, even if each comes from a network of its own.
pub async fn attempts_at_once_from_many_networks_are_admitted_up_to_the_pace(stores: &Stores) {
    let operator = Fixtures::random().id();
    let answers = race(150, |number| {
        let (stores, attempt) = (stores.clone(), from(operator, u32::try_from(number).unwrap()));
        async move { admit(&stores, &attempt, START).await }
    })
    .await;
    assert_eq!(count(&answers, |answer| *answer == AttemptAdmission::Admitted), 100);
    let slowed = AttemptAdmission::Locked(START + seconds(36));
    assert_eq!(count(&answers, |answer| *answer == slowed), 50);
}

/// An attempt that was neither a failure nor a success does not count; nor does one with an unknown name.
pub async fn an_attempt_is_taken_back(stores: &Stores) {
    let make = Fixtures::random();
    for attempt in every_attempt(make.id()) {
        stores.console.operators.withdraw(attempt.clone()).await.unwrap();
        for _ in 0..120 {
            assert_eq!(admit(stores, &attempt, START).await, AttemptAdmission::Admitted);
            stores.console.operators.withdraw(attempt.clone()).await.unwrap();
        }
    }
}

/// A success forgets the failures in a row of its own origin, and takes back its attempt on the name.
pub async fn a_success_forgets_what_it_was_counted_against(stores: &Stores) {
    let make = Fixtures::random();
    let (operator, _) = invited(stores, &make, make.operator()).await;
    let (near, far) = (from(operator.id, 1), from(operator.id, 2));
    for _ in 0..4 {
        for attempt in [&near, &far] {
            assert_eq!(admit(stores, attempt, START).await, AttemptAdmission::Admitted);
        }
    }
    let session = make.operator_session(&operator, START);
    let signed_in = stores.console.operators.sign_in(right(None), near.clone(), session, START);
    assert!(signed_in.await.unwrap());
    for (attempt, left) in [(&near, 5), (&far, 1)] {
        for _ in 0..left {
            assert_eq!(admit(stores, attempt, START).await, AttemptAdmission::Admitted);
        }
        assert_eq!(
            admit(stores, attempt, START).await,
            AttemptAdmission::Locked(START + seconds(30))
        );
    }
    // 14 of the hundred began, and one of them was taken back.
    for number in 10..97 {
        assert_eq!(
            admit(stores, &from(operator.id, number), START).await,
            AttemptAdmission::Admitted
        );
    }
    let slowed = admit(stores, &from(operator.id, 97), START).await;
    assert_eq!(slowed, AttemptAdmission::Locked(START + seconds(36)));
}

/// The locks of an operator and the count of the name are listed until they are forgotten, for existing
/// operators only.
pub async fn standings_are_told_and_forgotten(stores: &Stores) {
    let make = Fixtures::random();
    let (asha, _) = invited(stores, &make, make.operator()).await;
    let (ravi, _) = invited(stores, &make, make.operator()).await;
    for operator in [asha.id, ravi.id] {
        lock(stores, &every_attempt(operator)).await;
    }
    assert_eq!(admit(stores, &from(asha.id, 2), START).await, AttemptAdmission::Admitted);
    let nobody = make.operator().name;
    let nobody = Attempt::of_nobody(nobody.as_str(), Network::of(None), &ClearVault);
    lock(stores, &[nobody]).await;
    let of = async |operator, now| {
        let all = stores.console.operators.failure_counters(now).await.unwrap();
        assert!(
            all.iter()
                .all(|(count, _)| !count.operator.to_string().starts_with("00000000-0000-0000"))
        );
        let theirs: Vec<_> =
            all.into_iter().filter(|(count, _)| count.operator == operator).collect();
        let locked = Lockout::of(theirs.clone(), now).remove(&operator).unwrap_or_default();
        (theirs.len(), locked.locked, locked.locked_until)
    };
    let end = START + seconds(30);
    for operator in [asha.id, ravi.id] {
        assert_eq!(of(operator, end - MS).await, (4, 3, Some(end)), "three locks, and the name");
        assert_eq!(of(operator, end).await, (1, 0, None), "the name");
    }
    let forget = async || stores.console.operators.forget_failures(asha.id).await.unwrap();
    assert!(forget().await);
    assert!(!forget().await, "a second time");
    assert_eq!(of(asha.id, START).await, (0, 0, None));
    assert_eq!(of(ravi.id, START).await, (4, 3, Some(end)));
    for attempt in every_attempt(asha.id) {
        assert_eq!(admit(stores, &attempt, START).await, AttemptAdmission::Admitted);
    }
}

/// A proof that is no longer valid does not sign in and changes nothing; a valid one begins a
/// session.
pub async fn a_sign_in_needs_a_proof_that_holds(stores: &Stores) {
    let make = Fixtures::random();
    let wrong = SignInProof { password: hash("$wrong"), step: None };
    let (plain, _) = invited(stores, &make, make.operator()).await;
    let (two, _) = invited(stores, &make, with_totp(&make)).await;
    for (operator, proof) in
        [(&plain, wrong), (&plain, right(Some(8))), (&two, right(None)), (&two, right(Some(7)))]
    {
        let session = make.operator_session(operator, START);
        assert!(!sign_in(stores, proof, &session, START).await);
        assert!(!is_known(stores, &session).await);
        assert_eq!(&find(stores, operator).await, operator);
    }
    let session = make.operator_session(&two, START);
    assert!(sign_in(stores, right(Some(8)), &session, START).await);
    let mut wanted = two.clone();
    assert!(wanted.sign_in(&right(Some(8)), START));
    let found = stores.console.operators.session(session.digest).await.unwrap();
    assert_eq!(found, Some((session, wanted)));
    let nobody = make.operator_session(&make.operator(), START);
    assert!(!sign_in(stores, right(None), &nobody, START).await);
}

/// A new link replaces the old one, for an operator who was only invited.
pub async fn another_link_takes_the_place_of_the_one_before(stores: &Stores) {
    let make = Fixtures::random();
    let fresh = || Operator { password: None, ..make.operator() };
    let (asha, old) = invited(stores, &make, fresh()).await;
    let (_, others) = invited(stores, &make, fresh()).await;
    let new = make.link(&asha);
    assert!(stores.console.operators.renew_link(new.clone()).await.unwrap());
    assert_eq!(stores.console.operators.link(old.digest).await.unwrap(), None);
    assert_eq!(
        stores.console.operators.link(new.digest).await.unwrap(),
        Some((new.clone(), asha.clone()))
    );
    let links = stores.console.operators.links().await.unwrap();
    assert!(links.contains(&new) && links.contains(&others) && !links.contains(&old));
    let session = make.operator_session(&asha, START);
    let spent = stores.console.operators.spend(new.digest, Some(hash("$right")), session, START);
    assert!(spent.await.unwrap().is_some());
    for nobody in [asha, fresh()] {
        let link = make.link(&nobody);
        assert!(!stores.console.operators.renew_link(link.clone()).await.unwrap());
        assert_eq!(stores.console.operators.link(link.digest).await.unwrap(), None);
    }
}

/// An operator who follows a link while it is renewed is signed in without a link left, or has the new one.
pub async fn a_link_renewed_while_it_is_used_leaves_none(stores: &Stores) {
    for _ in 0..ROUNDS {
        let make = Fixtures::random();
        let operator = Operator { password: None, ..make.operator() };
        let (operator, old) = invited(stores, &make, operator).await;
        let steps: Vec<_> = (0..20)
            .map(|_| (make.operator_session(&operator, START), make.link(&operator)))
            .collect();
        let answers = race(steps.len(), |number| {
            let (store, (session, new)) =
                (Arc::clone(&stores.console.operators), steps[number].clone());
            let old = old.digest;
            async move {
                if number % 2 == 0 {
                    return !store.renew_link(new).await.unwrap();
                }
                store.spend(old, Some(hash("$right")), session, START).await.unwrap().is_some()
            }
        })
        .await;
        let odd = answers.iter().enumerate().filter(|(number, _)| number % 2 == 1);
        let let_in = odd.filter(|(_, let_in)| **let_in).count();
        let links = stores.console.operators.links().await.unwrap();
        let left = links.iter().filter(|link| link.operator == operator.id).count();
        assert_eq!(let_in + left, 1);
    }
}

/// Exactly one of any number of concurrent sign-ins whose codes follow the same time step succeeds.
pub async fn a_time_step_at_once_lets_in_once(stores: &Stores) {
    for _ in 0..ROUNDS {
        let make = Fixtures::random();
        let (operator, _) = invited(stores, &make, with_totp(&make)).await;
        let sessions: Vec<_> = (0..20).map(|_| make.operator_session(&operator, START)).collect();
        let answers = race(sessions.len(), |number| {
            let (stores, session) = (stores.clone(), sessions[number].clone());
            let step = 8 + u64::try_from(number % 2).unwrap();
            async move { sign_in(&stores, right(Some(step)), &session, START).await }
        })
        .await;
        assert_eq!(count(&answers, |let_in| *let_in), 1);
        assert_eq!(stores.console.operators.sessions(operator.id).await.unwrap().len(), 1);
    }
}

/// A sign-in during a reset is either refused or ended by it.
pub async fn a_sign_in_and_a_reset_at_once_leave_no_session(stores: &Stores) {
    for _ in 0..ROUNDS {
        let make = Fixtures::random();
        let (operator, _) = invited(stores, &make, make.operator()).await;
        let all: Vec<_> = (0..20)
            .map(|_| (make.operator_session(&operator, START), make.link(&operator)))
            .collect();
        race(all.len(), |number| {
            let (stores, (session, link)) = (stores.clone(), all[number].clone());
            async move {
                let attempt = from(session.operator, 1);
                if number == 10 {
                    assert!(stores.console.operators.reset(session.operator, link).await.unwrap());
                } else if admit(&stores, &attempt, START).await == AttemptAdmission::Admitted {
                    let store = &stores.console.operators;
                    store.sign_in(right(None), attempt, session, START).await.unwrap();
                }
            }
        })
        .await;
        assert_eq!(stores.console.operators.sessions(operator.id).await.unwrap(), []);
    }
}
