use crate::{Access, OperatorName, PasswordHash, Totp};
use dwar_kernel::{OperatorId, Timestamp};

/// Somebody who runs the service, or part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operator {
    pub id: OperatorId,
    /// What they sign in with; no other operator has it.
    pub name: OperatorName,
    pub access: Access,
    /// None until they have chosen one by their link.
    pub password: Option<PasswordHash>,
    /// The second factor, if they added one.
    pub totp: Option<Totp>,
    pub created_at: Timestamp,
    pub signed_in_at: Option<Timestamp>,
}

/// What somebody has proved in order to sign in, as checked before the step that lets them in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    pub password: PasswordHash,
    /// The code that matched, if one is asked for.
    pub step: Option<ProvenStep>,
}

/// A code of an authenticator app that matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProvenStep {
    pub step: u64,
    /// The last one that had been used when the sign-in began.
    pub after: u64,
}

/// What can be changed of an operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OperatorChange {
    /// What they may do; applies from their very next request.
    Access(Access),
    /// Their password; every other session of theirs ends.
    Password(PasswordHash),
    /// Their second factor; every other session of theirs ends.
    Totp(Option<Totp>),
}

impl Operator {
    /// Lets them in if the proof still holds: the password is the one that was checked, no code was used
    /// since the sign-in began, and the time step of this one was never used. `false` changes nothing.
    pub fn sign_in(&mut self, proof: &Proof, now: Timestamp) -> bool {
        if self.password.as_ref() != Some(&proof.password) {
            return false;
        }
        let proven = match (&mut self.totp, proof.step) {
            (None, None) => true,
            (Some(totp), Some(proven)) => totp.last_step == proven.after && totp.take(proven.step),
            // Added or removed since it was checked.
            (None, Some(_)) | (Some(_), None) => false,
        };
        if proven {
            self.signed_in_at = Some(now);
        }
        proven
    }

    /// Whether they were invited and have not been in yet.
    pub const fn is_invited(&self) -> bool {
        self.password.is_none() && self.signed_in_at.is_none()
    }

    /// Applies a change.
    pub fn apply(&mut self, change: OperatorChange) {
        match change {
            OperatorChange::Access(access) => self.access = access,
            OperatorChange::Password(hash) => self.password = Some(hash),
            OperatorChange::Totp(totp) => self.totp = totp,
        }
    }

    /// Takes away what they sign in with; only a new link lets them in again.
    pub fn reset(&mut self) {
        self.password = None;
        self.totp = None;
    }
}

impl OperatorChange {
    /// Whether every session but the one that asked for the change ends with it.
    pub const fn ends_sessions(&self) -> bool {
        matches!(self, Self::Password(_) | Self::Totp(_))
    }
}

#[cfg(test)]
#[path = "operator_tests.rs"]
mod tests;
