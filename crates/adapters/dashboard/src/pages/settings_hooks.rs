use super::parts::{DestructiveForm, fresh_secret};
use super::settings_parts::done;
use crate::form::Field;
use crate::format::time;
use crate::layout::{csrf, post_button};
use crate::texts::{common, settings, settings_hooks as texts};
use crate::visit::Visit;
use dwar_kernel::{KeyMode, WebhookSecret};
use dwar_operator::Command;
use dwar_project::{Hook, HookKind, Project};
use maud::{Markup, html};

/// The name of the form that changes a hook.
pub(crate) const CHANGE: &str = "hook-change";

/// The values for the other system: the address, and the secret, which is shown only once.
pub(crate) fn fresh(visit: &Visit, hook: &Hook, fresh: &WebhookSecret) -> Markup {
    let enter = html! {
        p { (texts::ENTER) " " code.wrap-anywhere { (address(visit, hook)) } }
        p { (texts::SECRET_ONCE) }
    };
    fresh_secret(texts::SECRET, &enter, "fresh-secret", &hook.kind.shown(fresh))
}

fn address(visit: &Visit, hook: &Hook) -> String {
    format!("{}/hooks/{}", visit.console.api_url, hook.id)
}

/// The hooks, and a form for another one.
pub(crate) fn card(visit: &Visit, project: &Project, hooks: &[Hook]) -> Markup {
    let form = visit.form("hooks", visit.may(project, Command::AddHook));
    let field = |name, label| Field { name, label, ..Field::TEXT };
    let kinds = HookKind::ALL.map(|kind| (kind.to_string(), texts::system(kind).to_owned()));
    let modes = [(KeyMode::Live, texts::LIVE), (KeyMode::Test, texts::TEST)];
    let modes = modes.map(|(mode, label)| (mode.to_string(), label.to_owned()));
    let lifetime = Field {
        value: "300",
        hint: texts::LIFETIME_HINT,
        required: true,
        ..field("expires_in", texts::LIFETIME)
    };
    let mfa_lifetime =
        Field { hint: texts::MFA_LIFETIME_HINT, ..field("mfa_expires_in", texts::MFA_LIFETIME) };
    html! {
        section.card.stack #hooks {
            h2 { (texts::HOOKS.0) }
            p.muted { (texts::HOOKS.1) }
            (done(visit, "hooks"))
            @if hooks.is_empty() { p.muted { (texts::NONE) } }
            ul.stack { @for hook in hooks { (row(visit, project, hook)) } }
            @if form.is_editable() {
                form.stack data-keep method="post" action={ "/p/" (project.id) "/settings/hooks" } {
                    (csrf(visit))
                    div.columns {
                        (form.choice(&field("kind", texts::SYSTEM), &kinds))
                        (form.choice(&field("mode", common::MODE), &modes))
                        (form.field(&lifetime))
                        (form.field(&mfa_lifetime))
                    }
                    div { button.plain type="submit" { (texts::ADD) } }
                }
                @if !hooks.is_empty() { (change(visit, project, hooks)) }
            } @else { p.muted { (settings::OWNERS) } }
        }
    }
}

/// The form that changes the lifetime of a hook's codes.
fn change(visit: &Visit, project: &Project, hooks: &[Hook]) -> Markup {
    let form = visit.form(CHANGE, true);
    let field = |name, label| Field { name, label, hint: texts::KEEP_HINT, ..Field::TEXT };
    let named = |hook: &Hook| {
        format!("{}, {}, {}", texts::system(hook.kind), hook.project_mode.mode, hook.id)
    };
    let all: Vec<_> = hooks.iter().map(|hook| (hook.id.to_string(), named(hook))).collect();
    html! {
        details open[form.is_refused()] {
            summary { (texts::CHANGE) }
            form.stack data-keep method="post" action={ "/p/" (project.id) "/settings/hooks/change" } {
                (csrf(visit))
                div.columns {
                    (form.choice(&Field { hint: "", ..field("hook", texts::HOOK) }, &all))
                    (form.field(&field("changed_expires_in", texts::LIFETIME)))
                    (form.field(&field("changed_mfa_expires_in", texts::MFA_LIFETIME)))
                }
                div { button.plain type="submit" { (texts::CHANGE) } }
            }
        }
    }
}

fn row(visit: &Visit, project: &Project, hook: &Hook) -> Markup {
    let base = format!("/p/{}/settings/hooks/{}", project.id, hook.id);
    let (id, action) = (&format!("remove-{}", hook.id), &format!("{base}/remove"));
    let danger = DestructiveForm { id, action, word: settings::REMOVE_WORD, words: &texts::REMOVE };
    html! {
        li.stack {
            div {
                strong { (texts::system(hook.kind)) } ", " (hook.project_mode.mode) ", "
                (texts::CODES_WORK) " " (hook.lifetime.as_secs()) " " (texts::SECONDS)
                @if let Some(mfa) = hook.mfa_lifetime {
                    ", " (texts::MFA_CODES) " " (mfa.as_secs())
                }
            }
            div { code.wrap-anywhere { (address(visit, hook)) } }
            @if let Some(until) = hook.secret.previous_until(visit.now()) {
                div { (texts::OLD_SECRET) " " (time(until)) }
            }
            @if visit.may(project, Command::RotateHookSecret) {
                (post_button(visit, &format!("{base}/rotate"), "plain", settings::ROTATE))
            }
            @if visit.may(project, Command::RemoveHook) { (danger.show(visit, &[])) }
        }
    }
}
