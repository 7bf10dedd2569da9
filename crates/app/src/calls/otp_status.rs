use crate::refusals::refusals;
use dwar_kernel::{OtpId, TRACE};
use dwar_otp::{Otp, OtpStore};
use dwar_project::Caller;
use std::sync::Arc;
use tracing::instrument;

/// Shows the state of a request for a code (`GET /v1/otp/status/{otp_id}`).
pub struct OtpStatus {
    pub otps: Arc<dyn OtpStore>,
}

refusals! {
    OtpStatusError { NotFound = "no such OTP request" }
}

impl OtpStatus {
    /// The request with this id; a malformed id is not found.
    #[instrument(name = "otp_status", target = TRACE, level = "error", skip_all)]
    pub async fn find(&self, caller: &Caller, id: &str) -> Result<Otp, OtpStatusError> {
        let id: OtpId = id.parse().map_err(|_| OtpStatusError::NotFound)?;
        let otp = self.otps.find(caller.project_mode(), id).await?;
        otp.ok_or(OtpStatusError::NotFound)
    }
}
