//! One function per route: parse, call one use case, render.

pub(crate) mod events;
pub(crate) mod forward_auth;
pub(crate) mod health;
pub(crate) mod hooks;
pub(crate) mod identity;
pub(crate) mod introspection;
pub(crate) mod issuer;
pub(crate) mod jwks;
pub(crate) mod otp;
pub(crate) mod sandbox;
pub(crate) mod session;
pub(crate) mod webhooks;

use crate::operation::in_frame;
use dwar_wire::openapi::Operation;

/// Every operation of the public API. Paths are matched in this order, and a pattern costs more
/// than a fixed path.
pub(crate) fn operations() -> Vec<Operation> {
    let of = [
        ("Sessions", session::operations()),
        ("Proxies", vec![forward_auth::operation(), introspection::operation()]),
        ("Codes", otp::operations()),
        ("Identities", identity::operations()),
        ("Events", events::operations()),
        ("Sandbox", sandbox::operations()),
        ("Public keys", jwks::operations()),
        ("Public keys", issuer::operations()),
        ("Health", health::operations()),
    ];
    let tagged = |(tag, all): (&'static str, Vec<Operation>)| {
        all.into_iter().map(move |operation| in_frame(operation.tag(tag)))
    };
    of.into_iter().flat_map(tagged).collect()
}
