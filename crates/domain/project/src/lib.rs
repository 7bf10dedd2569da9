//! Who is calling: an API key names a project, a mode and the project's switches.

#![warn(missing_docs)]

mod api_key;
mod hook;
mod name;
mod ports;
mod project;

pub use api_key::{ApiKey, KeyRecord, KeyUse, MalformedApiKey, Used};
pub use hook::{Hook, HookCaller, HookKind, UnknownHookKind};
pub use name::{InvalidProjectName, ProjectName};
pub use ports::*;
pub use project::{
    Caller, Changed, InvalidSetting, LastLine, Messages, NewProject, Prices, Project,
    ProjectChange, ProjectRules, Relay, Routing,
};
