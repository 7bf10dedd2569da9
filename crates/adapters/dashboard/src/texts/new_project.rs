use super::keys;

pub(crate) const NEW: &str = "New project";
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
pub(crate) const TRY: &str = "Go through a login in the playground, or send a code with the test key. The overview lists the steps to your first live code.";
pub(crate) const TO_PLAYGROUND: &str = "Open the playground";
pub(crate) const TO_OVERVIEW: &str = "Go to the overview";
