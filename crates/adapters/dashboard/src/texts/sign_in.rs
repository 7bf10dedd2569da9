use super::hindi;
use crate::language::Language;

/// The texts of the sign-in page in one language.
pub(crate) struct SignIn {
    pub(crate) title: &'static str,
    pub(crate) name: &'static str,
    pub(crate) password: &'static str,
    pub(crate) code: &'static str,
    pub(crate) button: &'static str,
    pub(crate) wrong: &'static str,
    pub(crate) wrong_code: &'static str,
    pub(crate) too_late: &'static str,
    pub(crate) start_again: &'static str,
    pub(crate) locked: &'static str,
    pub(crate) forgotten: &'static str,
    pub(crate) busy: &'static str,
    pub(crate) passkey: &'static str,
    pub(crate) passkey_wrong: &'static str,
    pub(crate) passkey_failed: &'static str,
    pub(crate) passkey_not_asked: &'static str,
}

impl SignIn {
    pub(crate) const fn of(language: Language) -> &'static Self {
        match language {
            Language::English => &ENGLISH,
            Language::Hindi => &hindi::sign_in::TEXTS,
        }
    }
}

const ENGLISH: SignIn = SignIn {
    title: "Sign in",
    name: "Name",
    password: "Password",
    code: "Authenticator code",
    button: "Sign in",
    wrong: "Wrong name or password.",
    wrong_code: "Wrong code, or one that was already used.",
    too_late: "That took too long. Sign in again.",
    start_again: "Use a different account",
    locked: "Too many failed attempts. Try again in {seconds} seconds.",
    forgotten: "Forgot your password? Somebody with access to the server can run",
    busy: "Too many people are signing in right now. Nothing was changed. Try again in a moment.",
    passkey: "Sign in with a passkey",
    passkey_wrong: "This passkey is not registered here.",
    passkey_failed: "The browser did not provide a passkey. Nothing was changed.",
    passkey_not_asked: "The service did not answer. Try again.",
};
