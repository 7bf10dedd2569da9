//! Builds OpenAPI 3.1 documents from lists of operations.

mod document;
mod header;
mod operation;
mod refusal;
mod schema;

pub use document::OpenApi;
pub use header::header;
pub use operation::{Operation, by_path};
pub use refusal::Refusal;
pub use schema::{EXAMPLE_ID, claims, given_claims, given_phone};
