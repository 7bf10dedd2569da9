//! Building blocks of every endpoint: authentication, reading the request, and the answer.

mod admin_request;
mod answer;
mod api;
mod body;
mod extract;
mod operation;
mod query;
mod refusal;

pub(crate) use admin_request::{AdminRequest, ProjectRequest, Scope};
pub(crate) use answer::{AdminResult, Csv, JsonLines, RateLimited};
pub use api::AdminApi;
pub(crate) use body::{Json, Parsed};
pub(crate) use dwar_wire::openapi::Operation;
pub(crate) use operation::{delete, get, patch, post, post_created, put};
pub(crate) use query::{Paging, Query, instant_of, limit, modes, no_cursor, one_of, place, word};
pub use refusal::AdminCode;
pub(crate) use refusal::ApiRefusal;
