use crate::{Phone, ProjectId, ProjectMode, StoreError};
use derive_more::Debug;

/// Purpose of a digest or sealed value. A value made for one purpose is useless for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Purpose {
    ApiKey,
    RefreshToken,
    RefreshTokenMac,
    /// Look-up digest of an `Idempotency-Key`, and fingerprint of the request body.
    Idempotency,
    Phone,
    /// A code that a fallback may still have to send.
    Code,
    Answer,
    SandboxMessage,
    SigningKey,
    /// The secret that signs a project's events.
    WebhookSecret,
    /// The secret by which another system authenticates itself at a hook.
    HookSecret,
    /// Look-up digest of a provider's message reference.
    ProviderReference,
    /// Digest that identifies an access token which was checked already.
    AccessToken,
    /// MAC in the token of a device on which a phone logged in.
    Device,
    /// Look-up digest of an operator's sign-in link.
    OperatorLink,
    OperatorSession,
    /// The CSRF token in forms of an operator's session.
    OperatorForm,
    /// A name that was used to sign in.
    OperatorName,
    /// A name that was used to sign in, together with the network.
    OperatorOrigin,
    /// MAC in the cookie that marks a browser in which an operator signed in.
    OperatorBrowser,
    /// MAC in the cookie between the password and the code of an authenticator app.
    OperatorPending,
    OperatorTotp,
    AdminToken,
    Passkey,
    /// MAC in the challenge that a passkey signs.
    PasskeyChallenge,
    /// Look-up digest of an address, a series of numbers or a project, for the guard.
    GuardSubject,
}

impl Purpose {
    /// All purposes, in the order of declaration, for checks that none is forgotten.
    pub const ALL: [Self; 26] = [
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
        Self::Device,
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
        Self::GuardSubject,
    ];
}

/// A keyed digest (HMAC-SHA-256): equal inputs give equal digests; it cannot be reversed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[debug("Digest(…)")]
pub struct Digest(pub [u8; 32]);

/// Look-up form of a phone number within one project and mode.
///
/// The same number has unrelated indexes in two projects, and in the two modes of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[debug("BlindIndex(…)")]
pub struct BlindIndex(pub [u8; 32]);

/// An authenticated ciphertext; only a [`Vault`] opens it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[debug("Sealed({} bytes)", _0.len())]
pub struct Sealed(pub Vec<u8>);

/// The sealed value was altered, or was made under another key, purpose or context.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("a sealed value could not be opened: wrong key, purpose or context, or altered data")]
pub struct Unsealable;

impl From<Unsealable> for StoreError {
    fn from(cause: Unsealable) -> Self {
        Self::Failed(Box::new(cause))
    }
}

/// Encrypts secrets and personal data at rest.
///
/// Keys are kept outside the database, so a database dump reveals neither numbers, codes nor tokens.
pub trait Vault: Send + Sync {
    /// Encrypts and authenticates `plain`, bound to `purpose` and to `context` (the owning row).
    fn seal(&self, purpose: Purpose, context: &[u8], plain: &[u8]) -> Sealed;

    /// Decrypts what [`Vault::seal`] made for the same purpose and context.
    ///
    /// # Errors
    /// Always [`Unsealable`], so that the error does not reveal the cause.
    fn open(
        &self,
        purpose: Purpose,
        context: &[u8],
        sealed: &Sealed,
    ) -> Result<Vec<u8>, Unsealable>;

    /// The keyed digest of `parts`. Boundaries between parts are part of the input.
    fn digest(&self, purpose: Purpose, parts: &[&[u8]]) -> Digest;

    /// The blind index of `phone` in one project and mode.
    fn phone_index(&self, project_mode: ProjectMode, phone: &Phone) -> BlindIndex {
        let (project, mode) = (project_mode.project.uuid(), project_mode.mode.as_str());
        let parts = [project.as_bytes().as_slice(), mode.as_bytes(), phone.national().as_bytes()];
        BlindIndex(self.digest(Purpose::Phone, &parts).0)
    }

    /// Seals a phone number, bound to its project.
    fn seal_phone(&self, project: ProjectId, phone: &Phone) -> Sealed {
        self.seal(Purpose::Phone, project.uuid().as_bytes(), phone.national().as_bytes())
    }

    /// Opens a phone number sealed by [`Vault::seal_phone`].
    ///
    /// # Errors
    /// [`Unsealable`] if it belongs to another project, or is not a phone number.
    fn open_phone(&self, project: ProjectId, sealed: &Sealed) -> Result<Phone, Unsealable> {
        let plain = self.open(Purpose::Phone, project.uuid().as_bytes(), sealed)?;
        let text = String::from_utf8(plain).map_err(|_| Unsealable)?;
        text.parse().map_err(|_| Unsealable)
    }
}
