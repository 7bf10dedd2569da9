use crate::format::capital;
use dwar_operator::Action;

pub(crate) const TITLE: &str = "Audit log";
pub(crate) const LEAD: &str = "Every change made on a page, by API or on the command line, recorded before it takes effect. Contains no secrets or phone numbers.";
pub(crate) const HEADS: [&str; 5] = ["Time", "User", "Action", "Target", "Change"];
pub(crate) const EMPTY: &str = "No changes yet.";
pub(crate) const NONE_WANTED: &str = "No changes match these filters.";
pub(crate) const ANYBODY: &str = "Anyone";
pub(crate) const COMMAND_LINE: &str = "Command line";
pub(crate) const ANYTHING: &str = "Any action";
pub(crate) const CLEAR: &str = "Clear";
pub(crate) const EXPORT: &str = "Export";
pub(crate) const EXPORT_HINT: &str =
    "All entries that match, as a file with a JSON object a line and times in UTC";
pub(crate) const BEFORE_AND_AFTER: [&str; 2] = ["Before", "After"];
pub(crate) const NOTHING: &str = "–";

/// The name of a fact as words; the log has it as `expires_at`.
pub(crate) fn fact(name: &str) -> String {
    let words = name.split('_').map(|word| match word {
        "id" => "ID",
        "sms" => "SMS",
        "url" => "URL",
        "webotp" => "WebOTP",
        "whatsapp" => "WhatsApp",
        word => word,
    });
    capital(&words.collect::<Vec<_>>().join(" "))
}

pub(crate) const fn did(action: Action) -> &'static str {
    match action {
        Action::ProjectCreated => "Created the project",
        Action::ProjectChanged => "Changed the settings",
        Action::ProjectRepriced => "Changed the prices",
        Action::ProjectArchived => "Archived the project",
        Action::ProjectRestored => "Restored the project",
        Action::KeyRegenerated => "Replaced an API key",
        Action::WalletCredited => "Paid into the wallet",
        Action::WalletRefunded => "Refunded a charge",
        Action::WalletAdjusted => "Corrected the balance",
        Action::LedgerProved => "Ran the ledger check",
        Action::LedgerClosed => "Closed a month of the ledger",
        Action::HookAdded => "Added a hook",
        Action::HookChanged => "Changed a hook",
        Action::HookRemoved => "Removed a hook",
        Action::HookSecretRotated => "Replaced a hook's secret",
        Action::EndpointAdded => "Added an endpoint of events",
        Action::EndpointRemoved => "Removed an endpoint of events",
        Action::EndpointEnabled => "Enabled an endpoint of events",
        Action::EndpointSecretRotated => "Replaced the secret of an endpoint of events",
        Action::ProviderTested => "Sent a test by a provider",
        Action::EndpointTested => "Tested an endpoint of events",
        Action::EventResent => "Sent an event again",
        Action::SigningKeyRotated => "Rotated the signing key",
        Action::DatabaseRestored => "Restored the database from a backup",
        Action::PhoneUnlocked => "Cleared failed attempts of a number",
        Action::PhoneUnmasked => "Viewed a full phone number",
        Action::PhoneSearched => "Searched for a phone number",
        Action::IdentityErased => "Erased an identity",
        Action::SessionsEnded => "Ended sessions of an identity",
        Action::OperatorInvited => "Invited a person",
        Action::InvitationRenewed => "Renewed an invitation",
        Action::OperatorChanged => "Changed a person's access",
        Action::OperatorReset => "Reset a person's sign-in",
        Action::OperatorUnlocked => "Unlocked a person",
        Action::OperatorRemoved => "Removed a person",
        Action::OperatorJoined => "Accepted the invitation",
        Action::OperatorSignedIn => "Signed in",
        Action::OperatorSignedOut => "Signed out",
        Action::PasswordChanged => "Changed their password",
        Action::TotpAdded => "Added an authenticator app",
        Action::TotpRemoved => "Removed the authenticator app",
        Action::PasskeyAdded => "Added a passkey",
        Action::PasskeyRemoved => "Removed a passkey",
        Action::PasskeyRefused => "Was refused: the passkey may have been copied",
        Action::TokenMade => "Created an admin token",
        Action::TokenRevoked => "Revoked an admin token",
    }
}
