//! Every change has an audit entry, written before the change is made.

use crate::common::{Office, PASSWORD};
use dwar_console::{ManageError, NewAdminToken, SignedInOperator};
use dwar_kernel::{Channel, KeyMode, ProjectId};
use dwar_memory::Fault;
use dwar_operator::{Access, Action, Client, Command, EndSessions, Requester, Role};
use dwar_project::{ProjectChange, ProjectName};
use dwar_testkit::{START, ledger_of, new_token, phone};
use dwar_wallet::{Amount, Paise};
use std::collections::BTreeSet;
use std::pin::Pin;
use std::time::Duration;

const DAY: Duration = Duration::from_secs(86_400);
const URL: &str = "https://user:hush@events.example.com/hook/hush?token=hush";

/// An office with one of everything that can be changed.
struct Walk {
    office: Office,
    name: ProjectName,
    project: ProjectId,
    archived: ProjectId,
    endpoint: dwar_kernel::EndpointId,
    identity: dwar_kernel::IdentityId,
    present: SignedInOperator,
    other: dwar_kernel::OperatorId,
    invited: dwar_kernel::OperatorId,
    token: dwar_kernel::AdminTokenId,
    link: String,
}

impl Walk {
    async fn open() -> Self {
        let office = Office::open();
        let by = Requester::command_line();
        let (name, projects) = ("Chai".parse().unwrap(), &office.manage.projects);
        let project = projects.create(&by, &name, Amount::from(500)).await.unwrap();
        let archived = projects.create(&by, &name, Amount::ZERO).await.unwrap().id;
        projects.archive(&by, archived).await.unwrap();
        let (endpoint, _) = office.manage.endpoints.add(&by, project.id, URL, false).await.unwrap();
        let line = office.make.line(project.id.in_mode(KeyMode::Live));
        let login = office.make.login(&line);
        let identity = office.make.log_in(&*office.stores.logins, &line, login).await;
        let asha = office.join("Asha", Access::everything()).await;
        let other = office.join("Ravi", Access::everything()).await.operator.id;
        let link = office.invite("Meena", Access::everything()).await.secret.expose().to_owned();
        let invited = office.invite("Zoya", Access::everything()).await.operator.id;
        let tokens = &office.manage.tokens;
        let (token, _) = tokens.make(&by, maker("deploy")).await.unwrap();
        Self {
            project: project.id,
            archived,
            endpoint: endpoint.id,
            identity,
            present: SignedInOperator { operator: asha.operator, session: asha.session },
            other,
            invited,
            token: token.id,
            link,
            name: "New".parse().unwrap(),
            office,
        }
    }

    /// Everything that is visible from outside, except the log.
    async fn seen(&self) -> String {
        let stores = &self.office.stores;
        let (projects, id) = (stores.projects.list().await.unwrap(), self.project);
        let keys = stores.projects.keys(id).await.unwrap();
        let wallet = ledger_of(&*stores.console.ledger, id).await;
        let endpoints = stores.events.endpoints(id).await.unwrap();
        let signing_keys = stores.signing_keys.keys(START).await.unwrap();
        let identity =
            stores.identities.find(id.in_mode(KeyMode::Live), self.identity).await.unwrap();
        let operators = stores.console.operators.list().await.unwrap();
        let sessions = stores.console.operators.sessions(self.present.operator.id).await.unwrap();
        let tokens = stores.console.admin_tokens.tokens().await.unwrap();
        // `Debug` hides a hash, but it can be compared.
        let hashes: Vec<_> = operators
            .iter()
            .map(|one| one.password.as_ref().map(|hash| hash.as_str().to_owned()))
            .collect();
        let digests: Vec<_> = keys.iter().map(|key| key.digest.0).collect();
        let links = stores.console.operators.links().await.unwrap();
        let links: Vec<_> = links.iter().map(|link| link.digest.0).collect();
        let secrets: Vec<_> = endpoints.iter().map(|one| one.secret.present.0.clone()).collect();
        format!(
            "{projects:?}{keys:?}{wallet:?}{endpoints:?}{signing_keys:?}{identity:?}{operators:?}\
             {sessions:?}{tokens:?}{hashes:?}{digests:?}{links:?}{secrets:?}"
        )
    }
}

type AuditedStep =
    for<'a> fn(&'a Walk, &'a Requester) -> Pin<Box<dyn Future<Output = bool> + Send + 'a>>;

macro_rules! step {
    (|$walk:ident, $by:ident| $call:expr) => {
        |$walk, $by| Box::pin(async move { $call.await.is_ok() })
    };
}

fn settings() -> ProjectChange {
    ProjectChange { name: Some("Dabba +91 98765 43210".to_owned()), ..ProjectChange::default() }
}

fn prices() -> ProjectChange {
    ProjectChange { sms_price: Some(Some(Paise(9))), ..settings() }
}

fn maker(name: &str) -> NewAdminToken<'_> {
    NewAdminToken { may_delegate: true, ..new_token(name, Access::everything(), DAY) }
}

/// Every change that an operator can make; each succeeds on a fresh [`Walk`].
#[rustfmt::skip]
fn every_change() -> Vec<(Action, Option<Command>, AuditedStep)> {
    use Action::*;
    vec![
        (ProjectCreated, Some(Command::CreateProject), step!(|w, by| w.office.manage.projects.create(by, &w.name, Amount::from(5)))),
        (ProjectChanged, Some(Command::ChangeProject), step!(|w, by| w.office.manage.projects.change(by, w.project, settings()))),
        (ProjectRepriced, Some(Command::ChangePrices), step!(|w, by| w.office.manage.projects.change(by, w.project, prices()))),
        (ProjectArchived, Some(Command::ArchiveProject), step!(|w, by| w.office.manage.projects.archive(by, w.project))),
        (ProjectRestored, Some(Command::RestoreProject), step!(|w, by| w.office.manage.projects.restore(by, w.archived))),
        (KeyRegenerated, Some(Command::RegenerateKey), step!(|w, by| w.office.manage.projects.regenerate_key(by, w.project.in_mode(KeyMode::Live), None))),
        (WalletCredited, Some(Command::CreditWallet), step!(|w, by| w.office.manage.wallets.credit(by, w.project, Amount::from(5), Some("for 9876543210".parse().unwrap())))),
        // There is nothing to refund, which is noticed after the entry was written.
        (WalletRefunded, Some(Command::RefundSend), |w, by| Box::pin(async move {
            let answer = w.office.manage.wallets.refund(by, w.project, w.office.make.id()).await;
            matches!(answer, Err(ManageError::Conflict(_)))
        })),
        (WalletAdjusted, Some(Command::AdjustWallet), step!(|w, by| w.office.manage.wallets.adjust(by, w.project, (-1).try_into().unwrap(), "typo".parse().unwrap()))),
        (EndpointAdded, Some(Command::AddWebhook), step!(|w, by| w.office.manage.endpoints.add(by, w.project, URL, true))),
        (EndpointRemoved, Some(Command::RemoveWebhook), step!(|w, by| w.office.manage.endpoints.remove(by, w.project, w.endpoint))),
        (EndpointEnabled, Some(Command::EnableWebhook), step!(|w, by| w.office.manage.endpoints.enable(by, w.project, w.endpoint))),
        (EndpointSecretRotated, Some(Command::RotateWebhookSecret), step!(|w, by| w.office.manage.endpoints.rotate_secret(by, w.project, w.endpoint))),
        (EndpointTested, Some(Command::TestWebhook), step!(|w, by| w.office.manage.endpoint_log.test(by, w.project, w.endpoint))),
        (ProviderTested, Some(Command::TestProvider), step!(|w, by| w.office.manage.provider_test.send(by, w.project, (Channel::Sms, "msg91"), &phone(876_543_210)))),
        // The event is not on record, which is noticed after the entry was written.
        (EventResent, Some(Command::ResendEvent), |w, by| Box::pin(async move {
            let event = "otp_sent_1".parse().unwrap();
            let answer = w.office.manage.endpoint_log.resend(by, w.project, w.endpoint, &event).await;
            matches!(answer, Err(ManageError::NotFound(_)))
        })),
        (SigningKeyRotated, Some(Command::RotateSigningKey), step!(|w, by| w.office.manage.signing_keys.rotate(by))),
        (PhoneUnlocked, Some(Command::UnlockPhone), step!(|w, by| w.office.manage.phones.unlock(by, w.project, &phone(876_543_210)))),
        (PhoneUnmasked, Some(Command::UnmaskRequest), step!(|w, by| w.office.manage.activity.unmask(by, w.project, &phone(876_543_210)))),
        (IdentityErased, Some(Command::EraseIdentity), step!(|w, by| w.office.manage.identities.erase(by, w.project.in_mode(KeyMode::Live), w.identity))),
        (OperatorInvited, None, step!(|w, by| w.office.manage.operators.invite(by, "Eve", Access::everything()))),
        (OperatorChanged, None, step!(|w, by| w.office.manage.operators.change_access(by, w.other, Access::default()))),
        (OperatorReset, None, step!(|w, _by| w.office.manage.operators.reset(&Requester::command_line(), w.other))),
        (InvitationRenewed, None, step!(|w, by| w.office.manage.operators.renew_invitation(by, w.invited))),
        (OperatorRemoved, None, step!(|w, by| w.office.manage.operators.remove(by, w.other))),
        (OperatorJoined, None, step!(|w, _by| w.office.admin.sign_in.follow_link(&w.link, Some(PASSWORD), Client::default()))),
        (OperatorSignedIn, None, step!(|w, _by| w.office.sign_in("Asha", PASSWORD, None))),
        (OperatorSignedOut, None, step!(|w, _by| w.office.admin.sign_in.sign_out(&w.present, EndSessions::All, None))),
        (PasswordChanged, None, step!(|w, by| w.office.admin.account.change_password(by, &w.present, PASSWORD, "another good one"))),
        (TotpAdded, None, |w, by| Box::pin(async move {
            let offer = w.office.admin.account.offer_totp(&w.present.operator);
            let pair = (offer.secret.expose(), w.office.code(&offer.secret));
            w.office.admin.account.add_totp(by, &w.present, PASSWORD, (&pair.0, &pair.1)).await.is_ok()
        })),
        (TotpRemoved, None, step!(|w, by| w.office.admin.account.remove_totp(by, &w.present, PASSWORD))),
        (TokenMade, Some(Command::MakeToken), step!(|w, by| w.office.manage.tokens.make(by, maker("other")))),
        (TokenRevoked, Some(Command::RevokeToken), step!(|w, by| w.office.manage.tokens.revoke(by, w.token))),
    ]
}

/// Changes with no effect that is visible here, or with nothing to change.
const UNSEEN: [Action; 7] = [
    Action::WalletRefunded,
    Action::EndpointEnabled,
    Action::EndpointTested,
    Action::EventResent,
    Action::PhoneUnlocked,
    Action::PhoneUnmasked,
    Action::TotpRemoved,
];

#[tokio::test]
async fn each_change_leaves_exactly_one_entry_and_no_secret_or_number_in_it() {
    let mut actions = BTreeSet::new();
    for (action, _, change) in every_change() {
        let walk = Walk::open().await;
        let (before, seen) = (walk.office.log().await, walk.seen().await);
        let by = Requester::operator(&walk.present.operator, Some([192, 0, 2, 7].into()));
        assert!(change(&walk, &by).await, "{action:?}");
        let mut log = walk.office.log().await;
        log.retain(|entry| !before.contains(entry));
        assert_eq!(log.len(), 1, "{action:?}: {log:?}");
        assert_eq!(log[0].action, action);
        let text = format!("{log:?}");
        for hush in ["hush", "98765 43210", "9876543210", PASSWORD, "whsec_", "svc_"] {
            assert!(!text.contains(hush), "{hush} in {text}");
        }
        assert_eq!(walk.seen().await != seen, !UNSEEN.contains(&action), "{action:?}");
        assert!(actions.insert(action.as_str()), "{action:?} twice");
    }
    assert_eq!(actions.len(), 33, "an action that no change here has");
}

#[tokio::test]
async fn without_an_audit_entry_no_change_is_made() {
    for (action, _, change) in every_change() {
        let walk = Walk::open().await;
        let (log, seen) = (walk.office.log().await, walk.seen().await);
        walk.office.store.faults().next("AuditStore::append", Fault::Fails);
        let by = Requester::operator(&walk.present.operator, None);
        assert!(!change(&walk, &by).await, "{action:?}");
        assert_eq!(walk.office.log().await, log, "{action:?}");
        assert_eq!(walk.seen().await, seen, "{action:?}");
    }
}

/// The entry is written where the right is checked, so no page can forget either.
#[tokio::test]
async fn what_a_role_does_not_allow_is_neither_done_nor_written_down() {
    for role in Role::ALL {
        for (action, command, change) in every_change() {
            // Their rights depend on the operator concerned; the tests of each cover them.
            let Some(command) = command else { continue };
            let walk = Walk::open().await;
            let (log, seen) = (walk.office.log().await, walk.seen().await);
            let mut operator = walk.present.operator.clone();
            operator.access = Access {
                projects: [(walk.project, role), (walk.archived, role)].into(),
                ..Access::default()
            };
            let by = Requester::operator(&operator, None);
            let allowed = by.may(command, Some(walk.project));
            assert_eq!(change(&walk, &by).await, allowed, "{role:?} {action:?}");
            if !allowed {
                assert_eq!(walk.office.log().await, log, "{role:?} {action:?}");
                assert_eq!(walk.seen().await, seen, "{role:?} {action:?}");
            }
        }
    }
}

#[tokio::test]
async fn an_entry_says_who_and_what_was_and_is_to_be() {
    let walk = Walk::open().await;
    let by = Requester::operator(&walk.present.operator, Some([192, 0, 2, 7].into()));
    let projects = &walk.office.manage.projects;
    projects.change(&by, walk.project, prices()).await.unwrap();
    let log = walk.office.log().await;
    let line = log.iter().find(|entry| entry.action == Action::ProjectRepriced).unwrap();
    assert_eq!((&line.actor, line.from, line.project), (&by.actor, by.from, Some(walk.project)));
    let before = r#"{"name":"Chai","sms_price_paise":null}"#;
    let after = r#"{"name":"Dabba +9198••••3210","sms_price_paise":9}"#;
    assert_eq!((line.before.as_deref(), line.after.as_deref()), (Some(before), Some(after)));
}
