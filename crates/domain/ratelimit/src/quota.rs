use dwar_kernel::{ApiKeyId, BlindIndex, ProjectMode};
use std::time::Duration;

/// At most `limit` admissions in any stretch of `window` length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    /// How many are admitted; 0 admits none.
    pub limit: u32,
    pub window: Duration,
}

/// Which of the request windows of a key (docs/contract.md, Limits).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RequestScope {
    /// `POST /v1/otp/send`: a ceiling far above honest use, on top of the limit of the phone.
    Send,
    /// `POST /v1/otp/verify`: a ceiling far above honest use, on top of the limit of the code.
    Verify,
    /// `POST /v1/session/validate`, and the paths that ask the same for proxies and frameworks.
    Validate,
    /// Everything under `/v1/` that has no limit of its own.
    General,
}

/// Whose requests are counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RequestKey {
    /// The API key, not the project: a regenerated key starts anew.
    pub key: ApiKeyId,
    pub scope: RequestScope,
}

/// Whose sends are counted together: one phone of one project and mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SendKey {
    pub world: ProjectMode,
    /// The phone, as its look-up form only.
    pub phone: BlindIndex,
}
