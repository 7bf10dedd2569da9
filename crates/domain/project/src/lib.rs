//! Projects and callers: an API key identifies a project and a mode; the project has settings.

mod api_key;
mod change;
mod hook;
mod name;
mod ports;
mod project;
mod setting;

pub use api_key::{ApiKey, KeyRecord, KeyUse, MalformedApiKey, Used};
pub use change::{Changed, InvalidSetting, ProjectRules};
pub use hook::{Hook, HookCaller, HookChange, HookKind, UnknownHookKind};
pub use name::{InvalidProjectName, ProjectName};
pub use ports::*;
pub use project::{
    Caller, EventsFeed, LastLine, Messages, NewProject, Prices, Project, Relay, Routing,
};
pub use setting::{ProjectChange, Setting, SettingGroup, SettingValue};
