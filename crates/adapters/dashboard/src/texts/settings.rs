type Words = (&'static str, &'static str);

pub(crate) const TITLE: &str = "Settings";
pub(crate) const LEAD: &str = "They take effect with the next request.";
pub(crate) const SAVE: &str = "Save";
pub(crate) const DONE: &[(&str, &str)] =
    &[("saved", "Saved. It takes effect with the next request."), ("removed", "Removed.")];
pub(crate) const MESSAGES: Words = (
    "Messages",
    "What people read. The SMS text must be the one registered with your operator (DLT).",
);
pub(crate) const BRAND: &str = "Brand";
pub(crate) const LANGUAGE: &str = "Language";
pub(crate) const LANGUAGE_HINT: &str = "A tag such as en or hi.";
pub(crate) const TEXT: &str = "SMS text";
pub(crate) const TEXT_HINT: &str =
    "With {code}, {brand} and {minutes}. Empty: the language's own text.";
pub(crate) const TEMPLATE: &str = "DLT template id";
pub(crate) const TEMPLATE_HINT: &str = "The id that this text is registered under.";
pub(crate) const DOMAIN: &str = "WebOTP domain";
pub(crate) const DOMAIN_HINT: &str = "Browsers on this site offer to fill in the code.";
pub(crate) const APP_HASH: &str = "Android app hash";
pub(crate) const APP_HASH_HINT: &str = "11 characters; instead of a domain.";
pub(crate) const PREVIEW: &str = "As the phone shows it";
pub(crate) const PER_CODE: &str = "per code by SMS";
pub(crate) const SEVERAL_PARTS: &str = "operators charge each part";
pub(crate) const IDENTITIES: Words = (
    "Identities",
    "Recognising the same phone number again. Both calls are off until you switch them on.",
);
pub(crate) const LOOKUP: &str = "Look-up";
pub(crate) const LOOKUP_HINT: &str = "GET /v1/identity answers with the phone number behind an id.";
pub(crate) const DELETE: &str = "Deletion";
pub(crate) const DELETE_HINT: &str =
    "DELETE /v1/identity erases a person for good and ends all of their sessions.";
pub(crate) const ROUTING: Words = (
    "Delivery",
    "Which providers send live messages, in order, and when SMS is tried. Empty: the installation's setting.",
);
pub(crate) const WHATSAPP: &str = "WhatsApp over";
pub(crate) const SMS: &str = "SMS over";
pub(crate) const PROVIDERS_HINT: &str = "Names separated by commas, or none. Configured:";
pub(crate) const FALLBACK: &str = "SMS after";
pub(crate) const FALLBACK_HINT: &str = "Seconds without a delivery receipt; 0 means never.";
pub(crate) const AS_INSTALLED: &str = "as installed";
pub(crate) const NO_SECONDS: &str =
    "The time before SMS is tried is a whole number of seconds. Nothing was saved.";
pub(crate) const MONEY: Words = (
    "Prices",
    "What one delivered code costs this project, in ₹. Empty: the installation's price.",
);
pub(crate) const WHATSAPP_PRICE: &str = "WhatsApp, ₹ per code";
pub(crate) const SMS_PRICE: &str = "SMS, ₹ per code";
pub(crate) const LOW: &str = "Low balance, ₹";
pub(crate) const LOW_HINT: &str = "When the balance falls below it, the event wallet.low is sent.";
pub(crate) const TELLS_NOTHING: &str = "no event";
pub(crate) const NO_AMOUNT: &str =
    "Amounts are rupees with at most two decimals, a thousand crore at most. Nothing was saved.";
pub(crate) const WEBHOOKS: Words =
    ("Webhooks", "Addresses that receive events, signed as Standard Webhooks.");
pub(crate) const NO_WEBHOOKS: &str =
    "None yet. Add the address of your server, and verify each call with the secret you get.";
pub(crate) const ADDRESS: &str = "Address";
pub(crate) const FULL_PHONE: &str = "Send full phone numbers";
pub(crate) const FULL_PHONE_HINT: &str = "Otherwise they are masked.";
pub(crate) const ADD: &str = "Add";
pub(crate) const BAD_ADDRESS: &str =
    "Events are sent only to https:// addresses of public hosts, so nothing was added.";
pub(crate) const SECRET: &str = "This is its secret";
pub(crate) const SECRET_ONCE: &str =
    "Copy it now; it is shown only once. The secret that it replaces also signs for a day.";
pub(crate) const OPEN: &str = "Log and tests";
pub(crate) const OFF: &str = "switched off";
pub(crate) const FAILING: &str = "failing";
pub(crate) const ON: &str = "on";
pub(crate) const ENABLE: &str = "Switch on";
pub(crate) const ROTATE: &str = "New secret";
pub(crate) const REMOVE: &str = "Remove…";
pub(crate) const REMOVE_WORD: &str = "remove";
pub(crate) const REMOVE_STOPS: [&str; 1] =
    ["It receives no more events, and events that still wait for it are dropped."];
pub(crate) const WRONG_WORD: &str = "You typed a different word, so nothing was changed.";
