pub(crate) const NO_PROVIDERS: &str =
    "No provider is configured, so live keys cannot send messages. See docs/providers.md.";
pub(crate) const TYPE: &str = "Type";
pub(crate) const TO_CONFIRM: &str = "to confirm";
pub(crate) const NO_MATCH: &str = "This does not match.";
pub(crate) const COPY: &str = "Copy";
pub(crate) const COPIED: &str = "Copied";
pub(crate) const NOT_SAVED: &str = "Nothing was saved.";
pub(crate) const ON: &str = "On";
pub(crate) const OFF: &str = "Off";
