use crate::{Phone, ProjectId, ProjectMode, StoreError};
use derive_more::Debug;

/// What a digest or a sealed value is for: a value made for one purpose is useless for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Purpose {
    ApiKey,
    RefreshToken,
    RefreshTokenMac,
    /// Look-up digest of an `Idempotency-Key` and fingerprint of the body behind it.
    Idempotency,
    Phone,
    /// A code that a fallback may still have to send.
    Code,
    Answer,
    SandboxMessage,
    SigningKey,
    /// The secret that signs a project's events.
    WebhookSecret,
    /// What another system proves itself with at a hook.
    HookSecret,
    /// Look-up digest of what a provider calls a message.
    ProviderReference,
    /// Digest by which a checked access token is recognised.
    AccessToken,
    /// Look-up digest of a link that lets an operator in.
    OperatorLink,
    /// Look-up digest of an operator's session.
    OperatorSession,
    /// What the forms of an operator's session carry.
    OperatorForm,
    /// Name that somebody tried to sign in with.
    OperatorName,
    /// Name that somebody tried to sign in with, and from which network.
    OperatorOrigin,
    /// MAC inside what a browser keeps of an operator who signed in there.
    OperatorBrowser,
    /// MAC inside what a browser keeps between the password and the code of an authenticator app.
    OperatorPending,
    /// Secret of an operator's second factor.
    OperatorTotp,
    /// Look-up digest of a token of the admin API.
    AdminToken,
    /// Look-up digest of the id of a passkey.
    Passkey,
    /// MAC inside what a passkey is asked to sign.
    PasskeyChallenge,
}

impl Purpose {
    /// Every purpose, in the order of their declaration.
    pub const ALL: [Self; 24] = [
        Self::ApiKey,
        Self::RefreshToken,
        Self::RefreshTokenMac,
        Self::Idempotency,
        Self::Phone,
        Self::Code,
        Self::Answer,
        Self::SandboxMessage,
        Self::SigningKey,
        Self::WebhookSecret,
        Self::HookSecret,
        Self::ProviderReference,
        Self::AccessToken,
        Self::OperatorLink,
        Self::OperatorSession,
        Self::OperatorForm,
        Self::OperatorName,
        Self::OperatorOrigin,
        Self::OperatorBrowser,
        Self::OperatorPending,
        Self::OperatorTotp,
        Self::AdminToken,
        Self::Passkey,
        Self::PasskeyChallenge,
    ];
}

/// A keyed digest (HMAC-SHA-256): equal inputs give equal digests, and it cannot be reversed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[debug("Digest(…)")]
pub struct Digest(pub [u8; 32]);

/// The look-up form of a phone number inside one project and mode.
///
/// Two projects, or the two modes of one, get unrelated indexes for the same number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[debug("BlindIndex(…)")]
pub struct BlindIndex(pub [u8; 32]);

/// An authenticated ciphertext; only a [`Vault`] opens it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[debug("Sealed({} bytes)", _0.len())]
pub struct Sealed(pub Vec<u8>);

/// The sealed value was made under another key, for another purpose or context, or was altered.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("a sealed value could not be opened: wrong key, purpose or context, or altered data")]
pub struct Unsealable;

impl From<Unsealable> for StoreError {
    fn from(cause: Unsealable) -> Self {
        Self::Failed(Box::new(cause))
    }
}

/// Keeps secrets and personal data unreadable at rest.
///
/// Keys live outside the database, so a dump of it gives neither numbers, codes nor tokens.
pub trait Vault: Send + Sync {
    /// Encrypts and authenticates `plain`, bound to `purpose` and to `context` (the owning row).
    fn seal(&self, purpose: Purpose, context: &[u8], plain: &[u8]) -> Sealed;

    /// Opens what [`Vault::seal`] made for the same purpose and context.
    ///
    /// # Errors
    /// [`Unsealable`] whatever the cause, so that nothing is learnt from the difference.
    fn open(
        &self,
        purpose: Purpose,
        context: &[u8],
        sealed: &Sealed,
    ) -> Result<Vec<u8>, Unsealable>;

    /// The keyed digest of `parts`; the boundary between parts counts.
    fn digest(&self, purpose: Purpose, parts: &[&[u8]]) -> Digest;

    /// The look-up form of `phone` in one project and mode.
    fn phone_index(&self, world: ProjectMode, phone: &Phone) -> BlindIndex {
        let (project, mode) = (world.project.uuid(), world.mode.as_str());
        let parts = [project.as_bytes().as_slice(), mode.as_bytes(), phone.national().as_bytes()];
        BlindIndex(self.digest(Purpose::Phone, &parts).0)
    }

    /// Seals a phone number for the project it belongs to.
    fn seal_phone(&self, project: ProjectId, phone: &Phone) -> Sealed {
        self.seal(Purpose::Phone, project.uuid().as_bytes(), phone.national().as_bytes())
    }

    /// Opens a phone number sealed by [`Vault::seal_phone`].
    ///
    /// # Errors
    /// [`Unsealable`] when it is not one of this project's.
    fn open_phone(&self, project: ProjectId, sealed: &Sealed) -> Result<Phone, Unsealable> {
        let plain = self.open(Purpose::Phone, project.uuid().as_bytes(), sealed)?;
        let text = String::from_utf8(plain).map_err(|_| Unsealable)?;
        text.parse().map_err(|_| Unsealable)
    }
}
