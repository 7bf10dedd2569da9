use crate::common::{Office, PASSWORD};
use dwar_console::{Invited, ManageError, NewAdminToken, SignInError};
use dwar_memory::Fault;
use dwar_operator::{
    Access, Action, AdminToken, AuditFilter, Client, LinkKind, Lockout, OneTimeLink, Requester,
    Role,
};
use dwar_testkit::{MS, START, minutes, new_token, phone, seconds};
use std::time::Duration;

const DAY: Duration = Duration::from_secs(86_400);

#[tokio::test]
async fn names_are_taken_in_any_case() {
    let office = Office::open();
    office.invite("Asha", Access::everything()).await;
    let operators = &office.manage.operators;
    let again = operators.invite(&Requester::command_line(), "ASHA", Access::everything()).await;
    assert!(matches!(again, Err(ManageError::Conflict(_))));
    let bad = operators.invite(&Requester::command_line(), "<b>", Access::everything()).await;
    assert!(matches!(bad, Err(ManageError::Invalid { field: "name", .. })));
    let nowhere = Access::one(office.make.id(), Role::Owner);
    let nowhere = operators.invite(&Requester::command_line(), "Ravi", nowhere).await;
    assert!(matches!(nowhere, Err(ManageError::Invalid { field: "project_id", .. })));
}

#[tokio::test]
async fn a_projects_owner_rules_their_own_team_alone() {
    let office = Office::open();
    let (ours, theirs) = (office.project().await, office.project().await);
    let owner = office.join("Asha", Access::one(ours, Role::Owner)).await.operator;
    let stranger = office.join("Ravi", Access::one(theirs, Role::Viewer)).await.operator;
    let chief = office.join("Chief", Access::everything()).await.operator;
    let (operators, by) = (&office.manage.operators, Requester::operator(&owner, None));

    let helper = operators.invite(&by, "Meena", Access::one(ours, Role::Support)).await.unwrap();
    for access in [Access::one(theirs, Role::Viewer), Access::everything(), Access::default()] {
        let refused = operators.invite(&by, "Eve", access.clone()).await;
        assert!(matches!(refused, Err(ManageError::Forbidden)));
        let refused = operators.change_access(&by, helper.operator.id, access).await;
        assert!(matches!(refused, Err(ManageError::Forbidden)));
    }
    for other in [stranger.id, chief.id] {
        let own = Access::one(ours, Role::Viewer);
        let refused = operators.change_access(&by, other, own).await;
        assert!(matches!(refused, Err(ManageError::Forbidden)));
        assert!(matches!(operators.remove(&by, other).await, Err(ManageError::Forbidden)));
    }
    let seen = operators.list(&by).await.unwrap();
    let mut names: Vec<_> = seen.iter().map(|operator| operator.name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["Asha", "Meena"]);
    assert_eq!(operators.list(&Requester::operator(&chief, None)).await.unwrap().len(), 4);
    operators.remove(&by, helper.operator.id).await.unwrap();
}

#[tokio::test]
async fn members_support_and_viewers_change_no_team() {
    let office = Office::open();
    let project = office.project().await;
    for role in [Role::Member, Role::Support, Role::Viewer] {
        let operator = office.join(role.as_str(), Access::one(project, role)).await.operator;
        let by = Requester::operator(&operator, None);
        let invited = office.manage.operators.invite(&by, "Eve", operator.access.clone()).await;
        assert!(matches!(invited, Err(ManageError::Forbidden)));
        let list = office.manage.operators.list(&by).await;
        assert!(matches!(list, Err(ManageError::Forbidden)));
        let made =
            office.manage.tokens.make(&by, new_token("eve", operator.access.clone(), DAY)).await;
        assert!(matches!(made, Err(ManageError::Forbidden)));
        let filter = AuditFilter { project: Some(project), ..AuditFilter::default() };
        let log = office.manage.audit_log.page(&by, filter, None, 9).await;
        assert!(matches!(log, Err(ManageError::Forbidden)));
    }
}

#[tokio::test]
async fn less_access_counts_for_the_very_next_request() {
    let office = Office::open();
    let project = office.project().await;
    let asha = office.join("Asha", Access::everything()).await;
    let by = Requester::command_line();
    let less = Access::one(project, Role::Viewer);
    for _ in 0..2 {
        office.manage.operators.change_access(&by, asha.operator.id, less.clone()).await.unwrap();
    }
    let changed = AuditFilter { action: Some(Action::OperatorChanged), ..AuditFilter::default() };
    let log = office.manage.audit_log.page(&by, changed, None, 9).await.unwrap();
    assert_eq!(log.len(), 1, "the second time altered nothing");
    let present = office.admin.sign_in.session(asha.token.expose()).await.unwrap().unwrap();
    assert_eq!(present.operator.access, less);
    office.manage.operators.remove(&by, asha.operator.id).await.unwrap();
    assert!(!office.is_in(&asha).await);
}

#[tokio::test]
async fn a_reset_is_for_the_command_line_and_leaves_nothing_that_lets_in() {
    let office = Office::open();
    let asha = office.join("Asha", Access::everything()).await;
    let operators = &office.manage.operators;
    let by = Requester::operator(&asha.operator, None);
    let refused = operators.reset(&by, asha.operator.id).await;
    assert!(matches!(refused, Err(ManageError::Forbidden)));
    for _ in 0..5 {
        let _ = office.sign_in("Asha", "wrong wrong wrong", None).await;
    }
    let first = operators.reset(&Requester::command_line(), asha.operator.id).await.unwrap();
    assert!(!office.is_in(&asha).await);
    assert!(matches!(office.sign_in("Asha", PASSWORD, None).await, Err(SignInError::Wrong)));
    let second = operators.reset(&Requester::command_line(), asha.operator.id).await.unwrap();
    let sign_in = &office.admin.sign_in;
    let old = sign_in.follow_link(first.secret.expose(), Some(PASSWORD), Client::default()).await;
    assert!(matches!(old, Err(SignInError::LinkGone)), "the older link is void");
    sign_in.follow_link(second.secret.expose(), Some(PASSWORD), Client::default()).await.unwrap();
    office.sign_in("Asha", PASSWORD, None).await.unwrap();
}

#[tokio::test]
async fn the_first_operator_is_made_once_and_signed_in_by_a_link() {
    let office = Office::open();
    let operators = &office.manage.operators;
    let name = || "owner".parse().unwrap();
    let first = operators.invite_first(name()).await.unwrap().unwrap();
    assert!(operators.invite_first(name()).await.unwrap().is_none());
    assert_eq!(office.actions().await, [Action::OperatorInvited]);
    let sign_in = &office.admin.sign_in;
    let secret = first.secret.expose();
    assert_eq!(sign_in.read_link(secret).await.unwrap().kind, LinkKind::SignIn);
    let chosen = sign_in.follow_link(secret, Some(PASSWORD), Client::default()).await;
    assert!(matches!(chosen, Err(SignInError::LinkGone)));
    let owner = sign_in.follow_link(secret, None, Client::default()).await.unwrap();
    assert!(owner.operator.access.everything && office.is_in(&owner).await);
    assert!(sign_in.follow_link(secret, None, Client::default()).await.is_err());
    let present = sign_in.session(owner.token.expose()).await.unwrap().unwrap();
    let by = Requester::operator(&owner.operator, None);
    office.admin.account.change_password(&by, &present, "", PASSWORD).await.unwrap();
    office.sign_in("owner", PASSWORD, None).await.unwrap();
}

#[tokio::test]
async fn tokens_may_what_their_maker_gave_them_until_they_end() {
    let office = Office::open();
    let ours = office.project().await;
    let owner = office.join("Asha", Access::everything()).await.operator;
    let (tokens, by) = (&office.manage.tokens, Requester::operator(&owner, None));
    let access = Access::one(ours, Role::Viewer);
    for lifetime in [Duration::ZERO, seconds(59), AdminToken::LONGEST + seconds(1)] {
        let refused = tokens.make(&by, new_token("deploy", access.clone(), lifetime)).await;
        assert!(matches!(refused, Err(ManageError::Invalid { field: "lifetime_seconds", .. })));
    }
    let (token, secret) = tokens.make(&by, new_token("deploy", access.clone(), DAY)).await.unwrap();
    assert_eq!((token.made_by.as_str(), &token.access), ("Asha", &access));
    let found = tokens.authenticate(secret.expose(), None).await.unwrap().unwrap();
    assert_eq!(found.used_at, Some(START));
    let notes = || office.store.faults().calls("AdminTokenStore::record_token_use");
    let noted = notes();
    tokens.authenticate(secret.expose(), None).await.unwrap().unwrap();
    assert_eq!(notes(), noted, "once a minute at most");
    office.clock.advance(minutes(1));
    tokens.authenticate(secret.expose(), None).await.unwrap().unwrap();
    assert_eq!(notes(), noted + 1);
    office.clock.advance(minutes(1));
    office.store.faults().next("AdminTokenStore::record_token_use", Fault::Fails);
    let unnoted = tokens.authenticate(secret.expose(), None).await.unwrap();
    assert!(unnoted.is_some(), "a store that takes no writes keeps nobody out");
    let more =
        tokens.make(&Requester::token(&found, None), new_token("more", access.clone(), DAY)).await;
    assert!(matches!(more, Err(ManageError::Forbidden)), "a viewer makes none");
    assert!(tokens.authenticate("svc_adm_x", None).await.unwrap().is_none());

    let (other, kept) = tokens.make(&by, new_token("other", access, DAY)).await.unwrap();
    tokens.revoke(&by, token.id).await.unwrap();
    assert!(tokens.authenticate(secret.expose(), None).await.unwrap().is_none());
    assert!(matches!(tokens.revoke(&by, token.id).await, Err(ManageError::NotFound(_))));
    office.clock.set(other.expires_at);
    assert!(tokens.authenticate(kept.expose(), None).await.unwrap().is_none());
}

#[tokio::test]
async fn a_token_hands_out_no_more_than_it_has_neither_access_nor_time() {
    let office = Office::open();
    let tokens = &office.manage.tokens;
    let own = Access::one(office.project().await, Role::Owner);
    let (lesser, _) =
        tokens.make(&Requester::command_line(), new_token("less", own.clone(), DAY)).await.unwrap();
    let refused =
        tokens.make(&Requester::token(&lesser, None), new_token("more", own, seconds(60))).await;
    assert!(matches!(refused, Err(ManageError::Forbidden)));
    let own = Access::everything();
    let new = NewAdminToken { may_delegate: true, ..new_token("ci", own.clone(), DAY) };
    let (token, _) = tokens.make(&Requester::command_line(), new).await.unwrap();
    let by = Requester::token(&token, None);
    office.clock.advance(minutes(1));
    let later = tokens.make(&by, new_token("later", own.clone(), DAY - minutes(1) + MS)).await;
    assert!(matches!(later, Err(ManageError::Invalid { field: "lifetime_seconds", .. })));
    let (child, _) =
        tokens.make(&by, new_token("child", own.clone(), DAY - minutes(1))).await.unwrap();
    assert_eq!((child.expires_at, child.made_by.as_str()), (token.expires_at, "token ci"));
    tokens.revoke(&Requester::command_line(), token.id).await.unwrap();
    let late = tokens.make(&by, new_token("late", own, seconds(60))).await;
    assert!(matches!(late, Err(ManageError::Forbidden)), "revoked since it was let in");
}

/// A thief who held a token for a minute has nothing left when the token expires.
#[tokio::test]
async fn a_token_leaves_nothing_behind_that_outlives_it_unless_it_was_made_for_that() {
    let office = Office::open();
    let all = Access::everything();
    let asha = office.join("Asha", all.clone()).await.operator;
    let (operators, tokens) = (&office.manage.operators, &office.manage.tokens);
    let (owner, new) =
        (Requester::operator(&asha, None), new_token("ci", all.clone(), seconds(60)));
    let (token, _) = tokens.make(&owner, new.clone()).await.unwrap();
    let (by, entries) = (Requester::token(&token, None), office.log().await.len());
    let invited = operators.invite(&by, "Eve", all.clone()).await;
    assert!(matches!(invited, Err(ManageError::MayNotDelegate)));
    let changed = operators.change_access(&by, asha.id, Access::default()).await;
    assert!(matches!(changed, Err(ManageError::MayNotDelegate)));
    assert!(matches!(operators.remove(&by, asha.id).await, Err(ManageError::MayNotDelegate)));
    for may_delegate in [false, true] {
        let made = tokens.make(&by, NewAdminToken { may_delegate, ..new.clone() }).await;
        assert!(matches!(made, Err(ManageError::MayNotDelegate)));
    }
    assert_eq!(office.log().await.len(), entries, "nothing was written down");
    assert_eq!(operators.list(&owner).await.unwrap().len(), 1);
    assert_eq!(tokens.list(&owner).await.unwrap().len(), 1);
    // Revoking another token does not help a token to outlive itself.
    tokens.revoke(&by, token.id).await.unwrap();

    let maker = NewAdminToken { may_delegate: true, ..new };
    let (made, _) = tokens.make(&owner, maker.clone()).await.unwrap();
    let by = Requester::token(&made, None);
    let (child, _) = tokens.make(&by, maker).await.unwrap();
    assert!(child.may_delegate && child.expires_at == made.expires_at);
    assert!(operators.invite(&by, "Eve", all).await.is_ok());
}

#[tokio::test]
async fn unmasking_a_number_needs_the_right_and_leaves_an_entry_without_it() {
    let office = Office::open();
    let project = office.project().await;
    let support = office.join("Meena", Access::one(project, Role::Support)).await.operator;
    let member = office.join("Asha", Access::one(project, Role::Member)).await.operator;
    let (activity, number) = (&office.manage.activity, phone(876_543_210));
    let refused = activity.unmask(&Requester::operator(&support, None), project, &number).await;
    assert!(matches!(refused, Err(ManageError::Forbidden)));
    let by = Requester::operator(&member, Some("192.0.2.7".parse().unwrap()));
    activity.unmask(&by, project, &number).await.unwrap();
    let log = office.log().await;
    let mut lines = log.iter().filter(|line| line.action == Action::PhoneUnmasked);
    let line = lines.next().unwrap();
    assert_eq!((lines.next(), line.project), (None, Some(project)));
    assert_eq!((line.subject.as_str(), line.from), ("+9198••••3210", by.from));
    assert_eq!(line.actor, by.actor);
}

#[tokio::test]
async fn without_an_audit_entry_nothing_changes() {
    let office = Office::open();
    let asha = office.join("Asha", Access::everything()).await.operator;
    let invited = office.invite("Ravi", Access::everything()).await;
    let (operators, by) = (&office.manage.operators, Requester::operator(&asha, None));
    let before = operators.list(&by).await.unwrap();
    let fail = || office.store.faults().next("AuditStore::append", Fault::Fails);
    fail();
    assert!(operators.invite(&by, "Eve", Access::everything()).await.is_err());
    fail();
    assert!(operators.remove(&by, asha.id).await.is_err());
    fail();
    assert!(operators.reset(&Requester::command_line(), asha.id).await.is_err());
    fail();
    assert!(operators.change_access(&by, asha.id, Access::default()).await.is_err());
    fail();
    let sign_in = &office.admin.sign_in;
    assert!(
        sign_in
            .follow_link(invited.secret.expose(), Some(PASSWORD), Client::default())
            .await
            .is_err()
    );
    fail();
    assert!(office.sign_in("Asha", PASSWORD, None).await.is_err());
    fail();
    let made = office.manage.tokens.make(&by, new_token("eve", Access::everything(), DAY)).await;
    assert!(made.is_err());
    assert_eq!(operators.list(&by).await.unwrap(), before);
    assert!(office.manage.tokens.list(&by).await.unwrap().is_empty());
    assert_eq!(sign_in.sessions(asha.id).await.unwrap().len(), 1);
    assert!(sign_in.read_link(invited.secret.expose()).await.is_ok());
}

/// A new link replaces the old one, for an operator who has never signed in.
#[tokio::test]
async fn an_invitation_is_renewed_until_somebody_has_followed_it() {
    let office = Office::open();
    let (operators, by) = (&office.manage.operators, Requester::command_line());
    let first = office.invite("Asha", Access::everything()).await;
    let id = first.operator.id;
    let ends = async || {
        let listed = operators.list(&by).await.unwrap();
        operators.sign_in_states(&by, &listed).await.unwrap()[&id].link_until
    };
    assert_eq!(ends().await, Some(first.expires_at));
    office.clock.advance(DAY);
    let second = operators.renew_invitation(&by, id).await.unwrap();
    assert_eq!(second.expires_at, START + DAY + OneTimeLink::INVITE);
    assert_eq!(ends().await, Some(second.expires_at));
    office.clock.set(second.expires_at);
    assert_eq!(ends().await, None, "over");
    let third = operators.renew_invitation(&by, id).await.unwrap();
    let follow = async |invited: &Invited| {
        let secret = invited.secret.expose();
        office.admin.sign_in.follow_link(secret, Some(PASSWORD), Client::default()).await
    };
    assert!(follow(&first).await.is_err() && follow(&second).await.is_err());
    follow(&third).await.unwrap();
    assert_eq!(ends().await, None, "used");
    let late = operators.renew_invitation(&by, id).await;
    assert!(matches!(late, Err(ManageError::Conflict(_))), "{late:?}");
    // Only the command line can give a new link to an operator who was reset.
    let reset = operators.reset(&by, id).await.unwrap();
    assert!(matches!(operators.renew_invitation(&by, id).await, Err(ManageError::Conflict(_))));
    assert_eq!(ends().await, Some(reset.expires_at));
    let renewed = office.actions().await.into_iter();
    assert_eq!(renewed.filter(|action| *action == Action::InvitationRenewed).count(), 2);
}

/// The team sees locks and slowed names, and an operator who may change the person can lift them.
#[tokio::test]
async fn somebody_who_is_locked_out_is_seen_and_unlocked() {
    let office = Office::open();
    let project = office.project().await;
    office.join("Asha", Access::one(project, Role::Viewer)).await;
    let owner = office.join("Ravi", Access::one(project, Role::Owner)).await.operator;
    let viewer = office.join("Meena", Access::one(project, Role::Viewer)).await.operator;
    let chief = office.join("Chief", Access::everything()).await.operator;
    let (operators, by) = (&office.manage.operators, Requester::operator(&owner, None));
    let lockout = async || {
        let listed = operators.list(&by).await.unwrap();
        let asha = listed.iter().find(|one| one.name.as_str() == "Asha").unwrap();
        (asha.id, operators.sign_in_states(&by, &listed).await.unwrap()[&asha.id].lockout)
    };
    let (id, none) = lockout().await;
    assert!(none.is_none());
    for number in 1..=2 {
        for _ in 0..5 {
            assert!(office.sign_in_from(number, ("Asha", "wrong")).await.is_err());
        }
    }
    let until = START + seconds(30);
    let locked = Lockout { locked: 2, locked_until: Some(until), slowed_until: None };
    assert_eq!(lockout().await.1, locked);
    for number in 3..=92 {
        assert!(office.sign_in_from(number, ("Asha", "wrong")).await.is_err());
    }
    let slowed = Lockout { slowed_until: Some(START + seconds(36)), ..locked };
    assert_eq!(lockout().await.1, slowed);
    let far = office.sign_in_from(200, ("Asha", PASSWORD)).await;
    assert!(matches!(far, Err(SignInError::Locked { .. })));

    let refused = operators.unlock(&Requester::operator(&viewer, None), id).await;
    assert!(matches!(refused, Err(ManageError::Forbidden)));
    assert!(matches!(operators.unlock(&by, chief.id).await, Err(ManageError::Forbidden)));
    assert_eq!(operators.unlock(&by, id).await.unwrap().name.as_str(), "Asha");
    assert!(lockout().await.1.is_none());
    for number in [1, 200] {
        office.sign_in_from(number, ("Asha", PASSWORD)).await.unwrap();
    }
    let unlocked = office.actions().await.into_iter();
    assert_eq!(unlocked.filter(|action| *action == Action::OperatorUnlocked).count(), 1);
}

#[tokio::test]
async fn nobody_renews_the_invitation_of_somebody_beyond_their_team() {
    let office = Office::open();
    let (ours, theirs) = (office.project().await, office.project().await);
    let owner = office.join("Ravi", Access::one(ours, Role::Owner)).await.operator;
    let viewer = office.join("Meena", Access::one(ours, Role::Viewer)).await.operator;
    let near = office.invite("Asha", Access::one(ours, Role::Viewer)).await.operator.id;
    let far = office.invite("Zoya", Access::one(theirs, Role::Viewer)).await.operator.id;
    let renew = async |who: &dwar_operator::Operator, whose| {
        office.manage.operators.renew_invitation(&Requester::operator(who, None), whose).await
    };
    renew(&owner, near).await.unwrap();
    for (who, whose) in [(&owner, far), (&viewer, near)] {
        assert!(matches!(renew(who, whose).await, Err(ManageError::Forbidden)));
    }
}
