use crate::language::Language;

/// The texts of the sign-in page in one language.
pub(crate) struct SignInTexts {
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

impl SignInTexts {
    pub(crate) const fn of(language: Language) -> &'static Self {
        match language {
            Language::English => &ENGLISH,
            Language::Hindi => &HINDI,
        }
    }
}

const ENGLISH: SignInTexts = SignInTexts {
    title: "Sign in",
    name: "Name",
    password: "Password",
    code: "Authenticator code",
    button: "Sign in",
    wrong: "Wrong name or password.",
    wrong_code: "Wrong code, or one that was already used.",
    too_late: "That took too long. Sign in again.",
    start_again: "Use a different account",
    locked: "Too many failed attempts. Try again in {seconds} s.",
    forgotten: "Forgot your password? A person with access to the server can run",
    busy: "Too many people are signing in right now. Nothing was changed. Try again in a moment.",
    passkey: "Sign in with a passkey",
    passkey_wrong: "This passkey is not registered here.",
    passkey_failed: "The browser did not provide a passkey. Nothing was changed.",
    passkey_not_asked: "The service did not answer. Try again.",
};

const HINDI: SignInTexts = SignInTexts {
    title: "साइन इन करें",
    name: "नाम",
    password: "पासवर्ड",
    code: "ऑथेंटिकेटर ऐप का कोड",
    button: "साइन इन करें",
    wrong: "नाम या पासवर्ड गलत है।",
    wrong_code: "कोड गलत है, या पहले इस्तेमाल हो चुका है।",
    too_late: "समय समाप्त हो गया। फिर से साइन इन करें।",
    start_again: "किसी और खाते से साइन इन करें",
    locked: "बहुत सारे गलत प्रयास हुए। {seconds} सेकंड बाद फिर कोशिश करें।",
    forgotten: "पासवर्ड भूल गए? जिसके पास सर्वर का ऐक्सेस है, वह यह कमांड चला सकता है:",
    busy: "अभी बहुत लोग साइन इन कर रहे हैं। कुछ नहीं बदला। थोड़ी देर बाद फिर कोशिश करें।",
    passkey: "पासकी से साइन इन करें",
    passkey_wrong: "यह पासकी यहाँ पंजीकृत नहीं है।",
    passkey_failed: "ब्राउज़र से पासकी नहीं मिली। कुछ नहीं बदला।",
    passkey_not_asked: "सेवा से जवाब नहीं मिला। फिर कोशिश करें।",
};
