use dwar_otp::sandbox::Scenario;

pub(crate) const TITLE: &str = "Playground";
pub(crate) const LEAD: &str =
    "The whole login, step by step, through the real API in test mode. Nothing is sent or charged.";
pub(crate) const NO_SCRIPT: &str =
    "The playground needs JavaScript. All other pages work without it.";
pub(crate) const PHONE: &str = "Phone number";
pub(crate) const PHONE_HINT: &str = "Any Indian mobile number. No message leaves this machine.";
pub(crate) const MAGIC: &str = "Simulate an outcome";
pub(crate) const CODE: &str = "Code";
pub(crate) const ORDINARY: &str = "9876543210";
pub(crate) const REQUEST: &str = "Request";
pub(crate) const ANSWER: &str = "Response";
pub(crate) const NOT_YET: &str = "No response yet. Run this step to see it here, with its headers.";
pub(crate) const COPY: &str = "Copy";
pub(crate) const KEY: &str = "Your test key, for the code examples";
pub(crate) const KEY_HINT: &str = "It stays in this page, is not sent anywhere and is gone when you close it. The playground itself needs no key.";
pub(crate) const PHONE_TITLE: &str = "The user's phone";
pub(crate) const PHONE_EMPTY: &str = "No messages yet. Send a code to see it here.";
pub(crate) const DELIVERY: &str = "Delivery";
pub(crate) const TOKEN: &str = "Decoded access token";
pub(crate) const TOKEN_EMPTY: &str = "Verify a code to see its access token decoded here. Your browser checks the signature against the key set.";
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
        "Tries WhatsApp, then SMS. The code expires after ten minutes.",
        "Send code",
    ),
    step(
        "verify",
        "/v1/otp/verify",
        "Verify the code",
        "The right code works once and returns a pair of tokens.",
        "Verify",
    ),
    step(
        "validate",
        "/v1/session/validate",
        "Validate the session",
        "Your backend calls this on each request to check the access token.",
        "Validate",
    ),
    step(
        "refresh",
        "/v1/session/refresh",
        "Refresh the session",
        "Returns new tokens. The old ones stop working.",
        "Refresh",
    ),
    step(
        "logout",
        "/v1/session/logout",
        "Log out",
        "Ends the session. Validate again to see the effect.",
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
        Scenario::InsufficientBalance => "Insufficient balance",
        Scenario::SlowDelivery => "Delivered with a delay",
    }
}

/// What the script writes, as names and texts.
pub(crate) const SCRIPT: &[(&str, &str)] = &[
    ("copied", "Copied"),
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
    ("webotp", "With the last line, browsers on {domain} offer to fill in the code (WebOTP)."),
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
];
