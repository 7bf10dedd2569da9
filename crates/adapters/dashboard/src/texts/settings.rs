use super::common::DestructiveFormTexts;
use dwar_otp::{DltForm, DltWarning};
use dwar_project::Setting;

pub(crate) type LabelAndHint = (&'static str, &'static str);

/// The name of a setting, and a hint.
pub(crate) const fn words(setting: Setting) -> LabelAndHint {
    match setting {
        Setting::Name => ("Name", "Messages show it too, unless there is a brand name below."),
        Setting::IdentityLookup => {
            ("Allow lookup", "GET /v1/identity returns the phone number of an identity.")
        }
        Setting::IdentityDelete => (
            "Allow deletion",
            "DELETE /v1/identity erases a person permanently and ends all their sessions.",
        ),
        Setting::RelayLive => {
            ("Allow with the live key", "Each code costs what a login code costs.")
        }
        Setting::RelayTest => ("Allow with the test key", "The codes go to the sandbox."),
        Setting::EventsFeed => (
            "Keep events",
            "For up to 7 days. After switching this off and on again, readers have to start \
             without a cursor.",
        ),
        Setting::Guard => (
            "During a flood of sends",
            "off counts nothing, watch counts and shows, enforce asks visitors for a proof.",
        ),
        Setting::OwnIssuer => (
            "An issuer of its own",
            "The iss of live tokens is tokens.issuer followed by /p/ and the project ID, and \
             discovery is published there. Tokens of other projects and test tokens never have \
             this iss.",
        ),
        Setting::TokenClaims => (
            "Claims of these tokens",
            "One name=value per line, at most 8, 512 bytes together. A name is a word in lower \
             case or an https:// URL. Supabase needs role=authenticated.",
        ),
        Setting::TokenType => (
            "Type of these tokens",
            "The typ in their header. Choose JWT for systems that refuse at+jwt, such as Spring Boot.",
        ),
        Setting::WhatsappPrice => ("WhatsApp price per code, ₹", ""),
        Setting::SmsPrice => ("SMS price per code, ₹", ""),
        Setting::Brand => ("Brand name", ""),
        Setting::Language => {
            ("Language", "WhatsApp uses the template configured for it, if there is one.")
        }
        Setting::SmsText => (
            "SMS text",
            "Use {code}, {brand} and {minutes}. Leave empty for the default text of the language.",
        ),
        Setting::SmsTemplateId => ("DLT template ID", "The ID this text is registered under."),
        Setting::WebotpDomain => {
            ("WebOTP domain", "Browsers on this site offer to fill in the code.")
        }
        Setting::AppHash => ("Android app hash", "11 characters. Set this or a domain, not both."),
        Setting::LastLines => (
            "Other domains and hashes",
            "A send may name one of them in last_line, such as the hash of a debug build. Separate them by commas.",
        ),
        Setting::WhatsappProviders => ("WhatsApp providers", ""),
        Setting::SmsProviders => ("SMS providers", ""),
        Setting::FallbackSeconds => (
            "Fall back to SMS after (seconds)",
            "If no delivery receipt has arrived by then. 0: only if WhatsApp fails.",
        ),
        Setting::LowBalance => (
            "Low balance alert, ₹",
            "The event wallet.low is sent when the balance falls below this.",
        ),
        Setting::DailySpend => (
            "Daily spend limit, ₹",
            "Live sends beyond this are refused until midnight in India. The event spend.reached \
             is sent at 50, 80 and 100 %.",
        ),
    }
}

pub(crate) const TOKENS_TITLE: &str = "Tokens";
pub(crate) const EVENTS_TITLE: &str = "Events and hooks";
pub(crate) const PROJECT_TITLE: &str = "Project";
pub(crate) const LEAD: &str = "Changes apply immediately.";
pub(crate) const PARTS: &str = "Settings";
pub(crate) const SAVED: &str = "Saved.";
/// A word in the address, the section that shows its notice, and the notice.
pub(crate) const DONE: &[(&str, &str, &str)] = &[
    ("removed", "endpoints", "Endpoint removed."),
    ("hook-changed", "hooks", "Hook changed."),
    ("hook-removed", "hooks", "Hook removed."),
    ("restored", "project", "Project restored. Its API keys are accepted again."),
];
pub(crate) const MESSAGES: LabelAndHint = (
    "Messages",
    "What your users receive. The SMS text must be the one registered with a telecom operator (DLT), word for word.",
);
pub(crate) const LANGUAGES: &[(&str, &str)] = &[
    ("en", "English"),
    ("hi", "Hindi"),
    ("as", "Assamese"),
    ("bn", "Bengali"),
    ("gu", "Gujarati"),
    ("kn", "Kannada"),
    ("ml", "Malayalam"),
    ("mr", "Marathi"),
    ("or", "Odia"),
    ("pa", "Punjabi"),
    ("ta", "Tamil"),
    ("te", "Telugu"),
    ("ur", "Urdu"),
];
pub(crate) const DEFAULT_LANGUAGE: &str = "English (default)";
pub(crate) const SMS_IN_ENGLISH: &str = "WhatsApp template, SMS in English";
pub(crate) const IN_ENGLISH: &str = "messages in English";
pub(crate) const PAUSED_FOR: &str = "paused for";
pub(crate) const NOT_CONFIGURED: &str = "no longer configured";
pub(crate) const PREVIEW: &str = "Preview";
pub(crate) const PER_CODE: &str = "per code by SMS";
/// Explains the two encodings after a count of parts.
pub(crate) const ENCODINGS: &str = "GSM-7 is the alphabet of SMS: 160 characters to a part, or 153 in each of several. A text with any other character, such as one of Hindi, is UCS-2: 70 to a part, or 67.";
pub(crate) const SEVERAL_PARTS: &str = "Telecom operators charge for each part";
pub(crate) const IDENTITIES: LabelAndHint =
    ("Identities", "API calls to look up and delete identities. Both are off by default.");
pub(crate) const RELAY: LabelAndHint = (
    "Relay",
    "Deliver codes that another system makes and checks, with POST /v1/otp/relay. Off by default.",
);
pub(crate) const EVENTS_FEED: LabelAndHint = (
    "Events to read",
    "Systems without an endpoint read events with GET /v1/events. Off by default.",
);
pub(crate) const GUARD: LabelAndHint = (
    "Guard",
    "Bots make login forms send codes to many numbers. The guard finds such a flood and asks for a proof that a person wants the code. See the manual, Guard.",
);
pub(crate) const ROUTING: LabelAndHint = (
    "Delivery",
    "Providers that send live messages, in order, and when to fall back to SMS. Leave empty for the installation default.",
);
pub(crate) const PROVIDER_PAGES: &str = "Pages of the providers";
pub(crate) const PLACES: [&str; 3] = ["First", "Second", "Third"];
pub(crate) const THEN: &str = "Then";
pub(crate) const NO_PROVIDER: &str = "Do not send";
pub(crate) const NO_MORE: &str = "–";
pub(crate) const AS_INSTALLED: &str = "installation default";
pub(crate) const NO_SECONDS: &str =
    "Enter the time before the fallback as a whole number of seconds. Nothing was saved.";
pub(crate) const MONEY: LabelAndHint = (
    "Prices",
    "What one delivered code costs this project. Leave empty for the installation default.",
);
pub(crate) const TELLS_NOTHING: &str = "no alert";
pub(crate) const NO_LIMIT: &str = "no limit";
pub(crate) const NO_AMOUNT: &str =
    "Enter amounts in rupees with at most two decimals, up to a thousand crore. Nothing was saved.";
pub(crate) const EVENTS: LabelAndHint =
    ("Events", "Your servers that receive events, signed as Standard Webhooks.");
pub(crate) const NO_ENDPOINTS: &str =
    "No endpoints yet. Add the URL of your server, and verify each call with the secret you get.";
pub(crate) const ADDRESS: &str = "Endpoint URL";
pub(crate) const FULL_PHONE: &str = "Include full phone numbers";
pub(crate) const FULL_PHONE_HINT: &str = "Otherwise phone numbers are masked.";
pub(crate) const ADD: &str = "Add endpoint";
pub(crate) const BAD_ADDRESS: &str =
    "Endpoints must be https:// URLs of public hosts. Nothing was added.";
pub(crate) const OWNERS: &str = "An owner of the project adds, replaces and removes them: like \
                                 keys, they keep working after the account that created them \
                                 is removed.";
pub(crate) const SECRET: &str = "Signing secret";
pub(crate) const SECRET_ONCE: &str = "Copy it now. You will not see it again. If it replaces another secret, calls are signed with both for a day.";
pub(crate) const OPEN: &str = "View log";
pub(crate) const OFF: &str = "Disabled";
pub(crate) const FAILING: &str = "Failing";
pub(crate) const ON: &str = "Healthy";
pub(crate) const ENABLE: &str = "Enable";
pub(crate) const ROTATE: &str = "Rotate secret";
pub(crate) const REMOVE_WORD: &str = "remove";
pub(crate) const REMOVE: DestructiveFormTexts = DestructiveFormTexts {
    summary: "Remove endpoint",
    consequences: &[
        "The endpoint receives no more events. Events still waiting for it are dropped.",
    ],
    button: "Remove endpoint",
};
pub(crate) const REGISTER: &str = "Text to register (DLT)";
pub(crate) const REGISTER_HINT: &str =
    "Register it word for word with one operator. Both variables are digits.";
pub(crate) const DLT_HELP: &str = "How to register";
pub(crate) const DLT_MANUAL: &str = "docs/going-live.md#1-dlt-for-sms-in-india";

/// The DLT portals that accept a template in this form.
pub(crate) const fn portals(form: DltForm) -> &'static str {
    match form {
        DltForm::Tagged => "Airtel, Jio, Vodafone Idea, BSNL",
        DltForm::Plain => "SmartPing, Tata: choose Numeric for each variable",
    }
}

/// Why a portal may reject a text, and advice.
pub(crate) fn dlt_warning(warning: DltWarning) -> String {
    match warning {
        DltWarning::Variables(number) => format!(
            "{number} variables: portals require a reason for more than two. Write the minutes \
             as a number, or leave them out."
        ),
        DltWarning::Neighbours => {
            "Two variables follow each other: portals reject that. Put a word between them."
                .to_owned()
        }
        DltWarning::Last => {
            "A variable comes last: some portals reject that. Ask yours, or end with a word."
                .to_owned()
        }
    }
}
