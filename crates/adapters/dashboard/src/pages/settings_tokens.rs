use super::parts::Field;
use super::settings;
use crate::form::Refused;
use crate::layout::Page;
use crate::texts::settings_tokens as texts;
use crate::visit::{Posted, Visit};
use actix_web::web::Path;
use dwar_kernel::FixedClaims;
use dwar_operator::Command;
use dwar_project::{Project, ProjectChange};
use maud::{Markup, html};
use serde::Deserialize;

#[derive(Deserialize)]
pub(crate) struct TokensForm {
    own_issuer: Option<String>,
    token_claims: String,
}

/// `POST /p/{project}/settings/tokens`: whether its tokens name an issuer of their own, and what they say.
pub(crate) async fn save(posted: Posted<TokensForm>, path: Path<String>) -> Page {
    let Posted { visit, form } = posted;
    let project = visit.project(&path, Command::ChangeProject).await?;
    let claims = match form.token_claims.parse::<FixedClaims>() {
        Ok(claims) => claims,
        Err(cause) => {
            let reason = cause.to_string();
            return settings::refused(&visit, &project, "tokens", ("token_claims", &reason)).await;
        }
    };
    let change = ProjectChange {
        own_issuer: Some(form.own_issuer.is_some()),
        token_claims: Some(claims),
        ..ProjectChange::default()
    };
    settings::apply(&visit, &project, "tokens", change).await
}

pub(crate) fn card(visit: &Visit, project: &Project, refused: Option<&Refused<'_>>) -> Markup {
    let claims = project.token_claims.to_string();
    let field = Field {
        name: "token_claims",
        label: texts::CLAIMS,
        value: &claims,
        hint: texts::CLAIMS_HINT,
        placeholder: "role=authenticated",
        ..Field::TEXT
    };
    let form = ("tokens", Command::ChangeProject);
    settings::card(visit, project, form, texts::TOKENS, refused, |form| {
        html! {
            @if let Some(reason) = form.error("own_issuer") { p.error role="alert" { (reason) } }
            div.checks {
                (form.check("own_issuer", texts::OWN, texts::OWN_HINT, project.own_issuer))
            }
            (form.text(&field))
            @if let Err(cause) = project.token_claims.check() {
                p.error { (texts::LEFT_OUT) " " (cause) "." }
            }
        }
    })
}
