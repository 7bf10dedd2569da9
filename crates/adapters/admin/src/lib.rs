//! The admin API `/admin/v1`: the functions of the command line and the pages, as JSON for
//! programs.
//!
//! One [`Operation`](dwar_wire::openapi::Operation) describes an endpoint completely: method, path,
//! command, query, body, answer, handler. Both the routes and the OpenAPI document are made from
//! [`resources::all`], so they always agree. A new endpoint is a handler and one entry in
//! `operations` of its file in `resources/`.

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

const BASE: &str = "/admin/v1";
