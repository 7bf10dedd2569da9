use dwar_app::{ManageError, ManageLedger, Scope};
use dwar_kernel::ProjectId;
use dwar_operator::By;
use dwar_wallet::ProofStart;

/// Begins a proof of a project's ledger, unless one is being made; does not wait for its end.
///
/// # Errors
/// As [`ManageLedger::begin`].
pub async fn begin_proof(
    ledger: ManageLedger,
    by: &By,
    project: ProjectId,
    scope: Scope,
) -> Result<ProofStart, ManageError> {
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
