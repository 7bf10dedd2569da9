//! What ids in the audit log are called, and where they lead.

use crate::navigation::project_link;
use crate::refusal::Refusal;
use crate::visit::Visit;
use dwar_operator::{Action, AuditEntry, Command};
use dwar_project::Project;
use maud::{Markup, html};
use std::collections::BTreeSet;

/// The projects, and the endpoints that entries are about, by their ids.
pub(super) struct Names {
    /// The id of the project whose page this is.
    here: Option<String>,
    projects: Vec<(String, String, Markup)>,
    endpoints: Vec<(String, String)>,
}

impl Names {
    /// Those that are needed for the entries of a page, which is that of one project or of them all.
    pub(super) async fn of(
        visit: &Visit,
        project: Option<&Project>,
        entries: &[AuditEntry],
    ) -> Result<Self, Refusal> {
        let known = visit.projects().await?;
        let with_endpoints: BTreeSet<_> = entries
            .iter()
            .filter(|it| is_about_endpoint(it.action))
            .filter_map(|it| it.project)
            .collect();
        let mut endpoints = Vec::new();
        for one in known.iter().filter(|one| with_endpoints.contains(&one.id)) {
            if visit.may(one, Command::ListWebhooks) {
                let all = visit.console.manage.endpoints.list(&visit.by, one.id).await?;
                endpoints.extend(all.into_iter().map(|it| (it.id.to_string(), it.url)));
            }
        }
        let link = |one: &Project| project_link(visit, one);
        let projects =
            known.into_iter().map(|one| (one.id.to_string(), one.name.clone(), link(&one)));
        let projects = projects.collect();
        Ok(Self { here: project.map(|one| one.id.to_string()), projects, endpoints })
    }

    /// The text with the names of projects in place of their ids; the title has the ids.
    pub(super) fn named(&self, text: &str) -> Markup {
        // Most facts are shorter than an id.
        let known = self.projects.iter().filter(|(id, ..)| id.len() <= text.len());
        let named = known.fold(text.to_owned(), |text, (id, name, _)| text.replace(id, name));
        let title = (named != text).then_some(text);
        html! { span title=[title] { (named) } }
    }

    /// What the entry is about, by its name where it has one; then its project, where it is another.
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
        if let Some((_, url)) = self.endpoints.iter().find(|(id, _)| id == subject) {
            return page("settings/webhooks", url);
        }
        match entry.action {
            Action::WalletRefunded => page("activity", subject),
            _ => html! { (subject) },
        }
    }
}

const fn is_about_endpoint(action: Action) -> bool {
    matches!(
        action,
        Action::EndpointAdded
            | Action::EndpointRemoved
            | Action::EndpointEnabled
            | Action::EndpointSecretRotated
            | Action::EndpointTested
            | Action::EventResent
    )
}
