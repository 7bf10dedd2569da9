//! Tests of the dashboard over the memory store: access, rights, and the headers of answers.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "everything here runs inside tests")]

mod activity;
mod admin_api;
mod alerts;
mod booking;
mod changes;
mod find;
mod first_steps;
mod forms;
mod guard;
mod hooks;
mod identity_sessions;
mod inbox;
mod language;
mod mode;
mod operations;
mod overview;
mod passkeys;
mod playground;
mod projects;
mod provider;
mod reference;
mod roles;
mod sessions;
mod sign_in;
mod support;
mod team;
mod tokens;
mod wallet;
mod webhooks;
