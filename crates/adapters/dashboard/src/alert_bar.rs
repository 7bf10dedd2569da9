//! The bar of open alerts at the top of every page.

use crate::format::time;
use crate::language::Language;
use crate::manual;
use crate::texts::{alerts as texts, common};
use crate::visit::Visit;
use dwar_console::alerts::Alert;
use dwar_kernel::{AlertKind, Severity};
use dwar_project::Project;
use maud::{Markup, html};

const SHOWN: usize = 3;
/// Further alerts that are shown on request.
const FOLDED: usize = 20;

/// The open alerts of the page's project or, on a page of the installation, all that the operator
/// may see. Empty if there are none. In English even if the page is in another language.
pub(crate) fn bar(visit: &Visit, project: Option<&Project>, language: Language) -> Markup {
    let alerts = visit.console.manage.alerts.of_page(&visit.by, project);
    let (first, rest) = alerts.split_at(alerts.len().min(SHOWN));
    html! {
        @if !first.is_empty() {
            section.alerts aria-label=(texts::TITLE) lang=[(language != Language::English).then_some("en")] {
                ul { @for alert in first { (line(alert)) } }
                @if !rest.is_empty() {
                    details {
                        summary { (rest.len()) " " (texts::MORE) }
                        ul { @for alert in rest.iter().take(FOLDED) { (line(alert)) } }
                        @if rest.len() > FOLDED { p { (texts::REST) } }
                    }
                }
            }
        }
    }
}

fn line(alert: &Alert) -> Markup {
    let (kind, severity) = (alert.kind, alert.kind.severity());
    let class = if severity == Severity::Page { "bad" } else { "warn" };
    html! {
        li.notice.(class) data-alert=(kind) {
            strong {
                @match page(alert) { Some(page) => a href=(page) { (alert.title()) }, None => (alert.title()) }
            }
            span { (alert.detail) @if let Some(since) = alert.since { ". " (texts::SINCE) " " (time(since)) } }
            @if let Some(address) = manual::address(kind.runbook()) { a href=(address) { (common::ADVICE) } }
        }
    }
}

fn page(alert: &Alert) -> Option<String> {
    match alert.kind {
        AlertKind::WalletEmpty | AlertKind::WalletEmptySoon | AlertKind::WalletLow => {
            alert.project.map(|project| format!("/p/{project}/wallet"))
        }
        AlertKind::TrustedUnverified => {
            alert.project.map(|project| format!("/p/{project}/settings/delivery#guard"))
        }
        _ => None,
    }
}
