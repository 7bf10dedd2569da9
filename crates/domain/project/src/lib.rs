//! Who is calling: an API key names a project, a mode and the project's switches.

mod api_key;
mod ports;
mod project;

pub use api_key::{ApiKey, KeyRecord, MalformedApiKey};
#[cfg(feature = "mocks")]
pub use ports::MockProjectStore;
pub use ports::ProjectStore;
pub use project::{Caller, Messages, NewProject, Prices, Project, ProjectChange, Routing};
