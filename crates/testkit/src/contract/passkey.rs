//! Promises of [`dwar_operator::PasskeyStore`].

use super::{ROUNDS, count};
use crate::{ClearVault, Fixtures, MS, START, SeededEntropy, Stores, minutes, race, seconds};
use dwar_kernel::Timestamp;
use dwar_operator::{
    Attempt, AttemptAdmission, Challenge, Operator, OperatorSession, Passkey, PasskeyAdded,
    PasskeyAlgorithm, PasskeyKey, PasskeyUsed,
};

async fn operator(stores: &Stores, make: &Fixtures) -> Operator {
    let operator = make.operator();
    assert!(stores.console.operators.invite(operator.clone(), make.link(&operator)).await.unwrap());
    operator
}

fn passkey(make: &Fixtures, operator: &Operator, counter: u32) -> Passkey {
    Passkey {
        digest: make.digest(),
        operator: operator.id,
        name: "Laptop".to_owned(),
        credential: make.digest().0.to_vec(),
        key: PasskeyKey { algorithm: PasskeyAlgorithm::Es256, spki: vec![1, 2, 3] },
        counter,
        made_at: START,
        used_at: None,
    }
}

async fn kept(stores: &Stores, make: &Fixtures, operator: &Operator, counter: u32) -> Passkey {
    let passkey = passkey(make, operator, counter);
    assert_eq!(add(stores, &passkey).await, PasskeyAdded::Added);
    passkey
}

fn challenge(make: &Fixtures) -> Challenge {
    let seed = make.digest().0[..8].try_into().expect("eight bytes");
    let entropy = SeededEntropy::new(u64::from_be_bytes(seed));
    Challenge::issue(None, (&ClearVault, &entropy), START)
}

async fn add(stores: &Stores, passkey: &Passkey) -> PasskeyAdded {
    let asked = challenge(&Fixtures::random());
    stores.console.passkeys.add_passkey(passkey.clone(), asked).await.unwrap()
}

async fn find(stores: &Stores, passkey: &Passkey) -> Option<Passkey> {
    stores.console.passkeys.passkey(passkey.digest).await.unwrap().map(|(passkey, _)| passkey)
}

async fn use_it(
    stores: &Stores,
    (passkey, counter): (&Passkey, u32),
    session: &OperatorSession,
    now: Timestamp,
) -> PasskeyUsed {
    let asked = challenge(&Fixtures::random());
    answer(stores, (passkey, counter), asked, (session, now)).await
}

async fn answer(
    stores: &Stores,
    (passkey, counter): (&Passkey, u32),
    asked: Challenge,
    (session, now): (&OperatorSession, Timestamp),
) -> PasskeyUsed {
    let used =
        stores.console.passkeys.use_passkey(passkey.digest, counter, asked, session.clone(), now);
    used.await.unwrap()
}

async fn is_in(stores: &Stores, session: &OperatorSession) -> bool {
    stores.console.operators.session(session.digest).await.unwrap().is_some()
}

/// Passkeys come back unchanged, oldest first, each with its operator.
pub async fn passkeys_come_back_oldest_first(stores: &Stores) {
    let make = Fixtures::random();
    let (owner, other) = (operator(stores, &make).await, operator(stores, &make).await);
    let key = |algorithm| PasskeyKey { algorithm, spki: vec![9; 300] };
    let new = Passkey {
        made_at: START + MS,
        used_at: Some(START + seconds(1)),
        key: key(PasskeyAlgorithm::Rs256),
        ..passkey(&make, &owner, u32::MAX)
    };
    let old = Passkey { key: key(PasskeyAlgorithm::EdDsa), ..passkey(&make, &owner, 0) };
    for one in [&new, &old] {
        assert_eq!(add(stores, one).await, PasskeyAdded::Added);
        let found = stores.console.passkeys.passkey(one.digest).await.unwrap();
        assert_eq!(found, Some((one.clone(), owner.clone())));
    }
    let mut all = stores.console.passkeys.all_passkeys().await.unwrap();
    all.retain(|passkey| passkey.operator == owner.id);
    assert_eq!(all, [old.clone(), new.clone()]);
    assert_eq!(stores.console.passkeys.passkeys(owner.id).await.unwrap(), [old, new]);
    assert_eq!(stores.console.passkeys.passkeys(other.id).await.unwrap(), []);
    assert_eq!(stores.console.passkeys.passkey(make.digest()).await.unwrap(), None);
}

/// A passkey of one operator cannot be added for another, and none can be added for an unknown operator.
pub async fn a_passkey_has_one_owner(stores: &Stores) {
    let make = Fixtures::random();
    let (owner, thief) = (operator(stores, &make).await, operator(stores, &make).await);
    let known = kept(stores, &make, &owner, 0).await;
    for operator in [owner.id, thief.id] {
        let again = Passkey { operator, name: "Mine".to_owned(), ..known.clone() };
        assert_eq!(add(stores, &again).await, PasskeyAdded::Known);
    }
    assert_eq!(find(stores, &known).await, Some(known));
    let stranger = make.operator();
    assert_eq!(add(stores, &passkey(&make, &stranger, 0)).await, PasskeyAdded::NoOperator);
}

/// Concurrent additions of passkeys succeed up to the number that one operator may have.
pub async fn passkeys_at_once_are_bounded(stores: &Stores) {
    let make = Fixtures::random();
    let owner = operator(stores, &make).await;
    let many: Vec<_> = (0..30).map(|_| passkey(&make, &owner, 0)).collect();
    let answers = race(many.len(), |number| {
        let (stores, one) = (stores.clone(), many[number].clone());
        async move { add(&stores, &one).await }
    })
    .await;
    assert_eq!(count(&answers, |added| *added == PasskeyAdded::Added), Passkey::MOST);
    assert_eq!(count(&answers, |added| *added == PasskeyAdded::TooMany), 30 - Passkey::MOST);
    assert_eq!(stores.console.passkeys.passkeys(owner.id).await.unwrap().len(), Passkey::MOST);
}

/// A use begins a session and is recorded. A lock of the operator's codes neither blocks it nor is lifted.
pub async fn a_use_lets_in_and_is_noted(stores: &Stores) {
    let make = Fixtures::random();
    let owner = operator(stores, &make).await;
    let mut known = kept(stores, &make, &owner, 4).await;
    let bystander = kept(stores, &make, &owner, 4).await;
    let now = START + minutes(1);
    let admit = |now| stores.console.operators.admit(Attempt::with_code(owner.id), now);
    for _ in 0..13 {
        let mut at = START;
        while let AttemptAdmission::Locked(until) = admit(at).await.unwrap() {
            at = until;
        }
    }
    let session = make.operator_session(&owner, now);
    assert_eq!(use_it(stores, (&known, 5), &session, now).await, PasskeyUsed::LetIn);
    assert!(known.take(5, now));
    assert_eq!(find(stores, &known).await.as_ref(), Some(&known));
    assert_eq!(find(stores, &bystander).await, Some(bystander));
    assert!(is_in(stores, &session).await);
    let found = stores.console.operators.find(owner.id).await.unwrap().unwrap();
    assert_eq!(found, Operator { signed_in_at: Some(now), ..owner.clone() });
    assert!(matches!(admit(now).await.unwrap(), AttemptAdmission::Locked(_)));
}

/// A passkey whose counter did not grow does not sign in, nor does a passkey under the name of
/// another operator.
pub async fn a_copied_passkey_is_refused(stores: &Stores) {
    let make = Fixtures::random();
    let (owner, other) = (operator(stores, &make).await, operator(stores, &make).await);
    let known = kept(stores, &make, &owner, 5).await;
    for counter in [5, 4, 0] {
        let session = make.operator_session(&owner, START);
        let used = use_it(stores, (&known, counter), &session, START).await;
        assert_eq!((used, is_in(stores, &session).await), (PasskeyUsed::Regressed, false));
    }
    let session = make.operator_session(&other, START);
    assert_eq!(use_it(stores, (&known, 6), &session, START).await, PasskeyUsed::Gone);
    assert!(!is_in(stores, &session).await);
    assert_eq!(find(stores, &known).await, Some(known));
}

/// Exactly one of several concurrent uses of a passkey and its copy with the same counter succeeds.
pub async fn uses_at_once_with_one_counter_let_in_once(stores: &Stores) {
    let make = Fixtures::random();
    let owner = operator(stores, &make).await;
    let known = kept(stores, &make, &owner, 0).await;
    for round in 1..=u32::try_from(ROUNDS).unwrap() {
        let sessions: Vec<_> = (0..20).map(|_| make.operator_session(&owner, START)).collect();
        let answers = race(sessions.len(), |number| {
            let (stores, known, session) =
                (stores.clone(), known.clone(), sessions[number].clone());
            async move { use_it(&stores, (&known, round), &session, START).await }
        })
        .await;
        assert_eq!(count(&answers, |used| *used == PasskeyUsed::LetIn), 1);
        assert_eq!(count(&answers, |used| *used == PasskeyUsed::Regressed), 19);
    }
}

/// Exactly one of several concurrent answers to one challenge succeeds, whichever passkeys give them. An answer
/// that fails does not use up the challenge.
pub async fn answers_at_once_to_one_challenge_count_once(stores: &Stores) {
    let make = Fixtures::random();
    let (one, two) = (operator(stores, &make).await, operator(stores, &make).await);
    for _ in 0..ROUNDS {
        let known = [kept(stores, &make, &one, 0).await, kept(stores, &make, &two, 0).await];
        let asked = challenge(&make);
        let stale = kept(stores, &make, &one, 9).await;
        let session = make.operator_session(&one, START);
        let used = answer(stores, (&stale, 3), asked, (&session, START)).await;
        assert_eq!(used, PasskeyUsed::Regressed);
        let answers = race(20, |number| {
            let (stores, known) = (stores.clone(), known[number % 2].clone());
            let owner = if number % 2 == 0 { &one } else { &two };
            let session = make.operator_session(owner, START);
            async move { answer(&stores, (&known, 0), asked, (&session, START)).await }
        })
        .await;
        assert_eq!(count(&answers, |used| *used == PasskeyUsed::LetIn), 1);
        assert_eq!(count(&answers, |used| *used == PasskeyUsed::Replayed), 19);
        for passkey in [&known[0], &known[1], &stale] {
            let keep = make.digest();
            stores
                .console
                .passkeys
                .remove_passkey(passkey.operator, passkey.digest, keep)
                .await
                .unwrap();
        }
    }
}

/// Exactly one of several concurrent passkeys that answer one challenge is added.
pub async fn a_challenge_adds_one_passkey(stores: &Stores) {
    let make = Fixtures::random();
    let owner = operator(stores, &make).await;
    let (asked, many) = (challenge(&make), [0; 8].map(|_| passkey(&make, &owner, 0)));
    let answers = race(many.len(), |number| {
        let (stores, one) = (stores.clone(), many[number].clone());
        async move { stores.console.passkeys.add_passkey(one, asked).await.unwrap() }
    })
    .await;
    assert_eq!(count(&answers, |added| *added == PasskeyAdded::Added), 1);
    assert_eq!(count(&answers, |added| *added == PasskeyAdded::Replayed), 7);
    let known = kept(stores, &make, &owner, 0).await;
    let session = make.operator_session(&owner, START);
    let used = answer(stores, (&known, 0), asked, (&session, START)).await;
    assert_eq!((used, is_in(stores, &session).await), (PasskeyUsed::Replayed, false));
}

/// Fresh: a used challenge is remembered until it expires.
pub async fn a_used_challenge_is_remembered_until_it_is_over(stores: &Stores) {
    let make = Fixtures::random();
    let owner = operator(stores, &make).await;
    let (known, asked) = (kept(stores, &make, &owner, 0).await, challenge(&make));
    let session = make.operator_session(&owner, START);
    let end = asked.expires_at();
    let used = || answer(stores, (&known, 0), asked, (&session, START));
    assert_eq!(used().await, PasskeyUsed::LetIn);
    assert_eq!(stores.console.operators.sweep(end - MS).await.unwrap(), 0);
    assert_eq!(used().await, PasskeyUsed::Replayed);
    // Includes the challenge with which the passkey was added.
    assert_eq!(stores.console.operators.sweep(end).await.unwrap(), 2);
}

/// Only own passkeys can be removed, once, and a removal ends the other sessions, which may be on a lost
/// device.
pub async fn a_removal_ends_the_other_sessions(stores: &Stores) {
    let make = Fixtures::random();
    let (owner, thief) = (operator(stores, &make).await, operator(stores, &make).await);
    let (known, kept_one) =
        (kept(stores, &make, &owner, 0).await, kept(stores, &make, &owner, 0).await);
    let [mine, lost] = [0, 1].map(|_| make.operator_session(&owner, START));
    for session in [&mine, &lost] {
        assert_eq!(use_it(stores, (&known, 0), session, START).await, PasskeyUsed::LetIn);
    }
    let remove = |by| stores.console.passkeys.remove_passkey(by, known.digest, mine.digest);
    assert!(!remove(thief.id).await.unwrap());
    assert!(is_in(stores, &lost).await);
    assert!(remove(owner.id).await.unwrap());
    assert_eq!((is_in(stores, &mine).await, is_in(stores, &lost).await), (true, false));
    assert!(!remove(owner.id).await.unwrap());
    assert_eq!(stores.console.passkeys.passkeys(owner.id).await.unwrap(), [kept_one]);
    assert_eq!(use_it(stores, (&known, 0), &lost, START).await, PasskeyUsed::Gone);
}

/// Nothing that signed in an operator before a reset or a removal does so afterwards.
pub async fn a_reset_and_a_removal_of_the_operator_take_them_along(stores: &Stores) {
    let make = Fixtures::random();
    let (bystander, mut owners) = (operator(stores, &make).await, Vec::new());
    let other = kept(stores, &make, &bystander, 0).await;
    for _ in 0..2 {
        let owner = operator(stores, &make).await;
        let known = kept(stores, &make, &owner, 0).await;
        owners.push((owner, known));
    }
    assert!(stores.console.operators.reset(owners[0].0.id, make.link(&owners[0].0)).await.unwrap());
    assert!(stores.console.operators.remove(owners[1].0.id).await.unwrap());
    for (owner, known) in owners {
        assert_eq!(find(stores, &known).await, None);
        let session = make.operator_session(&owner, START);
        assert_eq!(use_it(stores, (&known, 1), &session, START).await, PasskeyUsed::Gone);
        assert!(!is_in(stores, &session).await);
    }
    assert_eq!(find(stores, &other).await, Some(other));
}
