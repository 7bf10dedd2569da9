use super::parts::{linked, table};
use crate::answer::PageResult;
use crate::format::{capital, clock, grouped, sentence, time};
use crate::layout::Frame;
use crate::navigation::project_link;
use crate::texts::{common, operations as texts};
use crate::visit::Visit;
use dwar_activity::installation::{Backlog, COUNTED, Instance, Queues};
use dwar_console::operations::{Check, Health, Loop, Process, ProviderStatus};
use dwar_kernel::Timestamp;
use dwar_operator::Command;
use maud::{Markup, html};
use std::borrow::Borrow;
use std::cmp::Reverse;

/// `GET /operations`: the state of the installation, for its owners.
pub(crate) async fn show(visit: Visit) -> PageResult {
    visit.console.manage.control.admit(&visit.by, Command::ShowOperations, None)?;
    let mut snapshot = visit.console.operations.snapshot().await;
    snapshot.checks.sort_by_key(|check| Reverse(check.health));
    snapshot.loops.sort_by_key(|it| (it.running, Reverse(it.restarts)));
    snapshot.providers.sort_by_key(|it| (Reverse(it.open_for.is_some()), Reverse(it.faults)));
    let names = visit.projects().await?;
    let name = |id| {
        let known = names.iter().find(|one| one.id == id);
        known.map_or_else(|| html! { "?" }, |known| project_link(&visit, known))
    };
    let now = visit.now();
    let content = html! {
        div.stack {
            div.switches { a.button href="/operations" { (common::REFRESH) } p.muted { (texts::LOOKED) " " (clock(now)) } }
            (checks(&snapshot.checks))
            (instances(snapshot.instances.as_deref(), now))
            (queues(snapshot.queues.as_ref(), name))
            (providers(&snapshot.providers))
            (loops(&snapshot.loops))
            (process(&snapshot.process))
        }
    };
    let frame = Frame::new(&visit, texts::TITLE, texts::LEAD);
    frame.show(&content)
}

fn checks(checks: &[Check]) -> Markup {
    let (good, bad): (Vec<_>, Vec<_>) = checks.iter().partition(|it| it.health == Health::Good);
    html! {
        section.card.stack {
            h2 { (texts::CHECKS) }
            p.muted { (texts::LEDGER) }
            @if !bad.is_empty() { ul.checks { @for check in &bad { (one(check)) } } }
            (folded(good.len(), texts::PASSED, &html! { @for check in &good { (one(check)) } }))
        }
    }
}

fn one(check: &Check) -> Markup {
    let (class, sign, word) = texts::health(check.health);
    html! {
        li {
            span.pill.(class) { span aria-hidden="true" { (sign) " " } (word) }
            div {
                strong { (capital(check.name)) }
                @for line in check.detail.lines() { p.wrap-anywhere { (linked(&capital(line))) } }
                @if let Some(advice) = check.advice { p.advice { "→ " (linked(&sentence(advice))) } }
            }
        }
    }
}

/// A closed list of this many things that are in order.
fn folded(count: usize, what: &str, items: &Markup) -> Markup {
    html! {
        @if count > 0 {
            details.folded {
                summary { span.pill.good { span aria-hidden="true" { "✓ " } (count) " " (what) } }
                ul.checks { (items) }
            }
        }
    }
}

fn section(title: &str, content: &Markup) -> Markup {
    html! { section.card.stack { h2 { (title) } (content) } }
}

fn instances(known: Option<&[Instance]>, now: Timestamp) -> Markup {
    let rows = |known: &[Instance]| {
        html! {
            @for one in known {
                tr {
                    td.outcome { (one.host) br; small { (texts::PROCESS) " " (one.pid) } }
                    td data-label=(texts::INSTANCE_HEADS[1]) {
                        @if one.is_alive(now) { span.pill.good { (texts::ALIVE) } }
                        @else { span.pill.warn { (texts::SILENT) } " " small { (time(one.seen_at)) } }
                    }
                    td data-label=(texts::INSTANCE_HEADS[2]) { (one.version) }
                    td.wrap-anywhere data-label=(texts::INSTANCE_HEADS[3]) { (one.api) @if let Some(pages) = &one.dashboard { br; small { (pages) } } }
                    td data-label=(texts::INSTANCE_HEADS[4]) { (time(one.started_at)) }
                }
            }
        }
    };
    let content = match known {
        None => html! { p.muted { (texts::UNKNOWN) } },
        Some([]) => html! { p.muted { (texts::NO_INSTANCES) } },
        Some(known) => table(texts::INSTANCES, Some("cards"), &texts::INSTANCE_HEADS, &rows(known)),
    };
    section(texts::INSTANCES, &content)
}

fn queues(queues: Option<&Queues>, name: impl Fn(dwar_kernel::ProjectId) -> Markup) -> Markup {
    let row = |what: Markup, waits: &Backlog, before: &str| {
        html! {
            tr {
                td.outcome { (what) }
                td data-label=(texts::QUEUE_HEADS[1]) { (counted(waits.count)) }
                td data-label=(texts::QUEUE_HEADS[2]) { @if let Some(at) = waits.oldest { (before) " " (time(at)) } @else { span.muted { "–" } } }
            }
        }
    };
    let due = |what: &str, waits: &Backlog| row(html! { (what) }, waits, "");
    let content = match queues {
        None => html! { p.muted { (texts::UNKNOWN) } },
        Some(queues) => {
            let mut events: Vec<_> = queues.events.iter().collect();
            events.sort_by_key(|(_, waits)| waits.oldest);
            let rows = html! {
                (due(texts::OVERDUE, &queues.overdue_sends))
                (due(texts::RECEIPTS, &queues.receipts))
                (due(texts::HOLDS, &queues.open_holds))
                (due(texts::FEED, &queues.feed))
                @if events.is_empty() && queues.retries.is_empty() { (due(texts::NO_EVENTS, &Backlog::default())) }
                @for (project, waits) in &events {
                    (row(html! { (texts::EVENTS) " " (name(**project)) }, waits, ""))
                }
                @for (project, waits) in &queues.retries {
                    (row(html! { (texts::RETRIES) " " (name(*project)) }, waits, texts::NEXT_ATTEMPT))
                }
            };
            table(texts::QUEUES, Some("cards"), &texts::QUEUE_HEADS, &rows)
        }
    };
    section(texts::QUEUES, &content)
}

fn counted(count: u32) -> String {
    let more = if count > COUNTED { "+" } else { "" };
    format!("{}{more}", grouped(count.min(COUNTED).into()))
}

fn providers(providers: &[ProviderStatus]) -> Markup {
    let rows = html! {
        @for one in providers {
            tr {
                td.outcome { (one.name) }
                td data-label=(texts::PROVIDER_HEADS[1]) {
                    @match one.open_for {
                        Some(left) => { span.pill.bad { (texts::LEFT_ALONE) " " (left.as_secs()) " s" } }
                        None => { span.pill.good { (texts::CALLED) } }
                    }
                }
                td data-label=(texts::PROVIDER_HEADS[2]) {
                    @if one.calls == 0 { span.muted { (texts::NO_CALLS) } }
                    @else { (one.faults * 100 / one.calls) " % (" (one.faults) "/" (one.calls) ")" }
                }
                td data-label=(texts::PROVIDER_HEADS[3]) { (named(&one.carries)) }
                td data-label=(texts::PROVIDER_HEADS[4]) { (named(&one.projects)) }
            }
        }
    };
    let content = html! {
        @if providers.is_empty() { p.muted { (linked(common::NO_PROVIDERS)) } }
        @else { (table(texts::PROVIDERS, Some("cards"), &texts::PROVIDER_HEADS, &rows)) }
    };
    section(texts::PROVIDERS, &content)
}

fn named<T: Borrow<str>>(names: &[T]) -> String {
    if names.is_empty() { "–".to_owned() } else { names.join(", ") }
}

fn loops(loops: &[Loop]) -> Markup {
    let (well, ailing): (Vec<_>, Vec<_>) =
        loops.iter().partition(|it| it.running && it.restarts == 0);
    let item = |one: &Loop| {
        html! {
            li {
                @if one.running { span.pill.good { (texts::RUNNING) } }
                @else { span.pill.bad { (texts::DOWN) } }
                div {
                    code { (one.name) }
                    @if one.restarts > 0 { " · " (texts::RESTARTS) " " (one.restarts) }
                }
            }
        }
    };
    let content = html! {
        @if !ailing.is_empty() { ul.checks { @for one in ailing { (item(one)) } } }
        (folded(well.len(), texts::ALL_RUNNING, &html! { @for one in &well { (item(one)) } }))
    };
    section(texts::LOOPS, &content)
}

fn process(process: &Process) -> Markup {
    let content = html! {
        dl.facts {
            dt { (texts::VERSION) } dd { (process.version) }
            dt { (texts::DATABASE) } dd { (process.database) }
            dt { (texts::STARTED) } dd { (time(process.started_at)) }
            @if let Some(bytes) = process.memory {
                dt { (texts::MEMORY) } dd { (grouped(bytes >> 20)) " MiB" }
            }
        }
    };
    section(texts::THIS, &content)
}
