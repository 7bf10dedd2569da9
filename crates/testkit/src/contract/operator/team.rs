//! The list of operators, and changes to them.

use super::super::{ROUNDS, count};
use super::{find, hash, invited, with_totp};
use crate::{Fixtures, MS, START, Stores, race};
use dwar_kernel::Sealed;
use dwar_operator::{Access, Operator, OperatorChange, Role, Totp};
use std::sync::Arc;

/// An operator and the link come back unchanged, with all optional values and with none.
pub async fn an_invitation_keeps_everything(stores: &Stores) {
    let make = Fixtures::random();
    let projects = [(make.id(), Role::Owner), (make.id(), Role::Viewer)].into();
    let some = Access { everything: false, projects };
    for operator in [
        Operator { password: None, ..make.operator() },
        Operator { access: some, signed_in_at: Some(START + MS), ..with_totp(&make) },
        Operator { access: Access::default(), ..make.operator() },
    ] {
        let (operator, link) = invited(stores, &make, operator).await;
        let known = &stores.console.operators;
        assert_eq!(known.find(operator.id).await.unwrap(), Some(operator.clone()));
        let named = known.find_by_name(operator.name.clone()).await.unwrap();
        assert_eq!(named.map(|known| known.name.to_string()), Some(operator.name.to_string()));
        assert!(known.list().await.unwrap().contains(&operator));
        assert_eq!(known.link(link.digest).await.unwrap(), Some((link, operator)));
    }
    let stranger = make.operator();
    assert_eq!(stores.console.operators.find(stranger.id).await.unwrap(), None);
    assert_eq!(stores.console.operators.find_by_name(stranger.name).await.unwrap(), None);
    assert_eq!(stores.console.operators.link(make.digest()).await.unwrap(), None);
    assert_eq!(stores.console.operators.session(make.digest()).await.unwrap(), None);
}

/// Names that differ only in case are the same name.
pub async fn a_name_is_taken_in_any_case(stores: &Stores) {
    let make = Fixtures::random();
    let (operator, _) = invited(stores, &make, make.operator()).await;
    let loud = operator.name.as_str().to_uppercase();
    let other = Operator { name: loud.parse().unwrap(), ..make.operator() };
    let link = make.link(&other);
    assert!(!stores.console.operators.invite(other.clone(), link.clone()).await.unwrap());
    assert_eq!(stores.console.operators.find(other.id).await.unwrap(), None);
    assert_eq!(stores.console.operators.link(link.digest).await.unwrap(), None);
    assert_eq!(stores.console.operators.find_by_name(other.name).await.unwrap(), Some(operator));
}

/// Exactly one of several concurrent invitations under one name succeeds.
pub async fn invitations_at_once_take_a_name_once(stores: &Stores) {
    for _ in 0..ROUNDS {
        let make = Fixtures::random();
        let name = make.operator().name;
        let all: Vec<_> = (0..20)
            .map(|_| Operator { name: name.clone(), ..make.operator() })
            .map(|operator| (make.link(&operator), operator))
            .collect();
        let answers = race(all.len(), |number| {
            let (store, (link, operator)) =
                (Arc::clone(&stores.console.operators), all[number].clone());
            async move { store.invite(operator, link).await.unwrap() }
        })
        .await;
        assert_eq!(count(&answers, |made| *made), 1);
    }
}

/// Fresh: of any number of concurrent first operators exactly one is created, and none if there is one
/// already.
pub async fn invite_first_answers_true_once(stores: &Stores) {
    let make = Fixtures::random();
    let all: Vec<_> =
        (0..20).map(|_| make.operator()).map(|operator| (make.link(&operator), operator)).collect();
    let answers = race(all.len(), |number| {
        let (store, (link, operator)) =
            (Arc::clone(&stores.console.operators), all[number].clone());
        async move { store.invite_first(operator, link).await.unwrap() }
    })
    .await;
    assert_eq!(count(&answers, |made| *made), 1);
    assert_eq!(stores.console.operators.list().await.unwrap().len(), 1);
    let late = make.operator();
    let link = make.link(&late);
    assert!(!stores.console.operators.invite_first(late, link).await.unwrap());
}

/// Fresh: the list is oldest first, equal times by id.
pub async fn the_list_is_oldest_first(stores: &Stores) {
    let make = Fixtures::random();
    let aged = |age: u32| Operator { created_at: START + MS * age, ..make.operator() };
    let mut all = vec![aged(2), aged(0), aged(1), aged(1)];
    for operator in &all {
        invited(stores, &make, operator.clone()).await;
    }
    all.sort_by_key(|operator| (operator.created_at, operator.id));
    assert_eq!(stores.console.operators.list().await.unwrap(), all);
}

/// Each change is kept; a change of an unknown operator is refused.
pub async fn changes_come_back_and_touch_nobody_else(stores: &Stores) {
    let make = Fixtures::random();
    let (mut operator, _) = invited(stores, &make, make.operator()).await;
    let (other, _) = invited(stores, &make, make.operator()).await;
    let totp = Totp { secret: Sealed(vec![1, 2]), last_step: 58_000_000 };
    for change in [
        OperatorChange::Access(Access::one(make.id(), Role::Support)),
        OperatorChange::Password(hash("$new")),
        OperatorChange::Totp(Some(totp)),
        OperatorChange::Totp(None),
    ] {
        operator.apply(change.clone());
        assert!(stores.console.operators.change(operator.id, change.clone(), None).await.unwrap());
        assert_eq!(find(stores, &operator).await, operator);
        assert!(!stores.console.operators.change(make.id(), change, None).await.unwrap());
    }
    assert_eq!(find(stores, &other).await, other);
}
