use crate::endpoint::{
    AdminCode, AdminRequest, AdminResult, ApiRefusal, Json, Operation, Parsed, ProjectRequest, get,
    post,
};
use crate::views::{MovedWallet, Wallet, WalletProof};
use dwar_kernel::OtpId;
use dwar_operator::Command;
use dwar_wallet::{Amount, Correction, InvalidAmount, InvalidReference, Paise, Reference};
use serde::Deserialize;
use utoipa::ToSchema;

pub(crate) fn operations() -> Vec<Operation> {
    vec![
        get("/projects/{project}/wallet", Command::ShowWallet, show)
            .summary("Get the wallet of a project"),
        post("/projects/{project}/wallet/credits", Command::CreditWallet, credit)
            .summary("Credit a wallet, once per reference")
            .refuses([AdminCode::Conflict]),
        post("/projects/{project}/wallet/refunds", Command::RefundSend, refund)
            .summary("Refund the charge of a send, once")
            .refuses([AdminCode::Conflict]),
        post("/projects/{project}/wallet/adjustments", Command::AdjustWallet, adjust)
            .summary("Correct the balance, once per reference")
            .refuses([AdminCode::Conflict]),
        post("/wallets/proof", Command::ProveWallets, prove)
            .summary("Recompute every wallet from its ledger"),
    ]
}

/// A payment into the wallet.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewCredit {
    #[schema(minimum = 1, maximum = 1_000_000_000_000_i64)]
    amount_paise: i64,
    /// Your name for the payment. A second credit with the same reference changes nothing.
    #[schema(min_length = 1, max_length = 200)]
    reference: String,
}

/// A correction of the balance, up or down.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewAdjustment {
    /// Not zero.
    #[schema(minimum = -1_000_000_000_000_i64, maximum = 1_000_000_000_000_i64)]
    amount_paise: i64,
    /// Your name for the correction, such as its reason. A second adjustment with the same
    /// reference changes nothing.
    #[schema(min_length = 1, max_length = 200)]
    reference: String,
}

/// A send to refund.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewRefund {
    #[schema(value_type = String, format = "uuid")]
    otp_id: Parsed<OtpId>,
}

async fn show(at: ProjectRequest) -> AdminResult<Wallet> {
    let balance = at.api.manage.wallets.balance(&at.by, at.project).await?;
    Ok(Wallet::new(at.project, &balance))
}

async fn credit(at: ProjectRequest, Json(body): Json<NewCredit>) -> AdminResult<MovedWallet> {
    let reference = Some(reference(&body.reference)?);
    let amount = amount("amount_paise", body.amount_paise)?;
    let booked = at.api.manage.wallets.credit(&at.by, at.project, amount, reference).await?;
    moved(&at, booked.then(|| amount.paise())).await
}

async fn refund(at: ProjectRequest, Json(body): Json<NewRefund>) -> AdminResult<MovedWallet> {
    let Parsed(send) = body.otp_id;
    let refunded = at.api.manage.wallets.refund(&at.by, at.project, send).await?;
    moved(&at, refunded).await
}

async fn adjust(at: ProjectRequest, Json(body): Json<NewAdjustment>) -> AdminResult<MovedWallet> {
    let reference = reference(&body.reference)?;
    let amount = Correction::try_from(body.amount_paise);
    let amount = amount.map_err(|cause| ApiRefusal::field("amount_paise", cause))?;
    let booked = at.api.manage.wallets.adjust(&at.by, at.project, amount, reference).await?;
    moved(&at, booked.then(|| amount.paise())).await
}

async fn moved(at: &ProjectRequest, amount: Option<Paise>) -> AdminResult<MovedWallet> {
    let after = at.api.manage.wallets.balance(&at.by, at.project).await?;
    Ok(MovedWallet::new(at.project, amount, &after))
}

async fn prove(call: AdminRequest) -> AdminResult<WalletProof> {
    Ok((&call.api.manage.wallets.audit(&call.by).await?).into())
}

pub(crate) fn amount(field: &str, paise: i64) -> AdminResult<Amount> {
    paise.try_into().map_err(|cause: InvalidAmount| ApiRefusal::field(field, cause))
}

/// Parses a reference of a body or a query.
pub(crate) fn reference(text: &str) -> AdminResult<Reference> {
    text.parse().map_err(|cause: InvalidReference| ApiRefusal::field("reference", cause))
}
