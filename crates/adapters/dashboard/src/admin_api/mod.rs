//! The admin API `/admin/v1`: what the command line does and the pages show, as JSON for programs.
//!
//! One [`operation::Operation`] is an endpoint with all there is to say of it: method, path, right,
//! query, body, answer, handler. Routes and the OpenAPI document are both made from
//! [`operations`], so neither can have what the other lacks. One file per resource; a new endpoint is
//! a handler and one entry in its file's `operations`.

mod answer;
mod audit;
mod body;
mod call;
mod document;
mod door;
mod figures;
mod identities;
mod identity_sessions;
mod installation;
mod keys;
mod operation;
mod operators;
mod outside;
mod projects;
mod query;
mod refusal;
mod requests;
mod routes;
mod signing_keys;
mod story;
mod tokens;
mod wallet;
mod wallet_ledger;
mod webhook_calls;
mod webhooks;

pub use document::document;
pub use door::Door;
pub(crate) use outside::{Asked, admit, complete, is_at};
pub use refusal::AdminCode;
pub(crate) use routes::routes;

use operation::Operation;

/// Where the admin API begins.
const BASE: &str = "/admin/v1";

/// Every endpoint, by resource.
fn operations() -> Vec<(&'static str, Vec<Operation>)> {
    vec![
        ("projects", projects::operations()),
        ("figures", figures::operations()),
        ("requests", requests::operations()),
        ("keys", keys::operations()),
        ("wallet", wallet::operations()),
        ("wallet", wallet_ledger::operations()),
        ("webhooks", webhooks::operations()),
        ("webhooks", webhook_calls::operations()),
        ("identities", identities::operations()),
        ("identities", identity_sessions::operations()),
        ("operators", operators::operations()),
        ("tokens", tokens::operations()),
        ("audit", audit::operations()),
        ("signing keys", signing_keys::operations()),
        ("operations", installation::operations()),
    ]
}
