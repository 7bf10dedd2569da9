use super::settings_form::{TOKENS, field, switch};
use crate::texts::settings_tokens as texts;
use crate::visit::Visit;
use dwar_kernel::TokenType;
use dwar_project::{Project, Setting, SettingValue};
use maud::{Markup, html};

/// The settings of the project's tokens: its own issuer, their type and claims.
pub(crate) fn card(visit: &Visit, project: &Project) -> Markup {
    let types = TokenType::ALL.map(|it| (it.to_string(), it.to_string()));
    // Shown before a project asks for its own issuer, not only afterwards.
    let own = SettingValue::Switch(true);
    let obstacle = visit.console.manage.projects.obstacle(project, Setting::OwnIssuer, own);
    TOKENS.card(visit, project, |form| {
        html! {
            @if let Some(reason) = form.error("own_issuer") { p.error role="alert" { (reason) } }
            @else if let Some(reason) = obstacle {
                p.notice.warn { (texts::NO_OWN_ISSUER) " " (reason) ". " (texts::ASK) }
            }
            div.checks { (switch(form, project, Setting::OwnIssuer)) }
            (field(project, Setting::TokenClaims, "role=authenticated", |it| form.text(it)))
            @if let Err(cause) = project.token_profile.claims.check() {
                p.error { (texts::LEFT_OUT) " " (cause) "." }
            }
            (field(project, Setting::TokenType, "", |it| form.choice(it, &types)))
        }
    })
}
