//! Sessions of operators, and what ends them.

use super::{
    admit, every_attempt, find, from, hash, invited, is_known, lock, right, sign_in, with_totp,
    within,
};
use crate::{Fixtures, MS, START, Stores, minutes};
use dwar_kernel::Timestamp;
use dwar_operator::{
    Access, AttemptAdmission, EndSessions, Operator, OperatorChange, OperatorSession, ProvenStep,
    SignInProof,
};

/// A new password, and a new second factor, end every session except the one that made the change.
pub async fn a_changed_password_ends_the_other_sessions(stores: &Stores) {
    let make = Fixtures::random();
    let access = OperatorChange::Access(Access::default());
    let password = OperatorChange::Password(hash("$right"));
    for (change, ends) in [(access, false), (password, true), (OperatorChange::Totp(None), true)] {
        let (operator, here) = within(stores, &make).await;
        let (_, stranger) = within(stores, &make).await;
        let there = make.operator_session(&operator, START);
        assert!(sign_in(stores, right(None), &there, START).await);
        let keep = Some(here.digest);
        assert!(stores.console.operators.change(operator.id, change.clone(), keep).await.unwrap());
        assert!(is_known(stores, &here).await && is_known(stores, &stranger).await);
        assert_eq!(is_known(stores, &there).await, !ends, "{change:?}");
        assert!(stores.console.operators.change(operator.id, change, None).await.unwrap());
        assert_eq!(is_known(stores, &here).await, !ends);
    }
}

/// After a reset no password, code, session, link or lock is left, except the new link.
pub async fn a_reset_leaves_nothing_that_lets_in(stores: &Stores) {
    let make = Fixtures::random();
    let (operator, old) = invited(stores, &make, with_totp(&make)).await;
    let session = make.operator_session(&operator, START);
    assert!(sign_in(stores, right(Some(8)), &session, START).await);
    let attempts = every_attempt(operator.id);
    lock(stores, &attempts).await;
    let new = make.link(&operator);
    assert!(stores.console.operators.reset(operator.id, new.clone()).await.unwrap());
    let after = find(stores, &operator).await;
    assert_eq!((&after.password, &after.totp), (&None, &None));
    assert!(!is_known(stores, &session).await);
    assert_eq!(stores.console.operators.link(old.digest).await.unwrap(), None);
    assert_eq!(
        stores.console.operators.link(new.digest).await.unwrap(),
        Some((new.clone(), after))
    );
    for attempt in &attempts {
        assert_eq!(admit(stores, attempt, START).await, AttemptAdmission::Admitted);
    }
    let late = make.operator_session(&operator, START);
    assert!(!sign_in(stores, right(Some(9)), &late, START).await);
    assert!(!stores.console.operators.reset(make.id(), make.link(&operator)).await.unwrap());
}

/// A removal deletes sessions and links too, happens once, and frees the name.
pub async fn a_removal_leaves_nothing(stores: &Stores) {
    let make = Fixtures::random();
    let (operator, session) = within(stores, &make).await;
    let (other, kept) = within(stores, &make).await;
    let link = make.link(&operator);
    assert!(stores.console.operators.reset(operator.id, link.clone()).await.unwrap());
    let back = Operator { name: operator.name.clone(), ..make.operator() };
    assert!(stores.console.operators.remove(operator.id).await.unwrap());
    assert!(!stores.console.operators.remove(operator.id).await.unwrap());
    assert_eq!(stores.console.operators.find(operator.id).await.unwrap(), None);
    assert_eq!(stores.console.operators.link(link.digest).await.unwrap(), None);
    assert!(!is_known(stores, &session).await && is_known(stores, &kept).await);
    assert_eq!(find(stores, &other).await, other);
    invited(stores, &make, back).await;
}

/// Sessions come newest first, unchanged, and their use is recorded once a minute.
pub async fn sessions_are_newest_first_and_noted_once_a_minute(stores: &Stores) {
    let make = Fixtures::random();
    let (operator, first) = within(stores, &make).await;
    let at = |minute| START + minutes(minute);
    let mut second =
        OperatorSession { from: None, device: None, ..make.operator_session(&operator, at(1)) };
    assert!(sign_in(stores, right(None), &second, at(1)).await);
    let known = || async { stores.console.operators.sessions(operator.id).await.unwrap() };
    assert_eq!(known().await, [second.clone(), first.clone()]);
    for now in [at(1), at(2) - MS, at(2), at(3) - MS] {
        second.note(now);
        stores.console.operators.record_session_use(second.digest, now).await.unwrap();
        assert_eq!(known().await, [second.clone(), first.clone()]);
    }
    assert_eq!(second.seen_at, at(2));
    stores.console.operators.record_session_use(make.digest(), at(9)).await.unwrap();
}

/// Sessions are ended only by their own operator: one, all but one, or all.
pub async fn sessions_end_one_by_one_or_all(stores: &Stores) {
    let make = Fixtures::random();
    let (operator, first) = within(stores, &make).await;
    let (other, kept) = within(stores, &make).await;
    let more: Vec<_> = (0..3).map(|_| make.operator_session(&operator, START)).collect();
    for session in &more {
        assert!(sign_in(stores, right(None), session, START).await);
    }
    let end = |which| stores.console.operators.end_sessions(operator.id, which);
    assert_eq!(end(EndSessions::One(kept.digest)).await.unwrap(), 0);
    assert_eq!(end(EndSessions::One(first.digest)).await.unwrap(), 1);
    assert_eq!(end(EndSessions::One(first.digest)).await.unwrap(), 0);
    assert_eq!(end(EndSessions::AllBut(more[1].digest)).await.unwrap(), 2);
    assert!(is_known(stores, &more[1]).await);
    assert_eq!(end(EndSessions::All).await.unwrap(), 1);
    assert_eq!(stores.console.operators.sessions(operator.id).await.unwrap(), []);
    assert_eq!(stores.console.operators.sessions(other.id).await.unwrap(), [kept]);
}

/// Fresh: a sweep deletes links, sessions and counts at the instant at which they no longer matter.
pub async fn sweep_drops_what_counts_no_more(stores: &Stores) {
    let make = Fixtures::random();
    let (operator, link) = invited(stores, &make, make.operator()).await;
    let idle = make.operator_session(&operator, START);
    let busy = make.operator_session(&operator, START);
    for session in [&idle, &busy] {
        assert!(sign_in(stores, right(None), session, START).await);
    }
    admit(stores, &from(operator.id, 1), START).await;
    let sweep = |now: Timestamp| stores.console.operators.sweep(now);
    let hour = START + OperatorSession::IDLE;
    stores.console.operators.record_session_use(busy.digest, hour - MS).await.unwrap();
    assert_eq!(sweep(hour - MS).await.unwrap(), 0);
    assert_eq!(sweep(hour).await.unwrap(), 1);
    assert!(!is_known(stores, &idle).await && is_known(stores, &busy).await);

    let end = busy.expires_at;
    stores.console.operators.record_session_use(busy.digest, end - MS).await.unwrap();
    assert_eq!(sweep(end - MS).await.unwrap(), 0);
    assert_eq!(sweep(end).await.unwrap(), 1);

    let day = START + minutes(24 * 60);
    assert_eq!((sweep(day - MS).await.unwrap(), sweep(day).await.unwrap()), (0, 2));
    let over = link.expires_at;
    assert_eq!((sweep(over - MS).await.unwrap(), sweep(over).await.unwrap()), (0, 1));
    assert_eq!(stores.console.operators.link(link.digest).await.unwrap(), None);
    assert_eq!(stores.console.operators.list().await.unwrap().len(), 1);
}

/// Fresh: sessions, links, and codes up to a time step no longer sign in; passwords and later codes
/// do.
pub async fn what_is_outdated_lets_nobody_in(stores: &Stores) {
    let make = Fixtures::random();
    let (careful, link) = invited(stores, &make, with_totp(&make)).await;
    let (_, session) = within(stores, &make).await;
    stores.console.operators.invalidate_sign_ins(9).await.unwrap();
    assert!(!is_known(stores, &session).await);
    assert_eq!(stores.console.operators.link(link.digest).await.unwrap(), None);
    assert_eq!(find(stores, &careful).await.totp.map(|totp| totp.last_step), Some(9));
    stores.console.operators.invalidate_sign_ins(8).await.unwrap();
    assert_eq!(find(stores, &careful).await.totp.map(|totp| totp.last_step), Some(9));
    let again = make.operator_session(&careful, START);
    let proof =
        |step| SignInProof { password: hash("$right"), step: Some(ProvenStep { step, after: 9 }) };
    assert!(!sign_in(stores, proof(9), &again, START).await);
    assert!(sign_in(stores, proof(10), &again, START).await);
}
