/// The words of a form for a destructive action.
pub(crate) struct DestructiveFormTexts {
    pub(crate) summary: &'static str,
    pub(crate) consequences: &'static [&'static str],
    pub(crate) button: &'static str,
}

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
pub(crate) const OLDER: &str = "Older";
pub(crate) const CHANNEL: &str = "Channel";
pub(crate) const APPLY: &str = "Apply";
pub(crate) const TIME: &str = "Time";
pub(crate) const ADVICE: &str = "What to do";
pub(crate) const PROVIDER: &str = "Provider";
pub(crate) const MODE: &str = "Mode";
pub(crate) const REASON: &str = "Reason";
pub(crate) const FROM: &str = "From";
pub(crate) const UNTIL: &str = "Until";
pub(crate) const COUNT: &str = "Count";
pub(crate) const DOWNLOAD: &str = "Download CSV";
pub(crate) const UNREADABLE: &str = "Unreadable";
pub(crate) const LIVE_UPDATES: &str = "Live updates";
pub(crate) const OFFLINE: &str = "Disconnected. Trying again in a moment.";
pub(crate) const FILTERS: &str = "Filters";
pub(crate) const NEVER: &str = "Never";
pub(crate) const NAME: &str = "Name";
pub(crate) const PASSWORD: &str = "Password";
pub(crate) const REPEAT_PASSWORD: &str = "Repeat password";
pub(crate) const CANCEL: &str = "Cancel";
pub(crate) const SAVE: &str = "Save";
pub(crate) const EXPIRED: &str = "Expired";
pub(crate) const ALL: &str = "All";
pub(crate) const FIRST_DAY: &str = "From (IST)";
pub(crate) const LAST_DAY: &str = "To (IST)";
pub(crate) const TO_PLAYGROUND: &str = "Open playground";
pub(crate) const IDENTITY: &str = "Identity";
pub(crate) const PHONE: &str = "Phone number";
pub(crate) const WRONG_WORD: &str = "The word you typed does not match. Nothing was changed.";
pub(crate) const WRONG_PROJECT_NAME: &str =
    "The name you typed does not match the project's name. Nothing was changed.";
pub(crate) const LAST_USED: &str = "Last used";
pub(crate) const FROM_ADDRESS: &str = "from";
pub(crate) const CREATED: &str = "Created";
pub(crate) const REFRESH: &str = "Refresh";
pub(crate) const KIND: &str = "Type";
