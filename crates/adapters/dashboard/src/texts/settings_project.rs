use super::common::DestructiveFormTexts;

type LabelAndHint = (&'static str, &'static str);

pub(crate) const PROJECT: LabelAndHint =
    ("Project", "What this project is called here and in messages.");
pub(crate) const ID: &str = "Project ID";
pub(crate) const ARCHIVING: &str = "Archive this project";
pub(crate) const ARCHIVING_HINT: &str =
    "Ends its use without deleting anything. You can restore it at any time.";
pub(crate) const ARCHIVE: DestructiveFormTexts = DestructiveFormTexts {
    summary: "Archive project…",
    consequences: &[
        "Both API keys are refused immediately, on every server. Nobody can log in, and validate, refresh and logout fail too.",
        "Codes already sent are still delivered, settled and told as events.",
        "Wallet, identities, sessions, settings and logs are kept. Sessions and codes go on expiring.",
    ],
    button: "Archive project",
};
pub(crate) const ARCHIVED: &str = "Archived on";
pub(crate) const REFUSED: &str = "Its API keys are refused.";
pub(crate) const RESTORE: &str = "Restore project";
