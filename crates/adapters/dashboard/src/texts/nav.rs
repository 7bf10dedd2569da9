//! Texts of the frame of every page.

use crate::language::Translated;
use dwar_kernel::KeyMode;

pub(crate) const OVERVIEW: Translated = Translated("Overview", "सारांश");
pub(crate) const SKIP: Translated = Translated("Skip to content", "सीधे सामग्री पर जाएँ");
pub(crate) const MENU: Translated = Translated("Open navigation", "मेन्यू खोलें");
pub(crate) const SWITCH: Translated = Translated("All projects", "सभी प्रोजेक्ट");
pub(crate) const OF_PROJECT: Translated = Translated("Project", "प्रोजेक्ट");
pub(crate) const OF_INSTALLATION: Translated = Translated("Installation", "इंस्टॉलेशन");
pub(crate) const SIGN_OUT: Translated = Translated("Sign out", "साइन आउट करें");
pub(crate) const PLAYGROUND: Translated = Translated("Playground", "प्लेग्राउंड");
pub(crate) const INBOX: Translated = Translated("Inbox", "इनबॉक्स");
pub(crate) const KEYS: Translated = Translated("Keys", "कुंजियाँ");
pub(crate) const SETTINGS: Translated = Translated("Settings", "सेटिंग्स");
pub(crate) const WALLET: Translated = Translated("Wallet", "वॉलेट");
pub(crate) const IDENTITIES: Translated = Translated("Identities", "पहचानें");
pub(crate) const ACTIVITY: Translated = Translated("Activity", "गतिविधि");
pub(crate) const AUDIT: Translated = Translated("Audit log", "ऑडिट लॉग");
pub(crate) const AUDIT_ALL: Translated = Translated("Full audit log", "पूरा ऑडिट लॉग");
pub(crate) const TOKENS: Translated = Translated("Admin tokens", "एडमिन टोकन");
pub(crate) const OPERATIONS: Translated = Translated("Operations", "संचालन");
pub(crate) const REFERENCE: Translated = Translated("API reference", "API संदर्भ");
pub(crate) const HELP: Translated = Translated("Help", "मदद");
pub(crate) const TEAM: Translated = Translated("Team", "टीम");
pub(crate) const ACCOUNT: Translated = Translated("Your account", "आपका खाता");
pub(crate) const PROJECTS: Translated = Translated("Projects", "प्रोजेक्ट");
pub(crate) const THEME: Translated = Translated("Theme", "रंग");
pub(crate) const LANGUAGE: Translated = Translated("Language", "भाषा");
pub(crate) const THEME_SYSTEM: Translated = Translated("System", "सिस्टम जैसा");
pub(crate) const THEME_LIGHT: Translated = Translated("Light", "हल्का");
pub(crate) const THEME_DARK: Translated = Translated("Dark", "गहरा");
pub(crate) const MODE: Translated = Translated("Mode", "मोड");
pub(crate) const TEST_MODE: Translated = Translated("Test mode", "टेस्ट मोड");
pub(crate) const OVER: &str = "Disconnected. Reload the page to continue.";
pub(crate) const REPLACED: &str =
    "Stopped: too many pages with live updates are open. Select this one to continue.";

pub(crate) const fn mode(mode: KeyMode) -> Translated {
    match mode {
        KeyMode::Live => Translated("Live", "लाइव"),
        KeyMode::Test => Translated("Test", "टेस्ट"),
    }
}
