use super::parts::{done, notice};
use super::wallet_statement::StatementQuery;
use super::{wallet_booking, wallet_proof, wallet_statement};
use crate::form::Refused;
use crate::format::rupees;
use crate::layout::{Frame, Page};
use crate::texts::wallet as texts;
use crate::visit::Visit;
use actix_web::HttpRequest;
use actix_web::http::StatusCode;
use actix_web::web::{Path, Query};
use dwar_operator::Command;
use dwar_project::Project;
use maud::{Markup, html};

/// `GET /p/{project}/wallet`.
pub(crate) async fn show(
    visit: Visit,
    path: Path<String>,
    wanted: Query<StatementQuery>,
    request: HttpRequest,
) -> Page {
    let project = visit.project(&path, Command::ShowWallet).await?;
    let above = done(&request, texts::DONE);
    page(&visit, &project, (StatusCode::OK, &above), None, &wanted).await
}

/// The page with one of its forms as it was typed, and why its field was refused.
pub(crate) async fn refused(
    visit: &Visit,
    project: &Project,
    status: StatusCode,
    refused: &Refused<'_>,
) -> Page {
    let (head, all) = ((status, &refused.summary()), StatementQuery::default());
    page(visit, project, head, Some(refused), &all).await
}

async fn page(
    visit: &Visit,
    project: &Project,
    (status, above): (StatusCode, &Markup),
    refused: Option<&Refused<'_>>,
    wanted: &StatementQuery,
) -> Page {
    let balance = visit.console.manage.wallets.balance(&visit.by, project.id).await?;
    let statement = wallet_statement::section(visit, project, wanted).await?;
    let proof = wallet_proof::section(visit, project).await?;
    let figures = [
        (texts::AVAILABLE, balance.available()),
        (texts::BALANCE, balance.balance),
        (texts::HELD, balance.held),
    ];
    let content = html! {
        div.stack {
            (above)
            @if visit.mode.is_test() { (notice("", texts::NOT_OF_TESTS)) }
            dl.figures {
                @for (label, amount) in figures {
                    div.card { dt { (label) } dd { (rupees(amount)) } }
                }
            }
            (wallet_booking::section(visit, project, refused))
            (proof)
            (statement)
        }
    };
    let frame = Frame::new(visit, texts::TITLE, texts::LEAD).of(project);
    frame.answer(status, &content)
}
