use crate::{Access, OperatorName, PasswordHash, Totp};
use dwar_kernel::{OperatorId, Timestamp};

/// A person who runs the service, or part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operator {
    pub id: OperatorId,
    /// The sign-in name, unique ignoring case.
    pub name: OperatorName,
    pub access: Access,
    /// `None` until a password was chosen by a link.
    pub password: Option<PasswordHash>,
    pub totp: Option<Totp>,
    pub created_at: Timestamp,
    pub signed_in_at: Option<Timestamp>,
}

/// What an operator proved in order to sign in, checked before the step that signs in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignInProof {
    pub password: PasswordHash,
    /// The matching code, if the operator has a second factor.
    pub step: Option<ProvenStep>,
}

/// A code of an authenticator app that matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProvenStep {
    pub step: u64,
    /// The last used time step when the sign-in began.
    pub after: u64,
}

/// A change to one operator's record, made by another or by themselves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OperatorChange {
    /// New rights, in force from the operator's next request.
    Access(Access),
    /// A new password; ends every other session of the operator.
    Password(PasswordHash),
    /// A new second factor, or none; ends every other session of the operator.
    Totp(Option<Totp>),
}

impl Operator {
    /// Signs in if the proof still holds: the password is the one that was checked, no code was used since
    /// the sign-in began, and the time step of this code was never used. `false` changes nothing.
    pub fn sign_in(&mut self, proof: &SignInProof, now: Timestamp) -> bool {
        if self.password.as_ref() != Some(&proof.password) {
            return false;
        }
        let proven = match (&mut self.totp, proof.step) {
            (None, None) => true,
            (Some(totp), Some(proven)) => totp.last_step == proven.after && totp.take(proven.step),
            // The second factor was added or removed since the check.
            (None, Some(_)) | (Some(_), None) => false,
        };
        if proven {
            self.signed_in_at = Some(now);
        }
        proven
    }

    /// Whether the operator was invited and has never signed in.
    pub const fn is_invited(&self) -> bool {
        self.password.is_none() && self.signed_in_at.is_none()
    }

    /// Applies a change to the record; ends no sessions itself.
    pub fn apply(&mut self, change: OperatorChange) {
        match change {
            OperatorChange::Access(access) => self.access = access,
            OperatorChange::Password(hash) => self.password = Some(hash),
            OperatorChange::Totp(totp) => self.totp = totp,
        }
    }

    /// Removes password and second factor; only a new link lets the operator sign in again.
    pub fn reset(&mut self) {
        self.password = None;
        self.totp = None;
    }
}

impl OperatorChange {
    /// Whether the change ends every session except the one that requested it.
    pub const fn ends_sessions(&self) -> bool {
        matches!(self, Self::Password(_) | Self::Totp(_))
    }
}

#[cfg(test)]
#[path = "operator_tests.rs"]
mod tests;
