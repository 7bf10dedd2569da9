//! Wire structs, private to this crate (decisions, Request and response bodies).

mod request;
mod response;

pub(crate) use request::{AccessBody, RefreshBody, SendBody, VerifyBody};
pub(crate) use response::{
    DeletedIdentity, Health, IdentityBody, MessagesBody, Pair, Revoked, SentBody, StatusBody, Valid,
};
