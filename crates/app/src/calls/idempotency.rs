use crate::CommonPorts;
use dwar_kernel::{BlindIndex, Purpose, StoreError, Timestamp, with_causes};
use dwar_otp::idempotency::{
    IdempotencyDecision, IdempotencyRecord, IdempotencySlot, IdempotencyStore, Lifetimes,
};
use dwar_project::Caller;
use std::sync::Arc;

/// Answers a repeated request with the first answer. The use case defines the content of the answer.
pub struct Idempotency {
    pub tools: CommonPorts,
    pub store: Arc<dyn IdempotencyStore>,
    /// Default lifetimes: how long a first request may run, and how long its answer is kept.
    pub lifetimes: Lifetimes,
}

/// Idempotency key and its lifetimes.
#[derive(Clone, Copy)]
pub(crate) struct RepeatKey<'a> {
    /// The key in clear; only to make a digest of it.
    pub(crate) key: &'a [u8],
    pub(crate) lifetimes: Lifetimes,
}

/// The right to do the work of one key. The holder has to call [`Idempotency::end`].
pub(crate) struct IdempotencyClaim {
    slot: IdempotencySlot,
    began_at: Timestamp,
}

pub(crate) enum IdempotencyOutcome {
    Fresh(IdempotencyClaim),
    Replay(Vec<u8>),
    /// The first request with this key is still running.
    Running,
    Reused,
}

impl Idempotency {
    /// Asks whether to do the work of a key on `route`. `asked` is the content of the request, and `phone`
    /// the phone it is about.
    pub(crate) async fn begin(
        &self,
        caller: &Caller,
        route: &'static str,
        repeat: RepeatKey<'_>,
        (asked, phone): (&str, BlindIndex),
    ) -> Result<IdempotencyOutcome, StoreError> {
        let vault = &self.tools.vault;
        let project_mode = caller.project_mode();
        let id = project_mode.project.uuid();
        let scope =
            [id.as_bytes().as_slice(), project_mode.mode.as_str().as_bytes(), route.as_bytes()];
        let digest =
            |last: &[u8]| vault.digest(Purpose::Idempotency, &[scope[0], scope[1], scope[2], last]);
        let slot = IdempotencySlot { project_mode, route, key: digest(repeat.key) };
        let fingerprint = digest(asked.as_bytes());
        let began_at = self.tools.now();
        let record = IdempotencyRecord { fingerprint, phone, began_at, answer: None };
        Ok(match self.store.begin(slot, record, repeat.lifetimes).await? {
            IdempotencyDecision::Fresh => {
                IdempotencyOutcome::Fresh(IdempotencyClaim { slot, began_at })
            }
            IdempotencyDecision::Running => IdempotencyOutcome::Running,
            IdempotencyDecision::Reused => IdempotencyOutcome::Reused,
            IdempotencyDecision::Replay(sealed) => {
                IdempotencyOutcome::Replay(vault.open(Purpose::Answer, &slot.key.0, &sealed)?)
            }
        })
    }

    /// Stores the answer for repeated requests. `None` means that nothing was done: the next request with
    /// this key does the work.
    ///
    /// A failed write changes nothing for the first caller, whose work is done. It is logged, and the key
    /// becomes free when its lease ends.
    pub(crate) async fn end(&self, ticket: IdempotencyClaim, answer: Option<&str>) {
        let IdempotencyClaim { slot, began_at } = ticket;
        let ended = match answer {
            Some(answer) => {
                let answer = self.tools.vault.seal(Purpose::Answer, &slot.key.0, answer.as_bytes());
                self.store.complete(slot, began_at, answer).await
            }
            None => self.store.abandon(slot, began_at).await,
        };
        if let Err(cause) = ended {
            tracing::error!(cause = %with_causes(&cause), "the answer to an Idempotency-Key could not be stored");
        }
    }
}
