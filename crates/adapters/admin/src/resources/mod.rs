//! The endpoints, one file per resource.

mod alerts;
mod audit;
mod figures;
mod hooks;
mod identities;
mod identity_sessions;
mod keys;
mod operations;
mod operators;
mod projects;
mod requests;
mod signing_keys;
mod story;
mod tokens;
mod wallet;
mod wallet_ledger;
mod webhook_calls;
mod webhooks;

use dwar_wire::openapi::Operation;

pub(crate) fn all() -> Vec<Operation> {
    let of = [
        ("projects", projects::operations()),
        ("figures", figures::operations()),
        ("requests", requests::operations()),
        ("keys", keys::operations()),
        ("wallet", wallet::operations()),
        ("wallet", wallet_ledger::operations()),
        ("webhooks", webhooks::operations()),
        ("webhooks", webhook_calls::operations()),
        ("hooks", hooks::operations()),
        ("identities", identities::operations()),
        ("identities", identity_sessions::operations()),
        ("operators", operators::operations()),
        ("tokens", tokens::operations()),
        ("audit", audit::operations()),
        ("signing keys", signing_keys::operations()),
        ("operations", operations::operations()),
        ("operations", alerts::operations()),
    ];
    let tagged = |(tag, all): (&'static str, Vec<Operation>)| {
        all.into_iter().map(move |operation| operation.tag(tag))
    };
    of.into_iter().flat_map(tagged).collect()
}
