use crate::Toolbox;
use dwar_idempotency::{Beginning, IdempotencyKey, IdempotencyStore, Lifetimes, Record, Slot};
use dwar_kernel::{Phone, Purpose, StoreError, Timestamp};
use dwar_project::Caller;
use std::sync::Arc;

/// Gives a repeated request its first answer (decisions, Idempotency-Key).
///
/// What an answer looks like is the caller's business: it goes in and comes out as bytes.
pub struct Idempotency {
    /// Time and vault.
    pub tools: Toolbox,
    /// Keeps answers.
    pub store: Arc<dyn IdempotencyStore>,
    /// For how long.
    pub lifetimes: Lifetimes,
}

/// The right to do the work of one key; ends in [`Idempotency::complete`] or
/// [`Idempotency::abandon`].
#[derive(Clone, Copy, Debug)]
pub struct Ticket {
    slot: Slot,
    began_at: Timestamp,
}

/// What a request with a key gets.
#[derive(Debug)]
pub enum Begun {
    /// It is the first: do the work.
    Fresh(Ticket),
    /// The work is done; this was the answer.
    Replay(Vec<u8>),
}

/// Why a request with a key may not go on.
#[derive(Debug, thiserror::Error)]
pub enum IdempotencyError {
    /// The first request with this key is still at work.
    #[error("the first request with this key is still running")]
    Conflict,
    /// The key was used with another body.
    #[error("the key was used with another body")]
    Reused,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Idempotency {
    /// Asks whether to do the work of `key` on `route`, for a request about `phone`.
    pub async fn begin(
        &self,
        caller: &Caller,
        route: &'static str,
        key: &IdempotencyKey,
        phone: &Phone,
    ) -> Result<Begun, IdempotencyError> {
        let vault = &self.tools.vault;
        let project = caller.project.id.uuid();
        let scope =
            [project.as_bytes().as_slice(), caller.mode.as_str().as_bytes(), route.as_bytes()];
        let digest = |last: &str| {
            vault.digest(Purpose::Idempotency, &[scope[0], scope[1], scope[2], last.as_bytes()])
        };
        let slot = Slot {
            project: caller.project.id,
            mode: caller.mode,
            route,
            key: digest(key.expose()),
        };
        let record = Record {
            fingerprint: digest(phone.national()),
            phone: vault.phone_index(caller.project.id, caller.mode, phone),
            began_at: self.tools.now(),
            answer: None,
        };
        let ticket = Ticket { slot, began_at: record.began_at };
        match self.store.begin(slot, record, self.lifetimes).await? {
            Beginning::Fresh => Ok(Begun::Fresh(ticket)),
            Beginning::Running => Err(IdempotencyError::Conflict),
            Beginning::Reused => Err(IdempotencyError::Reused),
            Beginning::Replay(sealed) => {
                let plain = vault.open(Purpose::Answer, &slot.key.0, &sealed);
                Ok(Begun::Replay(plain.map_err(StoreError::from)?))
            }
        }
    }

    /// Keeps the answer for those who ask again.
    pub async fn complete(&self, ticket: Ticket, answer: &[u8]) -> Result<(), StoreError> {
        let sealed = self.tools.vault.seal(Purpose::Answer, &ticket.slot.key.0, answer);
        self.store.complete(ticket.slot, ticket.began_at, sealed).await
    }

    /// Lets the next request with this key do the work: nothing came of this one.
    pub async fn abandon(&self, ticket: Ticket) -> Result<(), StoreError> {
        self.store.abandon(ticket.slot, ticket.began_at).await
    }
}
