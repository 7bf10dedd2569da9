//! The admin API `/admin/v1`: what the command line does and the pages show, as JSON for programs.
//!
//! One [`Operation`](dwar_wire::openapi::Operation) is an endpoint with everything about it: method, path,
//! command, query, body, answer, handler. Routes and the OpenAPI document are both made from
//! [`resources::all`], so neither can have what the other lacks. A new endpoint is a handler and one
//! entry in `operations` of its file in `resources/`.

mod document;
mod endpoint;
mod outside;
mod resources;
mod routes;
pub mod views;

pub use document::document;
pub use endpoint::{AdminApi, AdminCode};
pub use outside::{AdminRequestId, admit, complete, is_at};
pub use routes::routes;

/// Where the admin API begins.
const BASE: &str = "/admin/v1";
