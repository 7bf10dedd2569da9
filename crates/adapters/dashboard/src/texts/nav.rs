//! The frame of every page.

use dwar_kernel::KeyMode;

pub(crate) const OVERVIEW: &str = "Overview";
pub(crate) const SKIP: &str = "Skip to content";
pub(crate) const MENU: &str = "Open navigation";
pub(crate) const SWITCH: &str = "All projects";
pub(crate) const OF_PROJECT: &str = "Project";
pub(crate) const OF_INSTALLATION: &str = "Installation";
pub(crate) const SIGN_OUT: &str = "Sign out";
pub(crate) const PLAYGROUND: &str = "Playground";
pub(crate) const INBOX: &str = "Inbox";
pub(crate) const KEYS: &str = "Keys";
pub(crate) const SETTINGS: &str = "Settings";
pub(crate) const WALLET: &str = "Wallet";
pub(crate) const IDENTITIES: &str = "Identities";
pub(crate) const ACTIVITY: &str = "Activity";
pub(crate) const AUDIT: &str = "Audit log";
pub(crate) const AUDIT_ALL: &str = "Full audit log";
pub(crate) const TOKENS: &str = "Admin tokens";
pub(crate) const OPERATIONS: &str = "Operations";
pub(crate) const REFERENCE: &str = "API reference";
pub(crate) const HELP: &str = "Help";
pub(crate) const TEAM: &str = "Team";
pub(crate) const ACCOUNT: &str = "Your account";
pub(crate) const PROJECTS: &str = "Projects";
pub(crate) const THEME: &str = "Theme";
pub(crate) const LANGUAGE: &str = "Language";
pub(crate) const THEME_SYSTEM: &str = "System";
pub(crate) const THEME_LIGHT: &str = "Light";
pub(crate) const THEME_DARK: &str = "Dark";
pub(crate) const MODE: &str = "Mode";
pub(crate) const TEST_MODE: &str = "Test mode";
pub(crate) const OVER: &str = "Disconnected. Reload the page to go on.";
pub(crate) const REPLACED: &str =
    "Stopped: too many pages with live updates are open. Select this one to go on.";

pub(crate) const fn mode(mode: KeyMode) -> &'static str {
    match mode {
        KeyMode::Live => "Live",
        KeyMode::Test => "Test",
    }
}
