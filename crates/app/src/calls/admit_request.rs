use crate::{CommonPorts, Limits, UsageRecorder};
use dwar_kernel::{ApiKeyId, ProjectMode, StoreError, TRACE};
use dwar_otp::Refusal;
use dwar_ratelimit::{Admission, RequestKey, RequestLimiter, RequestScope};
use std::sync::Arc;
use tracing::instrument;

/// Counts requests per API key and refuses those above its quota (docs/contract.md, Limits).
pub struct AdmitRequest {
    pub tools: CommonPorts,
    pub limiter: Arc<dyn RequestLimiter>,
    pub limits: Limits,
    /// Counts refused sends, for operators who look for the reason why a code did not come.
    pub usage_recorder: Arc<UsageRecorder>,
}

impl AdmitRequest {
    /// Judges one request by `key`, and counts it if it is admitted; `None` if the scope has no limit.
    #[instrument(name = "admit_request", target = TRACE, level = "error", skip_all)]
    pub async fn admit(
        &self,
        project_mode: ProjectMode,
        key: ApiKeyId,
        scope: RequestScope,
    ) -> Result<Option<Admission>, StoreError> {
        let Some(quota) = self.limits.of(project_mode.mode).requests(scope) else {
            return Ok(None);
        };
        let key = RequestKey { key, scope };
        let admission = self.limiter.hit(key, quota, self.tools.now()).await?;
        self.tools.observer.limited(scope, admission.admitted);
        if scope == RequestScope::Send && !admission.admitted {
            self.usage_recorder.refused(project_mode, None, Refusal::Ceiling);
        }
        Ok(Some(admission))
    }
}
