use crate::{Limits, Toolbox};
use dwar_kernel::StoreError;
use dwar_project::Caller;
use dwar_ratelimit::{Admission, RequestKey, RequestLimiter, RequestScope};
use std::sync::Arc;

/// Counts requests per API key (docs/contract.md, Limits).
pub struct AdmitRequest {
    pub tools: Toolbox,
    pub limiter: Arc<dyn RequestLimiter>,
    /// How many per minute.
    pub limits: Limits,
}

impl AdmitRequest {
    /// Judges and, if admitted, counts one request of `caller`; `None` where nothing bounds it.
    pub async fn admit(
        &self,
        caller: &Caller,
        scope: RequestScope,
    ) -> Result<Option<Admission>, StoreError> {
        let Some(quota) = self.limits.of(caller.mode).requests(scope) else { return Ok(None) };
        let key = RequestKey { key: caller.key, scope };
        self.limiter.hit(key, quota, self.tools.now()).await.map(Some)
    }
}
