use dwar_operator::Action;

pub(crate) const TITLE: &str = "Audit log";
pub(crate) const LEAD: &str = "Every change made on a page, by API or on the command line, recorded before it takes effect. Contains no secrets or phone numbers.";
pub(crate) const HEADS: [&str; 5] = ["Time", "User", "Action", "Target", "Change"];
pub(crate) const EMPTY: &str = "No changes yet.";
pub(crate) const NONE_WANTED: &str = "No changes match these filters.";
pub(crate) const FILTERS: &str = "Filters";
pub(crate) const ANYTHING: &str = "Any action";
pub(crate) const FROM: &str = "From (IST)";
pub(crate) const UNTIL: &str = "To (IST)";
pub(crate) const APPLY: &str = "Apply";
pub(crate) const CLEAR: &str = "Clear";
pub(crate) const OLDER: &str = "Older";
pub(crate) const NOTHING: &str = "–";

/// What somebody did, as the end of a sentence that begins with who it was.
pub(crate) const fn did(action: Action) -> &'static str {
    match action {
        Action::ProjectCreated => "created the project",
        Action::ProjectChanged => "changed the settings",
        Action::ProjectRepriced => "changed the prices",
        Action::KeyRegenerated => "replaced an API key",
        Action::WalletCredited => "added credit",
        Action::WalletRefunded => "refunded a charge",
        Action::WalletAdjusted => "corrected the balance",
        Action::LedgerProved => "ran the ledger check",
        Action::EndpointAdded => "added a webhook endpoint",
        Action::EndpointRemoved => "removed a webhook endpoint",
        Action::EndpointEnabled => "enabled a webhook endpoint",
        Action::EndpointSecretRotated => "replaced a webhook secret",
        Action::EndpointTested => "tested a webhook endpoint",
        Action::EventResent => "sent an event again",
        Action::SigningKeyRotated => "rotated the signing key",
        Action::PhoneUnlocked => "cleared failed attempts of a number",
        Action::PhoneUnmasked => "viewed a full phone number",
        Action::PhoneSearched => "searched for a phone number",
        Action::IdentityErased => "erased an identity",
        Action::SessionsEnded => "ended sessions of an identity",
        Action::OperatorInvited => "invited an operator",
        Action::InvitationRenewed => "renewed an invitation",
        Action::OperatorChanged => "changed an operator's access",
        Action::OperatorReset => "reset an operator's sign-in",
        Action::OperatorRemoved => "removed an operator",
        Action::OperatorJoined => "accepted the invitation",
        Action::OperatorSignedIn => "signed in",
        Action::OperatorSignedOut => "signed out",
        Action::PasswordChanged => "changed their password",
        Action::TotpAdded => "added an authenticator app",
        Action::TotpRemoved => "removed the authenticator app",
        Action::PasskeyAdded => "added a passkey",
        Action::PasskeyRemoved => "removed a passkey",
        Action::PasskeyRefused => "was refused: the passkey may have been copied",
        Action::TokenMade => "created an admin token",
        Action::TokenRevoked => "revoked an admin token",
    }
}
