use super::settings_form::{self, SettingsForm};
use crate::form::{Field, Refused};
use crate::texts::settings_tokens as texts;
use crate::visit::Visit;
use dwar_kernel::FixedClaims;
use dwar_project::{Project, ProjectChange};
use maud::{Markup, html};
use serde::Deserialize;

/// Whether its tokens name an issuer of their own, and what they say.
#[derive(Deserialize)]
pub(crate) struct TokensForm {
    own_issuer: Option<String>,
    token_claims: String,
}

impl SettingsForm for TokensForm {
    const NAME: &'static str = "tokens";

    fn change(self) -> Result<ProjectChange, (&'static str, String)> {
        let claims = self.token_claims.parse::<FixedClaims>();
        Ok(ProjectChange {
            own_issuer: Some(self.own_issuer.is_some()),
            token_claims: Some(claims.map_err(|cause| ("token_claims", cause.to_string()))?),
            ..ProjectChange::default()
        })
    }
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
    settings_form::card::<TokensForm>(visit, project, texts::TOKENS, refused, |form| {
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
