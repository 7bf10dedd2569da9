//! Texts of the search for pages, projects, ids and numbers.

use crate::language::Translated;
use dwar_kernel::KeyMode;
use dwar_operator::Command;

pub(crate) const TITLE: Translated = Translated("Search", "खोजें");
pub(crate) const LEAD: &str = "Pages, actions, projects, ids, or a whole phone number.";
pub(crate) const WHAT: Translated =
    Translated("Page, action, project, ID or phone number", "पेज, काम, प्रोजेक्ट, ID या फ़ोन नंबर");
pub(crate) const KEYS: &str = "Ctrl K";
pub(crate) const RECENT: &str = "Recent";
pub(crate) const ACTION: &str = "Action";
pub(crate) const SHORTCUTS: Translated = Translated("Keyboard shortcuts", "कीबोर्ड शॉर्टकट");
/// The keyboard shortcuts of every page, and their effects.
pub(crate) const ALL_SHORTCUTS: [(&str, Translated); 5] = [
    ("Ctrl K, ⌘K", Translated("Search", "खोजें")),
    ("?", Translated("Show this list", "यह सूची दिखाएँ")),
    ("↑ ↓", Translated("Move through what was found", "मिले परिणामों में चलें")),
    ("← → Home End", Translated("Read the bars of a chart", "चार्ट के बार पढ़ें")),
    ("Esc", Translated("Close", "बंद करें")),
];

pub(crate) const ACTIONS: [(Command, &str, &str); 4] = [
    (Command::CreateProject, "/projects#name", "New project"),
    (Command::InviteOperator, "/team#invite", "Invite a person"),
    (Command::MakeToken, "/tokens", "Create an admin token"),
    (Command::ShowOperations, "/operations", "Check what needs attention"),
];
/// Actions in a project, with paths below its address, and the sections of its settings.
pub(crate) const ACTIONS_IN_PROJECT: [(Command, &str, &str); 13] = [
    (Command::Play, "playground", "Send a test code"),
    (Command::SearchRequests, "activity#phone", "Find out why a code did not arrive"),
    (Command::RegenerateKey, "keys#regenerate-test-word", "Regenerate the test key"),
    (Command::RegenerateKey, "keys#regenerate-live-word", "Regenerate the live key"),
    (Command::CreditWallet, "wallet", "Add credit"),
    (Command::ChangePrices, "settings/project", "Change prices"),
    (Command::ShowProject, "settings/messages", "Settings: Messages"),
    (Command::ShowProject, "settings/delivery", "Settings: Delivery"),
    (Command::ShowProject, "settings/tokens", "Settings: Tokens"),
    (Command::ListWebhooks, "settings/events#endpoints", "Settings: Events"),
    (Command::ListHooks, "settings/events#hooks", "Settings: Hooks"),
    (Command::ShowProject, "settings/project", "Settings: Project"),
    (Command::ArchiveProject, "settings/project#archive", "Archive the project"),
];
pub(crate) const NUMBER: &str = "Press Enter to see what happened to this number.";
pub(crate) const NOTHING: &str =
    "Nothing found. An ID has to be whole; a phone number is searched for within a project.";
pub(crate) const PROJECT: &str = "Project";
pub(crate) const REQUEST: &str = "Request";
pub(crate) const ENDPOINT: &str = "Event endpoint";
pub(crate) const KEY: &str = "Key ID";

pub(crate) const fn key(mode: KeyMode) -> &'static str {
    match mode {
        KeyMode::Live => "Live key",
        KeyMode::Test => "Test key",
    }
}
