//! Promises of [`dwar_operator::AdminTokenStore`].

use crate::{Fixtures, MS, START, Stores, minutes};
use dwar_operator::{Access, AdminToken, Role};

async fn token(stores: &Stores, token: &AdminToken) -> Option<AdminToken> {
    stores.console.admin_tokens.token(token.digest).await.unwrap()
}

/// Tokens come back unchanged, oldest first, and by their digest.
pub async fn tokens_come_back_oldest_first(stores: &Stores) {
    let make = Fixtures::random();
    let old = make.admin_token();
    let new = AdminToken {
        access: Access::one(make.id(), Role::Member),
        may_delegate: true,
        made_at: START + MS,
        used_at: Some(START + MS),
        used_from: Some("2001:db8::1".parse().unwrap()),
        ..make.admin_token()
    };
    for one in [&new, &old] {
        stores.console.admin_tokens.add(one.clone()).await.unwrap();
        assert_eq!(token(stores, one).await.as_ref(), Some(one));
    }
    let mut list = stores.console.admin_tokens.tokens().await.unwrap();
    list.retain(|known| [old.id, new.id].contains(&known.id));
    assert_eq!(list, [old, new]);
    assert_eq!(stores.console.admin_tokens.token(make.digest()).await.unwrap(), None);
}

/// A use is recorded by [`AdminToken::note`].
pub async fn a_use_is_noted_once_a_minute(stores: &Stores) {
    let make = Fixtures::random();
    let mut known = make.admin_token();
    stores.console.admin_tokens.add(known.clone()).await.unwrap();
    let from = Some([198, 51, 100, 4].into());
    let minute = START + minutes(1);
    for (now, from) in [(START, from), (minute - MS, None), (minute, None)] {
        known.note(now, from);
        stores.console.admin_tokens.record_token_use(known.id, from, now).await.unwrap();
        assert_eq!(token(stores, &known).await.as_ref(), Some(&known));
    }
    assert_eq!((known.used_at, known.used_from), (Some(minute), None));
    stores.console.admin_tokens.record_token_use(make.id(), from, START).await.unwrap();
}

/// A revoked token is unknown at once, can be revoked once, and no other token is affected.
pub async fn a_revoked_token_is_unknown_at_once(stores: &Stores) {
    let make = Fixtures::random();
    let (gone, kept) = (make.admin_token(), make.admin_token());
    for one in [&gone, &kept] {
        stores.console.admin_tokens.add(one.clone()).await.unwrap();
    }
    assert!(stores.console.admin_tokens.revoke(gone.id).await.unwrap());
    assert!(!stores.console.admin_tokens.revoke(gone.id).await.unwrap());
    assert_eq!((token(stores, &gone).await, token(stores, &kept).await), (None, Some(kept)));
}

/// Fresh: a sweep deletes tokens that expired at the instant or before.
pub async fn sweep_drops_what_ended(stores: &Stores) {
    let make = Fixtures::random();
    let ends = |at| AdminToken { expires_at: at, ..make.admin_token() };
    let (gone, kept) = (ends(START), ends(START + MS));
    for one in [&gone, &kept] {
        stores.console.admin_tokens.add(one.clone()).await.unwrap();
    }
    assert_eq!(stores.console.admin_tokens.sweep(START).await.unwrap(), 1);
    assert_eq!(stores.console.admin_tokens.tokens().await.unwrap(), [kept]);
}
