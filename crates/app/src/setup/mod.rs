//! What has to be there before anybody can log in: a project with its keys, and a key to sign tokens with.

mod create_project;
mod signing_keys;

pub use create_project::{CreateProject, CreatedProject, DraftProject};
pub use signing_keys::{SigningKeyPolicy, SigningKeys};
