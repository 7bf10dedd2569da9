use crate::language::Language;
use dwar_otp::sandbox::Scenario;

pub(crate) const ORDINARY: &str = "9876543210";

/// The steps: their names for the script, and the path that each calls.
pub(crate) const STEPS: [(&str, &str); 5] = [
    ("send", "/v1/otp/send"),
    ("verify", "/v1/otp/verify"),
    ("validate", "/v1/session/validate"),
    ("refresh", "/v1/session/refresh"),
    ("logout", "/v1/session/logout"),
];

/// The texts of the page in one language.
pub(crate) struct PlaygroundTexts {
    pub(crate) title: &'static str,
    pub(crate) lead: &'static str,
    pub(crate) no_script: &'static str,
    pub(crate) archived: &'static str,
    pub(crate) phone: &'static str,
    pub(crate) phone_hint: &'static str,
    pub(crate) magic: &'static str,
    pub(crate) code: &'static str,
    pub(crate) request: &'static str,
    pub(crate) answer: &'static str,
    pub(crate) not_yet: &'static str,
    pub(crate) copy: &'static str,
    pub(crate) copied: &'static str,
    pub(crate) details: &'static str,
    pub(crate) story: &'static str,
    pub(crate) story_title: &'static str,
    pub(crate) next_title: &'static str,
    pub(crate) next: &'static str,
    pub(crate) next_keys: &'static str,
    pub(crate) next_api: &'static str,
    /// The link to the description of an operation.
    pub(crate) reference: &'static str,
    pub(crate) key: &'static str,
    pub(crate) key_hint: &'static str,
    pub(crate) phone_title: &'static str,
    pub(crate) phone_empty: &'static str,
    pub(crate) delivery: &'static str,
    pub(crate) inbox: &'static str,
    pub(crate) token: &'static str,
    pub(crate) token_empty: &'static str,
    pub(crate) header: &'static str,
    pub(crate) claims: &'static str,
    pub(crate) mode: &'static str,
    pub(crate) form_title: &'static str,
    pub(crate) form_lead: &'static str,
    pub(crate) embed: &'static str,
    /// In the order of [`STEPS`].
    pub(crate) steps: [StepTexts; 5],
    pub(crate) scenes: [&'static str; 7],
    /// The texts that the script shows, by name.
    pub(crate) script: &'static [(&'static str, &'static str)],
}

/// The texts of a step: title, description, button.
pub(crate) struct StepTexts {
    pub(crate) title: &'static str,
    pub(crate) sentence: &'static str,
    pub(crate) button: &'static str,
}

impl PlaygroundTexts {
    pub(crate) const fn of(language: Language) -> &'static Self {
        match language {
            Language::English => &ENGLISH,
            Language::Hindi => &HINDI,
        }
    }

    pub(crate) const fn scene(&self, scenario: Scenario) -> &'static str {
        let place = match scenario {
            Scenario::Delivered => 0,
            Scenario::SmsDelivers => 1,
            Scenario::BothFail => 2,
            Scenario::LateFailure => 3,
            Scenario::InsufficientBalance => 4,
            Scenario::SlowDelivery => 5,
            Scenario::ProofRequired => 6,
        };
        self.scenes[place]
    }
}

const fn step(title: &'static str, sentence: &'static str, button: &'static str) -> StepTexts {
    StepTexts { title, sentence, button }
}

const ENGLISH: PlaygroundTexts = PlaygroundTexts {
    title: "Playground",
    lead: "The whole login through the real API, in test mode. Nothing is sent or charged.",
    no_script: "The playground needs JavaScript. All other pages work without it.",
    archived: "This project is archived, so its test key is refused. Restore the project to use the playground.",
    phone: "Phone number",
    phone_hint: "Any Indian mobile number. No message leaves this machine.",
    magic: "Simulate an outcome",
    code: "Code",
    request: "Request",
    answer: "Response",
    not_yet: "No response yet. Run this step to see it here, with its headers.",
    copy: "Copy",
    copied: "Copied",
    details: "Request and response",
    story: "Story",
    story_title: "What happened to this request",
    next_title: "The code is verified",
    next: "Your user is signed in, with an access token and a refresh token. Next, validate the access token below, as your backend does on each request. Or call the API from your own code:",
    next_keys: "API keys",
    next_api: "API description (OpenAPI)",
    reference: "API reference",
    key: "Your test key (optional)",
    key_hint: "Fills in the code examples. It stays in this page.",
    phone_title: "The user's phone",
    phone_empty: "No messages yet. Send a code to see it here.",
    delivery: "Delivery",
    inbox: "All test messages",
    token: "Decoded access token",
    token_empty: "Verify a code to see its access token decoded here. Your browser checks the signature against the key set.",
    header: "Header",
    claims: "Claims",
    mode: "Test mode",
    form_title: "The login form",
    form_lead: "What your users see: <dwar-login>, a web component without dependencies (clients/form). Here it logs in to the sandbox, and its code comes to the phone beside it.",
    embed: "On a page of your own, with the login contract of your backend at /login:",
    steps: [
        step(
            "Send a code",
            "Tries WhatsApp, then SMS. The code expires after ten minutes.",
            "Send code",
        ),
        step(
            "Verify the code",
            "The right code works once and returns a pair of tokens.",
            "Verify",
        ),
        step(
            "Validate the session",
            "Your backend calls this on each request to check the access token.",
            "Validate",
        ),
        step("Refresh the session", "Returns new tokens. The old ones stop working.", "Refresh"),
        step("Log out", "Ends the session. Validate again to see the effect.", "Log out"),
    ],
    scenes: [
        "WhatsApp delivers",
        "WhatsApp refuses, SMS delivers",
        "Both channels fail",
        "WhatsApp fails late, SMS delivers",
        "Insufficient balance",
        "Delivered with a delay",
        "A proof is required",
    ],
    script: &[
        ("copied", "Copied"),
        ("why_INSUFFICIENT_BALANCE", "No message came: the balance is too low to send a code."),
        (
            "why_PROOF_REQUIRED",
            "No message came: the guard asks for a proof that a person wants the code.",
        ),
        ("why_SMS_FAILED", "No message came: WhatsApp and SMS both failed."),
        (
            "why_OTP_RATE_LIMITED",
            "No message came: too many codes for this number. Try again in {time}.",
        ),
        ("why_RATE_LIMITED", "No message came: too many requests. Try again in {time}."),
        ("why_INVALID_PHONE", "No message came: this is not an Indian mobile number."),
        ("why", "No message came: {error}"),
        ("running", "Sending…"),
        ("failed", "The request failed. Is the service still running?"),
        ("stale", "Your session has expired. Reload the page to sign in again."),
        ("headers", "Headers"),
        ("left", "{left} of {limit} left"),
        ("reset", "resets in {time}"),
        ("full", "limit reset"),
        ("fill", "Fill in {code}"),
        ("whatsapp", "WhatsApp"),
        ("sms", "Messages"),
        (
            "webotp",
            "Browsers on {domain} read the line that begins with @ and offer to fill in the code (WebOTP).",
        ),
        ("today", "Today"),
        ("attempt_queued", "Requested"),
        ("attempt_sent", "Sent"),
        ("attempt_delivered", "Delivered"),
        ("attempt_failed", "Failed"),
        ("checking", "Checking the signature…"),
        ("good", "Valid signature by key {kid} of the key set, checked in this browser."),
        ("bad", "Invalid signature: no key of the key set matches."),
        ("cannot", "This browser cannot check {alg} signatures here."),
        ("expires", "{time} left"),
        ("expired", "Expired"),
        ("claim_iss", "Issuer: your tokens.issuer setting"),
        ("claim_aud", "Audience: this project"),
        ("claim_client_id", "Client: this project"),
        ("claim_sub", "Subject: the identity of the phone number. Use it as your user ID"),
        ("claim_sid", "Session ID. It stays the same across refreshes"),
        ("claim_jti", "Token ID"),
        ("claim_iat", "Issued"),
        ("claim_exp", "Expires"),
        ("claim_mode", "Mode: test or live, kept separate"),
        ("header_alg", "Signature algorithm"),
        ("header_kid", "ID of the signing key in /.well-known/jwks.json"),
        ("header_typ", "Access token (RFC 9068)"),
    ],
};

const HINDI: PlaygroundTexts = PlaygroundTexts {
    title: "प्लेग्राउंड",
    lead: "पूरा लॉगिन, असली API से, टेस्ट मोड में। न कोई संदेश भेजा जाता है, न कोई शुल्क लगता है।",
    no_script: "प्लेग्राउंड के लिए JavaScript ज़रूरी है। बाकी सभी पेज इसके बिना चलते हैं।",
    archived: "यह प्रोजेक्ट आर्काइव किया गया है, इसलिए इसकी टेस्ट कुंजी नहीं चलती। प्लेग्राउंड इस्तेमाल करने के लिए प्रोजेक्ट को बहाल करें।",
    phone: "फ़ोन नंबर",
    phone_hint: "कोई भी भारतीय मोबाइल नंबर। कोई संदेश इस मशीन से बाहर नहीं जाता।",
    magic: "कोई परिणाम आज़माएँ",
    code: "कोड",
    request: "अनुरोध",
    answer: "जवाब",
    not_yet: "अभी कोई जवाब नहीं है। जवाब और उसके हेडर देखने के लिए यह चरण चलाएँ।",
    copy: "कॉपी करें",
    copied: "कॉपी हो गया",
    details: "अनुरोध और जवाब",
    story: "विवरण",
    story_title: "इस अनुरोध का क्या हुआ",
    next_title: "कोड सत्यापित हो गया",
    next: "आपका उपयोगकर्ता साइन इन है, उसके पास एक्सेस टोकन और रीफ़्रेश टोकन हैं। अब नीचे एक्सेस टोकन की जाँच करें, जैसे आपका बैकएंड हर अनुरोध पर करता है। या अपने कोड से API इस्तेमाल करें:",
    next_keys: "API कुंजियाँ",
    next_api: "API का विवरण (OpenAPI)",
    reference: "API संदर्भ",
    key: "आपकी टेस्ट कुंजी (वैकल्पिक)",
    key_hint: "कोड के उदाहरणों में भरी जाती है। यह इसी पेज में रहती है।",
    phone_title: "उपयोगकर्ता का फ़ोन",
    phone_empty: "अभी कोई संदेश नहीं है। कोड भेजें, वह यहाँ दिखेगा।",
    delivery: "डिलीवरी",
    inbox: "सभी टेस्ट संदेश",
    token: "डिकोड किया गया एक्सेस टोकन",
    token_empty: "कोड सत्यापित करें, तब उसका एक्सेस टोकन यहाँ डिकोड होकर दिखेगा। हस्ताक्षर की जाँच आपका ब्राउज़र करता है।",
    header: "हेडर",
    claims: "क्लेम",
    mode: "टेस्ट मोड",
    form_title: "लॉगिन फ़ॉर्म",
    form_lead: "आपके उपयोगकर्ता यही देखते हैं: <dwar-login>, बिना किसी निर्भरता का वेब कंपोनेंट (clients/form)। यहाँ यह सैंडबॉक्स में लॉगिन करता है, और इसका कोड साथ वाले फ़ोन पर आता है।",
    embed: "आपके अपने पेज पर, जब आपके बैकएंड का लॉगिन कॉन्ट्रैक्ट /login पर हो:",
    steps: [
        step(
            "कोड भेजें",
            "पहले WhatsApp, फिर SMS से भेजता है। कोड दस मिनट बाद समाप्त हो जाता है।",
            "कोड भेजें",
        ),
        step("कोड सत्यापित करें", "सही कोड एक ही बार चलता है और दो टोकन देता है।", "सत्यापित करें"),
        step("सत्र की जाँच करें", "आपका बैकएंड हर अनुरोध पर एक्सेस टोकन की जाँच इसी से करता है।", "जाँच करें"),
        step("सत्र नया करें", "नए टोकन देता है। पुराने टोकन काम करना बंद कर देते हैं।", "नया करें"),
        step("लॉग आउट करें", "सत्र समाप्त करता है। असर देखने के लिए फिर से जाँच करें।", "लॉग आउट करें"),
    ],
    scenes: [
        "WhatsApp से पहुँचा",
        "WhatsApp ने मना किया, SMS से पहुँचा",
        "दोनों चैनल विफल",
        "WhatsApp देर से विफल, SMS से पहुँचा",
        "बैलेंस कम है",
        "देर से पहुँचा",
        "प्रमाण माँगा गया",
    ],
    script: &[
        ("copied", "कॉपी हो गया"),
        ("why_INSUFFICIENT_BALANCE", "कोई संदेश नहीं आया: कोड भेजने के लिए बैलेंस कम है।"),
        (
            "why_PROOF_REQUIRED",
            "कोई संदेश नहीं आया: सुरक्षा इस बात का प्रमाण माँगती है कि कोड कोई व्यक्ति माँग रहा है।",
        ),
        ("why_SMS_FAILED", "कोई संदेश नहीं आया: WhatsApp और SMS दोनों विफल रहे।"),
        (
            "why_OTP_RATE_LIMITED",
            "कोई संदेश नहीं आया: इस नंबर पर बहुत सारे कोड भेजे जा चुके हैं। {time} बाद फिर कोशिश करें।",
        ),
        ("why_RATE_LIMITED", "कोई संदेश नहीं आया: बहुत सारे अनुरोध हुए। {time} बाद फिर कोशिश करें।"),
        ("why_INVALID_PHONE", "कोई संदेश नहीं आया: यह भारतीय मोबाइल नंबर नहीं है।"),
        ("why", "कोई संदेश नहीं आया: {error}"),
        ("running", "भेजा जा रहा है…"),
        ("failed", "अनुरोध विफल रहा। क्या सेवा चल रही है?"),
        ("stale", "आपका सत्र समाप्त हो गया है। फिर से साइन इन करने के लिए पेज दोबारा लोड करें।"),
        ("headers", "हेडर"),
        ("left", "{limit} में से {left} शेष"),
        ("reset", "{time} में रीसेट"),
        ("full", "सीमा रीसेट हो गई"),
        ("fill", "{code} भरें"),
        ("whatsapp", "WhatsApp"),
        ("sms", "संदेश"),
        ("webotp", "@ से शुरू होने वाली पंक्ति पढ़कर {domain} पर ब्राउज़र कोड भरने का सुझाव देते हैं (WebOTP)।"),
        ("today", "आज"),
        ("attempt_queued", "अनुरोध किया गया"),
        ("attempt_sent", "भेजा गया"),
        ("attempt_delivered", "पहुँच गया"),
        ("attempt_failed", "विफल"),
        ("checking", "हस्ताक्षर जाँचा जा रहा है…"),
        ("good", "हस्ताक्षर सही है: कुंजी सेट की कुंजी {kid}, इसी ब्राउज़र में जाँचा गया।"),
        ("bad", "हस्ताक्षर गलत है: कुंजी सेट की कोई कुंजी मेल नहीं खाती।"),
        ("cannot", "यह ब्राउज़र {alg} हस्ताक्षर नहीं जाँच सकता।"),
        ("expires", "{time} शेष"),
        ("expired", "समाप्त"),
        ("claim_iss", "जारीकर्ता: आपकी tokens.issuer सेटिंग"),
        ("claim_aud", "किसके लिए: यह प्रोजेक्ट"),
        ("claim_client_id", "क्लाइंट: यह प्रोजेक्ट"),
        ("claim_sub", "कौन: इस फ़ोन नंबर की पहचान। इसे अपनी यूज़र ID की तरह इस्तेमाल करें"),
        ("claim_sid", "सत्र ID। नया करने पर भी यही रहती है"),
        ("claim_jti", "टोकन ID"),
        ("claim_iat", "जारी हुआ"),
        ("claim_exp", "समाप्त होगा"),
        ("claim_mode", "मोड: test या live, दोनों अलग हैं"),
        ("header_alg", "हस्ताक्षर का एल्गोरिदम"),
        ("header_kid", "/.well-known/jwks.json में हस्ताक्षर करने वाली कुंजी की ID"),
        ("header_typ", "एक्सेस टोकन (RFC 9068)"),
    ],
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_has_every_text_in_every_language() {
        let texts = |language| PlaygroundTexts::of(language).script;
        let fields = |text: &str| {
            let mut fields: Vec<_> =
                text.split('{').skip(1).filter_map(|it| it.split('}').next()).collect();
            fields.sort_unstable();
            fields.join(" ")
        };
        for (english, hindi) in texts(Language::English).iter().zip(texts(Language::Hindi)) {
            assert_eq!((english.0, fields(english.1)), (hindi.0, fields(hindi.1)));
        }
        assert_eq!(texts(Language::English).len(), texts(Language::Hindi).len());
    }
}
