//! What a service needs before the first login: a project with its keys, and a signing key.

mod create_project;
mod signing_keys;

pub use create_project::{CreateProject, CreatedProject, DraftProject};
pub use signing_keys::{SigningKeyPolicy, SigningKeys};
