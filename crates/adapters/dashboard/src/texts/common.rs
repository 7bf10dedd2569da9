pub(crate) const TYPE: &str = "Type";
pub(crate) const TO_CONFIRM: &str = "to confirm";
pub(crate) const COPY: &str = "Copy";
pub(crate) const COPIED: &str = "Copied";
