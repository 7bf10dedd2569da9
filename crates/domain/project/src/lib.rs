//! Projects and callers: an API key identifies a project and a mode; the project has settings.
//!
//! ```
//! use dwar_kernel::{Entropy, KeyMode};
//! use dwar_project::ApiKey;
//!
//! /// Stands in for the entropy of the system.
//! struct Sevens;
//!
//! impl Entropy for Sevens {
//!     fn fill(&self, buffer: &mut [u8]) {
//!         buffer.fill(7);
//!     }
//! }
//!
//! let key = ApiKey::generate(KeyMode::Test, &Sevens);
//! assert!(key.expose().starts_with("svc_test_"));
//! assert_eq!(key.expose().parse::<ApiKey>().unwrap().mode(), KeyMode::Test);
//! // The last six characters are a checksum, so a typo is refused without a look-up.
//! let typo = key.expose().replacen('7', "8", 1);
//! assert!(typo.parse::<ApiKey>().is_err());
//! ```

mod api_key;
mod change;
mod hook;
mod name;
mod ports;
mod project;
mod setting;

pub use api_key::{ApiKey, KeyRecord, KeyUsage, KeyUse, MalformedApiKey};
pub use change::{InvalidSetting, ProjectChangeResult, ProjectRules};
pub use hook::{Hook, HookCaller, HookChange, HookKind, UnknownHookKind};
pub use name::{InvalidProjectName, ProjectName};
pub use ports::*;
pub use project::{
    Caller, EventsFeed, LastLine, Messages, NewProject, Prices, Project, Relay, Routing,
};
pub use setting::{ProjectChange, Setting, SettingGroup, SettingValue};
