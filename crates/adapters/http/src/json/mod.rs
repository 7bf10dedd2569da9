//! Bodies of requests and answers (docs/contract.md, Bodies).

pub(crate) mod events;
pub(crate) mod published;
mod request;
pub(crate) mod response;
pub(crate) mod schema;

pub(crate) use request::{
    AccessBody, Field, GivenDevice, GivenVisitor, IntrospectionForm, Reference, RefreshBody,
    RelayBody, SendBody, Token, VerifyBody,
};
