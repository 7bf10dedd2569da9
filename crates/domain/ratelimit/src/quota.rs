use dwar_kernel::{ApiKeyId, BlindIndex, ProjectMode};
use std::time::Duration;

/// At most `limit` admissions in any period of length `window`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    /// 0 admits none.
    pub limit: u32,
    pub window: Duration,
}

/// Which request window of a key applies (docs/contract.md, Limits).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RequestScope {
    /// `POST /v1/otp/send`: a ceiling far above honest use, in addition to the limit per phone.
    Send,
    /// `POST /v1/otp/verify`: a ceiling far above honest use, in addition to the limit per code.
    Verify,
    /// `POST /v1/session/validate`, and the same question from proxies and frameworks at other paths.
    Validate,
    /// Every other path under `/v1/`.
    General,
}

/// Requests with the same `RequestKey` are counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RequestKey {
    /// The API key, not the project: a regenerated key starts with an empty window.
    pub key: ApiKeyId,
    pub scope: RequestScope,
}

/// Sends with the same `SendKey` are counted together: one phone of one project and mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SendKey {
    pub project_mode: ProjectMode,
    pub phone: BlindIndex,
}
