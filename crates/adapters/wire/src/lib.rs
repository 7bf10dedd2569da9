//! Shared by the HTTP servers of the API, the admin API and the dashboard: limits for connections,
//! tables and bodies of refusals, the id, trace and address of a request, streamed answers,
//! precompressed documents, and checks of JSON and form bodies.

mod allow;
mod body;
mod client;
mod codes;
mod connection;
mod document;
mod endpoint;
mod failure;
mod method;
pub mod openapi;
mod refused;
mod request_id;
mod serve;
mod streamed;
mod throttle;
mod trace;

pub use actix_web::http::StatusCode;
pub use allow::allow;
pub use body::{declared_length, declares_form, declares_json};
pub use client::client_address;
pub use codes::RETRY_AN_OUTAGE;
pub use connection::{ClientTimeouts, Connection};
pub use document::{Document, is_known};
pub use endpoint::Endpoint;
pub use failure::{seconds_until, store_failed};
pub use method::{METHODS, known_method};
pub use refused::Refused;
pub use request_id::{REQUEST_ID, fresh_id, request_id};
pub use serve::{AppService, Listener, Server, Serving, StopHandle, begin_request, serve};
pub use streamed::{CutOff, csv_download, download, streamed};
pub use throttle::Throttle;
pub use trace::{RequestTrace, TraceEnd};
