//! The first steps on the overview of a new project.

use crate::icons::icon;
use crate::manual;
use crate::texts::first_steps as texts;
use crate::visit::Visit;
use dwar_console::FirstStep;
use dwar_operator::Command;
use dwar_project::Project;
use maud::{Markup, html};

/// How to configure providers, and how to send a live code from the command line.
const PROVIDERS: &str = "docs/providers.md";
const LIVE_CODE: &str = "docs/operations/install.md#smoke-test";

/// Each step with its description and link, ticked if it is done.
pub(super) fn card(visit: &Visit, project: &Project, steps: &[(FirstStep, bool)]) -> Markup {
    let done = steps.iter().filter(|(_, done)| *done).count();
    html! {
        section.card.first-steps {
            div.card-head {
                h2 { (texts::TITLE) }
                small.muted { (done) " of " (steps.len()) " " (texts::DONE) }
            }
            ol {
                @for (step, done) in steps {
                    @let (title, hint) = texts::step(*step);
                    li.done[*done] {
                        span.tick aria-hidden="true" { @if *done { (icon("check")) } }
                        div {
                            @match place(visit, project, *step).filter(|_| !done) {
                                Some(page) => a href=(page) { (title) },
                                None => strong { (title) },
                            }
                            @if *done { span.hidden { " " (texts::DONE) } }
                            @else if step.is_optional() { " " span.muted { (texts::OPTIONAL) } }
                            @if !done { p.muted { (hint) } }
                        }
                    }
                }
            }
        }
    }
}

/// The page of a step, for operators with the right to it.
fn place(visit: &Visit, project: &Project, step: FirstStep) -> Option<String> {
    let (command, page) = match step {
        FirstStep::TestCode => (Command::Play, "playground"),
        FirstStep::Key => (Command::ListKeys, "keys"),
        // If no provider is configured, there is none to choose yet.
        FirstStep::Provider if !visit.console.manage.first_steps.can_send() => {
            return manual::address(PROVIDERS);
        }
        FirstStep::Provider => (Command::ChangeProject, "settings/delivery#routing"),
        // No page contains the live key, so the manual explains how to send one.
        FirstStep::LiveCode => return manual::address(LIVE_CODE),
        FirstStep::Endpoint => (Command::AddWebhook, "settings/events#endpoints"),
    };
    visit.may(project, command).then(|| format!("/p/{}/{page}", project.id))
}
