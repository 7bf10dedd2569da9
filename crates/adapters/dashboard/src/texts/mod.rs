//! Every sentence of the dashboard, by page, in English. A page that is also available in other
//! languages has its texts in a struct, with a value for each
//! [`Language`](crate::language::Language).

pub(crate) mod account;
pub(crate) mod activity;
pub(crate) mod alerts;
pub(crate) mod audit;
pub(crate) mod common;
pub(crate) mod entrance;
pub(crate) mod find;
pub(crate) mod first_steps;
pub(crate) mod guard;
pub(crate) mod help;
pub(crate) mod identities;
pub(crate) mod identity_sessions;
pub(crate) mod inbox;
pub(crate) mod keys;
pub(crate) mod nav;
pub(crate) mod new_project;
pub(crate) mod operations;
pub(crate) mod overview;
pub(crate) mod passkeys;
pub(crate) mod playground;
pub(crate) mod projects;
pub(crate) mod provider;
pub(crate) mod reference;
pub(crate) mod refusals;
pub(crate) mod settings;
pub(crate) mod settings_hooks;
pub(crate) mod settings_project;
pub(crate) mod settings_tokens;
pub(crate) mod sign_in;
pub(crate) mod team;
pub(crate) mod tokens;
pub(crate) mod wallet;
pub(crate) mod wallet_booking;
pub(crate) mod wallet_proof;
pub(crate) mod wallet_statement;
pub(crate) mod webhook;
