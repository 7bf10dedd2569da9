use dwar_kernel::{AdminTokenId, AuditId, OperatorId, ProjectId, Timestamp, words};
use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;
use uuid::Uuid;

words! {
    Action {
        ProjectCreated = "project.created",
        ProjectChanged = "project.changed",
        ProjectRepriced = "project.repriced",
        /// A project was archived: its API keys are refused.
        ProjectArchived = "project.archived",
        /// A project was restored: its API keys are accepted again.
        ProjectRestored = "project.restored",
        KeyRegenerated = "key.regenerated",
        WalletCredited = "wallet.credited",
        WalletRefunded = "wallet.refunded",
        WalletAdjusted = "wallet.adjusted",
        /// A check of a ledger's sums was started.
        LedgerProved = "ledger.proved",
        /// A month of a ledger was exported and closed.
        LedgerClosed = "ledger.closed",
        EndpointAdded = "endpoint.added",
        EndpointRemoved = "endpoint.removed",
        /// A webhook was enabled again.
        EndpointEnabled = "endpoint.enabled",
        /// A webhook got a new secret.
        EndpointSecretRotated = "endpoint.secret_rotated",
        /// A webhook was called with a test event.
        EndpointTested = "endpoint.tested",
        ProviderTested = "provider.tested",
        EventResent = "event.resent",
        /// A hook for the codes of another login system was added.
        HookAdded = "hook.added",
        /// The lifetimes of a hook's codes were changed.
        HookChanged = "hook.changed",
        /// A hook was removed.
        HookRemoved = "hook.removed",
        /// A hook got a new secret.
        HookSecretRotated = "hook.secret_rotated",
        SigningKeyRotated = "signing_key.rotated",
        /// The database was restored from a backup.
        DatabaseRestored = "database.restored",
        /// The wrong codes of a phone were cleared.
        PhoneUnlocked = "phone.unlocked",
        /// An operator or a token read a full phone number.
        PhoneUnmasked = "phone.unmasked",
        /// A phone number was searched for by an operator or a token that sees numbers masked.
        PhoneSearched = "phone.searched",
        IdentityErased = "identity.erased",
        SessionsEnded = "identity.sessions_ended",
        OperatorInvited = "operator.invited",
        InvitationRenewed = "operator.invitation_renewed",
        OperatorChanged = "operator.changed",
        /// An operator's password, second factor and passkeys were removed, and a new link was
        /// made.
        OperatorReset = "operator.reset",
        /// The failed sign-ins of an operator were cleared.
        OperatorUnlocked = "operator.unlocked",
        OperatorRemoved = "operator.removed",
        OperatorJoined = "operator.joined",
        OperatorSignedIn = "operator.signed_in",
        OperatorSignedOut = "operator.signed_out",
        PasswordChanged = "operator.password_changed",
        TotpAdded = "operator.totp_added",
        TotpRemoved = "operator.totp_removed",
        PasskeyAdded = "operator.passkey_added",
        PasskeyRemoved = "operator.passkey_removed",
        /// A passkey was refused because its counter did not grow: it may have been copied.
        PasskeyRefused = "operator.passkey_refused",
        /// A token of the admin API was created.
        TokenMade = "token.made",
        /// A token of the admin API was revoked.
        TokenRevoked = "token.revoked",
    }
}

/// Author of a change. Names are as they were at that time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Actor {
    CommandLine,
    Operator {
        id: OperatorId,
        name: String,
    },
    /// A program that used a token of the admin API.
    Token {
        id: AdminTokenId,
        name: String,
    },
}

/// Text for people: `Asha`, `token deploy`, `command line`.
impl fmt::Display for Actor {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CommandLine => out.write_str("command line"),
            Self::Operator { name, .. } => out.write_str(name),
            Self::Token { name, .. } => write!(out, "token {name}"),
        }
    }
}

/// Filter by author, in the form of addresses and queries: `command_line`, or the id of an operator or token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActorFilter {
    CommandLine,
    Id(Uuid),
}

/// Parse error: the text is not the form of an [`ActorFilter`].
#[derive(Debug, thiserror::Error)]
#[error("command_line, or the id of an operator or a token")]
pub struct InvalidActor;

const COMMAND_LINE: &str = "command_line";

impl FromStr for ActorFilter {
    type Err = InvalidActor;

    fn from_str(text: &str) -> Result<Self, InvalidActor> {
        match text {
            COMMAND_LINE => Ok(Self::CommandLine),
            id => id.parse().map(Self::Id).map_err(|_| InvalidActor),
        }
    }
}

impl fmt::Display for ActorFilter {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CommandLine => out.write_str(COMMAND_LINE),
            Self::Id(id) => id.fmt(out),
        }
    }
}

impl From<&Actor> for ActorFilter {
    fn from(actor: &Actor) -> Self {
        match actor {
            Actor::CommandLine => Self::CommandLine,
            Actor::Operator { id, .. } => Self::Id(id.uuid()),
            Actor::Token { id, .. } => Self::Id(id.uuid()),
        }
    }
}

/// An entry of the audit log. It is written before the change, so that every change has one; a change that
/// then fails leaves its entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditEntry {
    /// Also settles the order of equal times.
    pub id: AuditId,
    pub at: Timestamp,
    pub actor: Actor,
    /// Address that the request came from, if known.
    pub from: Option<IpAddr>,
    /// The project concerned; `None` for changes of the installation.
    pub project: Option<ProjectId>,
    pub action: Action,
    /// The changed thing: an id, a name, a masked number.
    pub subject: String,
    pub before: Option<String>,
    /// The state after the change, as a JSON object.
    pub after: Option<String>,
}

/// Filter of audit entries; unset fields match everything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// `None` matches all projects, and entries of the installation.
    pub project: Option<ProjectId>,
    pub actor: Option<ActorFilter>,
    pub action: Option<Action>,
    pub since: Option<Timestamp>,
    /// Exclusive.
    pub until: Option<Timestamp>,
}

/// Position after the last entry of a page; the next page begins there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuditCursor {
    /// Time of the last entry of the page.
    pub at: Timestamp,
    pub id: AuditId,
}

impl AuditEntry {
    /// The cursor of a page that ends with this entry.
    pub const fn cursor(&self) -> AuditCursor {
        AuditCursor { at: self.at, id: self.id }
    }

    /// Whether this entry comes after `cursor`: newest first, equal times by id.
    pub fn follows(&self, cursor: AuditCursor) -> bool {
        (self.at, self.id) < (cursor.at, cursor.id)
    }
}

impl AuditFilter {
    /// Whether the entry matches every field of the filter.
    pub fn wants(&self, entry: &AuditEntry) -> bool {
        self.project.is_none_or(|project| entry.project == Some(project))
            && self.actor.is_none_or(|actor| ActorFilter::from(&entry.actor) == actor)
            && self.action.is_none_or(|action| entry.action == action)
            && self.since.is_none_or(|since| entry.at >= since)
            && self.until.is_none_or(|until| entry.at < until)
    }
}
