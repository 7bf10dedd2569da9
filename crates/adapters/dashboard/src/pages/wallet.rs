use super::parts::notice;
use super::reply::Reply;
use super::wallet_booking::{self, CONFIRMED, Kind, confirm, read};
use super::wallet_statement::StatementQuery;
use super::{wallet_proof, wallet_spend, wallet_statement};
use crate::answer::{PageResult, go};
use crate::form::RefusedForm;
use crate::layout::Frame;
use crate::texts::wallet as texts;
use crate::texts::wallet_booking as booking_texts;
use crate::visit::{EmptyForm, SignedInForm, Visit};
use actix_web::http::StatusCode;
use actix_web::web::{Path, Query};
use dwar_console::ManageError;
use dwar_operator::Command;
use dwar_project::Project;
use maud::html;

pub(crate) async fn show(
    visit: Visit,
    path: Path<String>,
    wanted: Query<StatementQuery>,
) -> PageResult {
    let project = visit.project(&path, Command::ShowWallet).await?;
    page(&visit, &project, Reply::of_address(&visit, texts::DONE), &wanted).await
}

/// `POST /p/{project}/wallet/credit`: adds money, once per reference.
pub(crate) async fn credit(posted: SignedInForm<EmptyForm>, path: Path<String>) -> PageResult {
    take(posted, path, Kind::Credit).await
}

/// `POST /p/{project}/wallet/refund`: refunds the charge of a send, once.
pub(crate) async fn refund(posted: SignedInForm<EmptyForm>, path: Path<String>) -> PageResult {
    take(posted, path, Kind::Refund).await
}

/// `POST /p/{project}/wallet/adjustment`: corrects the balance, once per reason.
pub(crate) async fn adjust(posted: SignedInForm<EmptyForm>, path: Path<String>) -> PageResult {
    take(posted, path, Kind::Adjustment).await
}

/// Shows a preview of a booking or, after its confirmation, makes the booking.
async fn take(
    SignedInForm { visit, .. }: SignedInForm<EmptyForm>,
    path: Path<String>,
    kind: Kind,
) -> PageResult {
    let project = visit.project(&path, kind.command()).await?;
    let invalid = StatusCode::UNPROCESSABLE_ENTITY;
    let booking = match read(kind, &visit.typed) {
        Ok(booking) => booking,
        Err((field, reason)) => {
            return refused(visit, &project, kind, (invalid, field, reason)).await;
        }
    };
    let wallets = &visit.console.manage.wallets;
    let answer = if visit.typed.get(CONFIRMED).is_some() {
        let booked = wallets.book(&visit.by, project.id, booking).await;
        booked.map(|booked| (booked, None))
    } else {
        let preview = wallets.preview(&visit.by, project.id, &booking).await;
        preview.map(|preview| (preview.is_some(), preview))
    };
    let field = kind.fields()[0];
    match answer {
        Ok((true, Some(preview))) => confirm(&visit, &project, kind, &preview),
        Ok((booked, _)) => {
            Ok(go(&format!("/p/{}/wallet?done={}", project.id, kind.outcome(booked))))
        }
        Err(ManageError::Invalid { .. }) => {
            refused(visit, &project, kind, (invalid, field, booking_texts::NO_AMOUNT)).await
        }
        Err(ManageError::Conflict(reason)) => {
            refused(visit, &project, kind, (StatusCode::CONFLICT, field, reason)).await
        }
        Err(cause) => Err(cause.into()),
    }
}

/// The page with the typed values of the form, and the reason beside the refused field.
async fn refused(
    visit: Visit,
    project: &Project,
    kind: Kind,
    (status, field, reason): (StatusCode, &str, &str),
) -> PageResult {
    let visit = visit.refuse(RefusedForm::new(kind.as_str(), field, reason));
    let reply = Reply { status, ..Reply::refused(&visit) };
    page(&visit, project, reply, &StatementQuery::default()).await
}

async fn page(
    visit: &Visit,
    project: &Project,
    reply: Reply,
    wanted: &StatementQuery,
) -> PageResult {
    let balance = visit.console.manage.wallets.balance(&visit.by, project.id).await?;
    let statement = wallet_statement::section(visit, project, wanted).await?;
    let proof = wallet_proof::section(visit, project).await?;
    let spend = visit.console.manage.spend.of(&visit.by, project, balance).await?;
    let content = html! {
        @if visit.mode.is_test() { (notice("", texts::NOT_OF_TESTS)) }
        (wallet_spend::level(project, &spend))
        (wallet_spend::figures(project, balance, &spend))
        (wallet_booking::section(visit, project))
        (wallet_spend::months(&spend))
        (statement)
        (proof)
    };
    reply.show(&Frame::new(visit, texts::TITLE, texts::LEAD).of(project), &content)
}
