//! Wire structs, private to this crate (docs/contract.md, Bodies).

mod request;
mod response;

pub(crate) use request::{AccessBody, RefreshBody, SendBody, VerifyBody};
pub(crate) use response::{
    DeletedIdentity, Health, IdentityBody, MessagesBody, Pair, Revoked, SentBody, StatusBody, Valid,
};
