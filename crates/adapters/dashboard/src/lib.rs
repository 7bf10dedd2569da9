//! The dashboard and its playground: pages for people, on a listener of their own.
//!
//! A request passes `guard.rs` (checks of host and origin, headers of every answer), then a page. A
//! page takes a [`visit::Visit`], which refuses visitors without a session, and a [`visit::SignedInForm`]
//! form, which refuses forms that this session's own pages did not make. The dashboard never uses
//! the API's listener, and no API key gives access to it.

mod address;
mod alert_bar;
mod answer;
mod api_routes;
mod assets;
mod chart;
mod console;
mod cookies;
mod form;
mod format;
mod guard;
mod icons;
mod language;
mod layout;
mod listener;
mod live;
mod manual;
mod mode;
mod names;
mod navigation;
mod pages;
mod recent;
mod reference;
mod refusal;
mod settings;
mod texts;
mod theme;
mod visit;

pub use api_routes::{ApiAnswer, ApiRequest, ApiRoutes, NoAnswer};
pub use console::Console;
pub use listener::{Dashboard, StopHandle, app, is_exposed};
pub use live::Live;
pub use manual::Manual;
pub use names::HostNames;
pub use reference::Reference;
pub use settings::Settings;
