use crate::admin_api::Door;
use crate::api_routes::ApiRoutes;
use crate::guard::Names;
use crate::live::Live;
use crate::operations::Operations;
use dwar_app::{Administration, ManageError, Management, Passkeys, PriceList, Scope, Toolbox};
use dwar_kernel::ProjectId;
use dwar_operator::By;
use dwar_otp::Providers;
use dwar_wallet::ProofStart;
use std::sync::Arc;
use tokio::sync::SetOnce;

/// What all pages share.
pub struct Console {
    /// Set once the stores are up to date; until then no page may use them.
    pub prepared: Arc<SetOnce<()>>,
    pub tools: Toolbox,
    /// What those who run the service ask for.
    pub manage: Management,
    /// How they get in, and their own accounts.
    pub admin: Administration,
    pub passkeys: Passkeys,
    /// What wrong tokens of the admin API may cost.
    pub door: Door,
    /// Requests as they come.
    pub live: Live,
    /// Who can be named to carry messages, for the pages that list them.
    pub providers: Arc<dyn Providers>,
    /// How the installation is doing.
    pub operations: Arc<dyn Operations>,
    /// The playground's way to the API.
    pub api: Arc<dyn ApiRoutes>,
    /// Where clients reach the API, for the examples.
    pub api_url: String,
    /// Where browsers reach these pages, for links to be sent.
    pub base_url: String,
    /// What a code costs unless a project says else.
    pub prices: PriceList,
    /// What we may be called.
    pub names: Names,
}

impl Console {
    /// Begins a proof of a project's ledger, unless one is being made; whoever asked does not wait
    /// for its end.
    pub(crate) async fn begin_proof(
        &self,
        by: &By,
        project: ProjectId,
        scope: Scope,
    ) -> Result<ProofStart, ManageError> {
        let ledger = self.manage.ledger.clone();
        let start = ledger.begin(by, project).await?;
        if let ProofStart::Begun(run) = start.clone() {
            actix_web::rt::spawn(async move {
                if let Err(cause) = ledger.prove(run, scope).await {
                    let cause: &(dyn std::error::Error + 'static) = &cause;
                    tracing::warn!(error = cause, "a proof of a ledger was not made");
                }
            });
        }
        Ok(start)
    }
}
