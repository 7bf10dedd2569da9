//! The table: the requests for each command at each door, and the expected result.

mod activity;
mod hooks;
mod identities;
mod installation;
mod people;
mod projects;
mod settings;
mod wallet;
mod webhook_calls;
mod webhooks;

use crate::doors::asking::DoorCall;
use crate::doors::stage::About;
use crate::doors::verdict::Verdict;
use dwar_operator::{Action, Command};

pub struct Row {
    pub about: About,
    pub entry: Entry,
    pub wrong: Wrong,
    pub elsewhere: Elsewhere,
    pub api: Door,
    pub pages: Door,
    pub cli: Door,
}

/// The entry in the audit log if the command is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    None,
    Always(Action),
    /// For callers who see phone numbers masked.
    IfMasked(Action),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// There is no such project.
    Project,
    /// Another subject. Callers with the right get this verdict.
    Says(Verdict),
}

/// The verdict elsewhere for callers with the right there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Elsewhere {
    Says(Verdict),
    /// The store answers this after the audit entry was written.
    StoreSays(Verdict),
    /// It is done for callers who may give roles there; others get this verdict.
    UnlessTheirTeam(Verdict),
}

/// The ways to make a request at a door. The first way of each door asks for the same as that of
/// the others.
pub enum Door {
    Calls(Vec<DoorCall>),
    /// None, for this reason.
    None(&'static str),
}

const DONE: Elsewhere = Elsewhere::Says(Verdict::Done);
const NOT_THERE: Elsewhere = Elsewhere::Says(Verdict::NotFound);
const INVALID: Wrong = Wrong::Says(Verdict::Invalid);
const UNKNOWN: Wrong = Wrong::Says(Verdict::NotFound);

const READ: Row = Row {
    about: About::Nothing,
    entry: Entry::None,
    wrong: Wrong::Project,
    elsewhere: DONE,
    api: Door::None(""),
    pages: Door::None(""),
    cli: Door::None(""),
};

/// The row of a command. A new command does not compile until it has one.
pub fn row(command: Command) -> Row {
    match command {
        Command::ListProjects => projects::list(),
        Command::CreateProject => projects::create(),
        Command::ShowProject => projects::show(),
        Command::ChangeProject => settings::change(),
        Command::ChangePrices => settings::reprice(),
        Command::ArchiveProject => projects::archive(),
        Command::RestoreProject => projects::restore(),
        Command::UnlockPhone => activity::unlock(),
        Command::ShowFigures => activity::figures(),
        Command::ListRequests => activity::list(),
        Command::DownloadRequests => activity::download(),
        Command::ListRefusedRequests => activity::refused(),
        Command::SearchRequests => activity::search(),
        Command::ShowRequest => activity::show(),
        Command::UnmaskRequest => activity::unmask(),
        Command::ListKeys => projects::keys(),
        Command::RegenerateKey => projects::regenerate(),
        Command::ShowWallet => wallet::show(),
        Command::CreditWallet => wallet::credit(),
        Command::RefundSend => wallet::refund(),
        Command::AdjustWallet => wallet::adjust(),
        Command::ProveWallets => wallet::prove_all(),
        Command::ListWalletEntries => wallet::entries(),
        Command::DownloadStatement => wallet::statement(),
        Command::ShowWalletProof => wallet::proof(),
        Command::BeginWalletProof => wallet::prove(),
        Command::CloseMonths => wallet::close(),
        Command::ListWebhooks => webhooks::list(),
        Command::AddWebhook => webhooks::add(),
        Command::RotateWebhookSecret => webhooks::rotate(),
        Command::EnableWebhook => webhooks::enable(),
        Command::RemoveWebhook => webhooks::remove(),
        Command::ListWebhookCalls => webhook_calls::list(),
        Command::TestWebhook => webhook_calls::test(),
        Command::ProbeProvider => settings::probe(),
        Command::TestProvider => settings::test(),
        Command::ResendEvent => webhook_calls::resend(),
        Command::ListHooks => hooks::list(),
        Command::AddHook => hooks::add(),
        Command::ChangeHook => hooks::change(),
        Command::RotateHookSecret => hooks::rotate(),
        Command::RemoveHook => hooks::remove(),
        Command::ShowIdentity => identities::show(),
        Command::FindIdentity => identities::find(),
        Command::EraseIdentity => identities::erase(),
        Command::ListSessions => identities::sessions(),
        Command::EndSessions => identities::end_sessions(),
        Command::EndSession => identities::end_session(),
        Command::Play => projects::play(),
        Command::ListOperators => people::operators(),
        Command::InviteOperator => people::invite(),
        Command::RenewInvitation => people::renew(),
        Command::ChangeOperator => people::change(),
        Command::ResetOperator => people::reset(),
        Command::UnlockOperator => people::unlock(),
        Command::RemoveOperator => people::remove(),
        Command::ListTokens => people::tokens(),
        Command::MakeToken => people::make_token(),
        Command::RevokeToken => people::revoke_token(),
        Command::ListAudit => installation::audit(),
        Command::ExportAudit => installation::export(),
        Command::ListProjectAudit => installation::project_audit(),
        Command::ExportProjectAudit => installation::project_export(),
        Command::ListSigningKeys => installation::signing_keys(),
        Command::RotateSigningKey => installation::rotate(),
        Command::ShowOperations => installation::operations(),
        Command::ListAlerts => installation::alerts(),
        Command::ListProjectAlerts => installation::project_alerts(),
    }
}
