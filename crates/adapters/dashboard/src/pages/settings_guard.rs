//! The guard of a project: its mode, and what it found in the last seven days.

use super::parts::notice;
use super::settings_form::{GUARD, field};
use crate::format::grouped;
use crate::refusal::Refusal;
use crate::texts::guard as texts;
use crate::visit::Visit;
use dwar_console::GuardReport;
use dwar_kernel::GuardMode;
use dwar_operator::Command;
use dwar_project::{Project, Setting};
use maud::{Markup, html};

/// The mode of the project's guard, and what it found.
pub(crate) async fn card(visit: &Visit, project: &Project) -> Result<Markup, Refusal> {
    let is_shown = project.guard != GuardMode::Off && visit.may(project, Command::ShowFigures);
    let report = match is_shown {
        true => Some(visit.console.manage.figures.guard(&visit.by, project.id).await?),
        false => None,
    };
    let modes = GuardMode::ALL.map(|mode| (mode.to_string(), mode.to_string()));
    Ok(GUARD.card(visit, project, |form| {
        html! {
            (field(project, Setting::Guard, "", |it| form.choice(it, &modes)))
            @if let Some(report) = &report { (week(report, project.guard)) }
        }
    }))
}

fn week(report: &GuardReport, mode: GuardMode) -> Markup {
    let GuardReport { counts, refused, knows_trusted } = report;
    let by_kind = texts::by_kind(counts.over_address, counts.over_series, counts.over_project);
    let was_enforced = *refused > 0 || mode == GuardMode::Enforce;
    let refused = was_enforced.then_some((texts::REFUSED, *refused, None));
    let figures = [
        (texts::JUDGED, counts.judged, None),
        (texts::WOULD_ASK, counts.asked(), Some(by_kind)),
        (texts::OVER_DAY, counts.over_day, None),
        (texts::VERIFIED, counts.refusable_verified, Some(texts::VERIFIED_MEANS.to_owned())),
        (texts::TRUSTED, counts.trusted, Some(texts::of_trusted(counts.trusted_verified))),
    ];
    html! {
        h3 { (texts::WEEK) }
        dl.figures {
            @for (label, count, beside) in figures.iter().chain(&refused) {
                div.card {
                    dt { (label) }
                    dd { (grouped(*count)) }
                    @if let Some(beside) = beside { dd.beside { (beside) } }
                }
            }
        }
        @if !knows_trusted { (notice("warn", texts::NO_TRUSTED)) }
    }
}
