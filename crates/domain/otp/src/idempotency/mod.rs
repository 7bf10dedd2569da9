//! Idempotency: a repeated request has one effect and one answer (docs/contract.md, Idempotency).

mod ports;
mod record;

pub use ports::*;
pub use record::{
    IdempotencyDecision, IdempotencyKey, IdempotencyRecord, IdempotencySlot, Lifetimes,
    MalformedKey, MalformedReference,
};
