//! The public API on actix-web: routes, callers, error table, request ids.
//!
//! A request passes `request_id.rs` (id, panics, headers, access log), then the routes, then a
//! handler, which checks in order: `X-Api-Key`, limit, body, fields, rule. Every refusal comes from
//! one table in `error.rs`: [`ErrorCode`].

mod access_log;
mod api;
mod authorization;
mod body;
mod body_places;
mod call;
mod caller;
mod document;
mod error;
mod handlers;
pub mod hooks;
mod in_process;
mod json;
mod limits;
mod operation;
mod request_id;
mod routes;
mod server;
mod tasks;
mod uri;

pub use api::{Api, LoopHealth, Readiness};
pub use document::document;
pub use dwar_wire::{Endpoint, Listener, METHODS};
pub use error::ErrorCode;
pub use in_process::{InProcess, InProcessAnswer, InProcessRequest, NoAnswer};
pub use routes::{app, endpoints, refusals};
pub use server::{Server, Settings, StopHandle};
