//! The result of a check.

use super::causes::{self, Cause};
use dwar_kernel::{StoreError, with_causes};
use std::error::Error;

pub struct Finding {
    pub status: Status,
    pub detail: String,
    /// Every cause, which only operators may see.
    pub causes: Option<String>,
    /// Advice, if something has to be done.
    pub advice: Option<&'static str>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    Ok,
    /// Works, but not completely or not permanently.
    Warning,
    Failed,
}

impl Status {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Failed => "failed",
        }
    }
}

pub fn ok(detail: impl ToString) -> Finding {
    Finding { status: Status::Ok, detail: detail.to_string(), causes: None, advice: None }
}

pub fn warning(detail: impl ToString, advice: &'static str) -> Finding {
    Finding { status: Status::Warning, advice: Some(advice), ..ok(detail) }
}

pub fn failed(detail: impl ToString, advice: &'static str) -> Finding {
    Finding { status: Status::Failed, ..warning(detail, advice) }
}

/// A failed check: the usual cause of the error, or the error with this fallback advice.
pub fn broken(error: &(dyn Error + 'static), advice: &'static str) -> Finding {
    let causes = Some(with_causes(error));
    let finding = match causes::usual(error) {
        Some(Cause { what, advice }) => failed(what, advice),
        None => failed(error, advice),
    };
    Finding { causes, ..finding }
}

pub fn or_broken(finding: Result<Finding, StoreError>, advice: &'static str) -> Finding {
    finding.unwrap_or_else(|cause| broken(&cause, advice))
}
