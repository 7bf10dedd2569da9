use super::keys;

pub(crate) const NEW: &str = "New project";
pub(crate) const NAME: &str = "Name";
pub(crate) const NAME_HINT: &str =
    "Messages show it, unless you set a brand name. You can change it later.";
pub(crate) const NAME_EXAMPLE: &str = "Acme";
pub(crate) const CREATE: &str = "Create project";
pub(crate) const TITLE: &str = "Your API keys";
pub(crate) const CREATED: &str = "was created.";
pub(crate) const ONCE: &str = "Copy both keys now. You will not see them again.";
pub(crate) const TEST: (&str, &str) = keys::TEST;
pub(crate) const LIVE: (&str, &str) = keys::LIVE;
pub(crate) const NEXT: &str = "What to do next";
pub(crate) const TRY: &str = "Open the playground";
pub(crate) const TRY_HINT: &str =
    "Go through a login in test mode. Codes appear on the page; nothing is sent or charged.";
pub(crate) const BUILD: &str = "Call the API with the test key";
pub(crate) const BUILD_HINT: &str = "Send it as the header X-Api-Key to";
pub(crate) const SET_UP: &str = "Set up messages and delivery";
pub(crate) const SET_UP_HINT: &str = "Choose the SMS text and the providers.";
pub(crate) const PAY: &str = "Add credit, then switch to the live key";
pub(crate) const PAY_HINT: &str = "Sends with the live key are charged to the wallet.";
