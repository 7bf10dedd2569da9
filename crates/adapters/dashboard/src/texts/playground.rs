use dwar_otp::sandbox::Scenario;

pub(crate) const TITLE: &str = "Playground";
pub(crate) const LEAD: &str = "The whole login, step by step, through the real API in test mode. Nothing is sent, nothing is charged.";
pub(crate) const NO_SCRIPT: &str =
    "The playground needs JavaScript; everything else here works without it.";
pub(crate) const PHONE: &str = "Phone number";
pub(crate) const PHONE_HINT: &str =
    "Any Indian mobile number, not only your own: no message leaves this machine.";
pub(crate) const MAGIC: &str = "Or one that plays a scenario";
pub(crate) const CODE: &str = "Code";
pub(crate) const ORDINARY: &str = "9876543210";
pub(crate) const REQUEST: &str = "Request";
pub(crate) const ANSWER: &str = "Answer";
pub(crate) const NOT_YET: &str =
    "Nothing requested yet. Run this step to see the answer here, with its headers.";
pub(crate) const COPY: &str = "Copy";
pub(crate) const KEY: &str = "Your test key, for the examples";
pub(crate) const KEY_HINT: &str = "Stays in this page: it is not sent anywhere and is gone when you close it. The playground itself needs none.";
pub(crate) const PHONE_TITLE: &str = "What its owner sees";
pub(crate) const PHONE_EMPTY: &str = "No message yet. Send a code and it appears here.";
pub(crate) const DELIVERY: &str = "Delivery";
pub(crate) const TOKEN: &str = "Access token, decoded";
pub(crate) const TOKEN_EMPTY: &str = "Verify a code to see its token decoded here and its signature checked against the key set, in your browser.";
pub(crate) const HEADER: &str = "Header";
pub(crate) const CLAIMS: &str = "Claims";
pub(crate) const MODE: &str = "Test mode";

/// A step of the flow: its word, its title, what it does, its button.
pub(crate) struct PlaygroundStep {
    pub(crate) name: &'static str,
    pub(crate) method: &'static str,
    pub(crate) path: &'static str,
    pub(crate) title: &'static str,
    pub(crate) sentence: &'static str,
    pub(crate) button: &'static str,
}

const fn step(
    name: &'static str,
    path: &'static str,
    title: &'static str,
    sentence: &'static str,
    button: &'static str,
) -> PlaygroundStep {
    PlaygroundStep { name, method: "POST", path, title, sentence, button }
}

pub(crate) const STEPS: [PlaygroundStep; 5] = [
    step(
        "send",
        "/v1/otp/send",
        "Send a code",
        "Tries WhatsApp, then SMS. The code lives for ten minutes.",
        "Send code",
    ),
    step(
        "verify",
        "/v1/otp/verify",
        "Verify it",
        "The right code works once and gives a token pair.",
        "Verify",
    ),
    step(
        "validate",
        "/v1/session/validate",
        "Validate the session",
        "What your backend asks on each request: is this access token still valid?",
        "Validate",
    ),
    step(
        "refresh",
        "/v1/session/refresh",
        "Refresh it",
        "A new pair; the old one is invalid from now on.",
        "Refresh",
    ),
    step(
        "logout",
        "/v1/session/logout",
        "Log out",
        "Ends the session for good. Validate again to see it.",
        "Log out",
    ),
];

/// What a magic number plays.
pub(crate) const fn scene(scenario: Scenario) -> &'static str {
    match scenario {
        Scenario::Delivered => "WhatsApp delivers",
        Scenario::SmsDelivers => "WhatsApp refuses, SMS delivers",
        Scenario::BothFail => "Both channels fail",
        Scenario::LateFailure => "WhatsApp fails late, SMS delivers",
        Scenario::InsufficientBalance => "The wallet is too low",
        Scenario::SlowDelivery => "Delivered after a while",
    }
}

/// What the script writes, as names and texts.
pub(crate) const SCRIPT: &[(&str, &str)] = &[
    ("copied", "Copied"),
    ("running", "Asking…"),
    ("failed", "The request failed. Is the service still running?"),
    ("stale", "Your session has ended. Reload this page to sign in again."),
    ("headers", "Headers"),
    ("left", "{left} of {limit} left"),
    ("reset", "all back in {time}"),
    ("full", "all there"),
    ("fill", "Fill in {code}"),
    ("whatsapp", "WhatsApp"),
    ("sms", "Messages"),
    ("webotp", "The last line lets the browser on {domain} offer to fill in the code (WebOTP)."),
    ("today", "Today"),
    ("attempt_queued", "requested"),
    ("attempt_sent", "sent"),
    ("attempt_delivered", "delivered"),
    ("attempt_failed", "failed"),
    ("checking", "Checking the signature…"),
    ("good", "The signature is valid: key {kid} of the key set, checked in this browser."),
    ("bad", "The signature is NOT valid for any key of the key set."),
    ("cannot", "This browser cannot check {alg} signatures here."),
    ("expires", "{time} left"),
    ("expired", "expired"),
    ("claim_iss", "Who issued it: your tokens.issuer setting"),
    ("claim_aud", "Whom it is for: this project"),
    ("claim_client_id", "Who asked for it: this project"),
    (
        "claim_sub",
        "Who logged in: the identity behind the phone number. Use it as the key of your user",
    ),
    ("claim_sid", "The session. It stays the same across refreshes"),
    ("claim_jti", "This very token"),
    ("claim_iat", "Issued"),
    ("claim_exp", "Expires"),
    ("claim_mode", "test or live: two separate worlds"),
    ("header_alg", "How it is signed"),
    ("header_kid", "Which key of /.well-known/jwks.json signed it"),
    ("header_typ", "An access token by RFC 9068"),
];
