use super::common::DestructiveFormTexts;
use dwar_project::HookKind;

pub(crate) const HOOKS: (&str, &str) = (
    "Hooks",
    "Addresses that another login system calls to have its own codes delivered. That system \
     makes and verifies the codes.",
);
pub(crate) const NONE: &str =
    "No hooks yet. Add one, and enter its address and secret in the other system.";
pub(crate) const SYSTEM: &str = "System";
pub(crate) const LIVE: &str = "Live, charged";
pub(crate) const TEST: &str = "Test, to the sandbox";
pub(crate) const LIFETIME: &str = "Codes are valid for (seconds)";
pub(crate) const LIFETIME_HINT: &str =
    "As set in the other system, 60 to 3600. The message names it in minutes.";
pub(crate) const MFA_LIFETIME: &str = "Second-factor codes are valid for (seconds)";
pub(crate) const MFA_LIFETIME_HINT: &str =
    "Only for Supabase: 300 if left empty. Leave it empty for other systems.";
pub(crate) const KEEP_HINT: &str = "Leave empty to keep it.";
pub(crate) const ADD: &str = "Add hook";
pub(crate) const CHANGE: &str = "Change how long codes are valid";
pub(crate) const HOOK: &str = "Hook";
pub(crate) const SECRET: &str = "Secret of the hook";
pub(crate) const ENTER: &str = "Address of the hook:";
pub(crate) const SECRET_ONCE: &str = "Copy it now. You will not see it again. If it replaces \
                                      another secret, that one is also accepted for a day.";
pub(crate) const OLD_SECRET: &str = "The old secret is accepted until";
pub(crate) const CODES_WORK: &str = "codes work";
pub(crate) const SECONDS: &str = "seconds";
pub(crate) const MFA_CODES: &str = "those of its second factor";
pub(crate) const REMOVE: DestructiveFormTexts = DestructiveFormTexts {
    summary: "Remove hook",
    consequences: &[
        "Calls to its address are refused. The other system can no longer have codes delivered.",
    ],
    button: "Remove hook",
};

/// Where to enter the hook in the other system.
pub(crate) const fn system(kind: HookKind) -> &'static str {
    match kind {
        HookKind::Supabase => "Supabase, Send SMS",
        HookKind::Logto => "Logto, HTTP SMS",
    }
}
