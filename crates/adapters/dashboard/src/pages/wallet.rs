use super::parts::{Field, done, notice};
use super::wallet_statement::StatementQuery;
use super::{go, wallet_proof, wallet_statement};
use crate::form::{Form, Refused};
use crate::format::rupees;
use crate::layout::{Frame, Page, csrf};
use crate::texts::wallet as texts;
use crate::visit::{Posted, Visit};
use actix_web::HttpRequest;
use actix_web::http::StatusCode;
use actix_web::web::{Path, Query};
use dwar_app::ManageError;
use dwar_operator::Command;
use dwar_project::Project;
use dwar_wallet::Amount;
use maud::{Markup, html};
use serde::Deserialize;

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

#[derive(Deserialize)]
pub(crate) struct CreditForm {
    rupees: String,
    reference: String,
}

/// `POST /p/{project}/wallet/credit`: pays money in, once per reference.
pub(crate) async fn credit(posted: Posted<CreditForm>, path: Path<String>) -> Page {
    let Posted { visit, form } = posted;
    let project = visit.project(&path, Command::CreditWallet).await?;
    let back = |word: &str| Ok(go(&format!("/p/{}/wallet?done={word}", project.id)));
    let invalid = StatusCode::UNPROCESSABLE_ENTITY;
    let (status, field, reason) =
        match (Amount::from_rupees(form.rupees.trim()), form.reference.parse()) {
            (Err(_), _) => (invalid, "rupees", texts::NO_AMOUNT),
            (_, Err(_)) => (invalid, "reference", texts::NO_REFERENCE),
            (Ok(amount), Ok(reference)) => {
                let wallets = &visit.console.manage.wallets;
                match wallets.credit(&visit.by, project.id, amount, Some(reference)).await {
                    Ok(true) => return back("credited"),
                    Ok(false) => return back("known"),
                    Err(ManageError::Invalid { .. }) => (invalid, "rupees", texts::NO_AMOUNT),
                    Err(ManageError::Conflict(_)) => {
                        (StatusCode::CONFLICT, "rupees", texts::TOO_MUCH)
                    }
                    Err(cause) => return Err(cause.into()),
                }
            }
        };
    let refused = Refused::new("credit", &visit.typed, field, reason);
    let (head, all) = ((status, &refused.summary()), StatementQuery::default());
    page(&visit, &project, head, Some(&refused), &all).await
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
            @if visit.may(project, Command::CreditWallet) { (credit_form(visit, project, refused)) }
            (proof)
            (statement)
        }
    };
    let frame = Frame::new(visit, texts::TITLE, texts::LEAD).of(project);
    frame.answer(status, &content)
}

fn credit_form(visit: &Visit, project: &Project, refused: Option<&Refused<'_>>) -> Markup {
    let form = Form::new("credit", refused, true);
    let amount = Field {
        name: "rupees",
        label: texts::AMOUNT,
        placeholder: "500.00",
        required: true,
        ..Field::TEXT
    };
    let reference = Field {
        name: "reference",
        label: texts::REFERENCE,
        placeholder: texts::REFERENCE_EXAMPLE,
        required: true,
        ..Field::TEXT
    };
    html! {
        form.card method="post" action={ "/p/" (project.id) "/wallet/credit" } data-keep {
            (csrf(visit))
            h2 { (texts::CREDIT) }
            p.muted { (texts::CREDIT_HINT) }
            div.row { (form.field(&amount)) (form.field(&reference)) button.primary type="submit" { (texts::PAY_IN) } }
        }
    }
}
