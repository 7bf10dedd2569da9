//! Texts of the frame of every page.

use crate::language::Words;
use dwar_kernel::KeyMode;

pub(crate) const OVERVIEW: Words = Words("Overview", "सारांश");
pub(crate) const SKIP: Words = Words("Skip to content", "सीधे सामग्री पर जाएँ");
pub(crate) const MENU: Words = Words("Open navigation", "मेन्यू खोलें");
pub(crate) const SWITCH: Words = Words("All projects", "सभी प्रोजेक्ट");
pub(crate) const OF_PROJECT: Words = Words("Project", "प्रोजेक्ट");
pub(crate) const OF_INSTALLATION: Words = Words("Installation", "इंस्टॉलेशन");
pub(crate) const SIGN_OUT: Words = Words("Sign out", "साइन आउट करें");
pub(crate) const PLAYGROUND: Words = Words("Playground", "प्लेग्राउंड");
pub(crate) const INBOX: Words = Words("Inbox", "इनबॉक्स");
pub(crate) const KEYS: Words = Words("Keys", "कुंजियाँ");
pub(crate) const SETTINGS: Words = Words("Settings", "सेटिंग्स");
pub(crate) const WALLET: Words = Words("Wallet", "वॉलेट");
pub(crate) const IDENTITIES: Words = Words("Identities", "पहचानें");
pub(crate) const ACTIVITY: Words = Words("Activity", "गतिविधि");
pub(crate) const AUDIT: Words = Words("Audit log", "ऑडिट लॉग");
pub(crate) const AUDIT_ALL: Words = Words("Full audit log", "पूरा ऑडिट लॉग");
pub(crate) const TOKENS: Words = Words("Admin tokens", "एडमिन टोकन");
pub(crate) const OPERATIONS: Words = Words("Operations", "संचालन");
pub(crate) const REFERENCE: Words = Words("API reference", "API संदर्भ");
pub(crate) const HELP: Words = Words("Help", "मदद");
pub(crate) const TEAM: Words = Words("Team", "टीम");
pub(crate) const ACCOUNT: Words = Words("Your account", "आपका खाता");
pub(crate) const PROJECTS: Words = Words("Projects", "प्रोजेक्ट");
pub(crate) const THEME: Words = Words("Theme", "रंग");
pub(crate) const LANGUAGE: Words = Words("Language", "भाषा");
pub(crate) const THEME_SYSTEM: Words = Words("System", "सिस्टम जैसा");
pub(crate) const THEME_LIGHT: Words = Words("Light", "हल्का");
pub(crate) const THEME_DARK: Words = Words("Dark", "गहरा");
pub(crate) const MODE: Words = Words("Mode", "मोड");
pub(crate) const TEST_MODE: Words = Words("Test mode", "टेस्ट मोड");
pub(crate) const OVER: &str = "Disconnected. Reload the page to continue.";
pub(crate) const REPLACED: &str =
    "Stopped: too many pages with live updates are open. Select this one to continue.";

pub(crate) const fn mode(mode: KeyMode) -> Words {
    match mode {
        KeyMode::Live => Words("Live", "लाइव"),
        KeyMode::Test => Words("Test", "टेस्ट"),
    }
}
