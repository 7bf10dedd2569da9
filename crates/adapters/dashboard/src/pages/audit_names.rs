//! The names and links of ids in the audit log.

use crate::navigation::project_link;
use crate::refusal::Refusal;
use crate::texts::settings_hooks::system;
use crate::visit::Visit;
use dwar_operator::{Action, AuditEntry, Command};
use dwar_project::Project;
use maud::{Markup, html};

/// The projects, and the endpoints and hooks of the entries, by their ids.
pub(super) struct AuditNames {
    here: Option<String>,
    projects: Vec<(String, String, Markup)>,
    objects: Vec<NamedObject>,
}

/// An object of a project that still exists.
struct NamedObject {
    id: String,
    name: String,
    page: Option<&'static str>,
}

impl AuditNames {
    /// Loads the names for the entries of a page, which is that of one project or of all.
    pub(super) async fn of(
        visit: &Visit,
        project: Option<&Project>,
        entries: &[AuditEntry],
    ) -> Result<Self, Refusal> {
        let known = visit.projects().await?;
        let manage = &visit.console.manage;
        let mut objects = Vec::new();
        for one in &known {
            let about = |kind: fn(Action) -> bool| {
                entries.iter().any(|it| it.project == Some(one.id) && kind(it.action))
            };
            if about(is_about_endpoint) && visit.may(one, Command::ListWebhooks) {
                let all = manage.endpoints.list(&visit.by, one.id).await?.into_iter();
                let page = Some("settings/events");
                objects.extend(all.map(|it| NamedObject {
                    id: it.id.to_string(),
                    name: it.url,
                    page,
                }));
            }
            if about(is_about_hook) && visit.may(one, Command::ListHooks) {
                let all = manage.hooks.list(&visit.by, one.id).await?.into_iter();
                let name = |kind, mode| format!("{} ({mode})", system(kind));
                objects.extend(all.map(|it| {
                    let name = name(it.kind, it.project_mode.mode);
                    NamedObject { id: it.id.to_string(), name, page: None }
                }));
            }
        }
        let link = |one: &Project| project_link(visit, one);
        let projects =
            known.into_iter().map(|one| (one.id.to_string(), one.name.clone(), link(&one)));
        let projects = projects.collect();
        Ok(Self { here: project.map(|one| one.id.to_string()), projects, objects })
    }

    /// The text with names in place of ids; its title has the ids.
    pub(super) fn named(&self, text: &str) -> Markup {
        let projects = self.projects.iter().map(|(id, name, _)| (id, name));
        let all = projects.chain(self.objects.iter().map(|it| (&it.id, &it.name)));
        // Most facts are shorter than an id.
        let known = all.filter(|(id, _)| id.len() <= text.len());
        let named = known.fold(text.to_owned(), |text, (id, name)| text.replace(id, name));
        let title = (named != text).then_some(text);
        html! { span title=[title] { (named) } }
    }

    /// The target of the entry, by its name if it has one; then its project, if that differs from
    /// the page's.
    pub(super) fn target(&self, entry: &AuditEntry) -> Markup {
        let of = entry.project.map(|id| id.to_string()).unwrap_or_default();
        let project = self.projects.iter().find(|(id, ..)| *id == of);
        let Some((id, _, link)) = project else { return html! { (entry.subject) } };
        if entry.subject == *id {
            return link.clone();
        }
        let here = self.here.as_ref() == Some(id);
        html! { (self.subject(id, entry)) @if !here { br; small { (link) } } }
    }

    fn subject(&self, project: &str, entry: &AuditEntry) -> Markup {
        let subject = &entry.subject;
        let page = |page: &str, text: &str| {
            html! { a href={ "/p/" (project) "/" (page) "/" (subject) } title=(subject) { (text) } }
        };
        match self.objects.iter().find(|it| it.id == *subject) {
            Some(NamedObject { name, page: Some(its), .. }) => return page(its, name),
            Some(NamedObject { name, .. }) => return html! { span title=(subject) { (name) } },
            None => {}
        }
        // A removed object is described by the facts in its entry.
        let noted = ["host", "kind"].iter().find_map(|name| fact(entry, name));
        match (entry.action, noted) {
            (Action::WalletRefunded, _) => page("activity", subject),
            (_, Some(name)) => html! { span title=(subject) { (name) } },
            _ => html! { (subject) },
        }
    }
}

fn fact(entry: &AuditEntry, name: &str) -> Option<String> {
    let facts = entry.before.as_deref().or(entry.after.as_deref())?;
    let facts: serde_json::Value = serde_json::from_str(facts).ok()?;
    facts[name].as_str().map(str::to_owned)
}

fn is_about_endpoint(action: Action) -> bool {
    action.as_str().starts_with("endpoint.") || action == Action::EventResent
}

fn is_about_hook(action: Action) -> bool {
    action.as_str().starts_with("hook.")
}
