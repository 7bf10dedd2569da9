use super::model::{Answer, Api, Field, Operation};
use super::sample;
use super::schema::plain;
use crate::format::capital;
use crate::manual;
use crate::texts::{common, reference as texts};
use maud::{Markup, html};
use serde_json::Value;

/// Example calls by the clients, by operation id and language.
const CLIENTS: &str = include_str!("clients.json");

/// The whole page below its title: the list of operations, and each of them.
pub(super) fn draw(api: &Api) -> Markup {
    let clients: Value = serde_json::from_str(CLIENTS).unwrap_or_default();
    html! {
        div.reference data-copies=(common::COPY) data-done=(common::COPIED) {
            (index(api))
            div.operations {
                (basics(api))
                @for group in &api.groups {
                    h2 { (group.name) }
                    @for operation in &group.operations { (section(api, operation, &clients)) }
                }
                section #events.card { h2 { (texts::EVENTS) } (manual::events()) }
                section #headers.card {
                    h2 { (texts::HEADERS_OF_ANSWERS) }
                    (fields(api, &api.headers))
                }
            }
        }
    }
}

fn index(api: &Api) -> Markup {
    html! {
        nav.index aria-label=(texts::OPERATIONS) {
            ul {
                li { a href="#basics" { (texts::BASICS) } }
                li { a href="#errors" { (texts::COMMON_ERRORS) } }
            }
            @for group in &api.groups {
                p { (group.name) }
                ul {
                    @for it in &group.operations {
                        li { a href={ "#" (it.id) } { (method(it)) " " (it.summary) } }
                    }
                }
            }
            ul {
                li { a href="#events" { (texts::EVENTS) } }
                li { a href="#headers" { (texts::HEADERS_OF_ANSWERS) } }
            }
        }
    }
}

fn basics(api: &Api) -> Markup {
    let in_requests: Vec<Field> = api.key.iter().chain(&api.shared).cloned().collect();
    let parts =
        [(texts::HEADERS_OF_REQUESTS, &in_requests), (texts::BODY_OF_REFUSALS, &api.refusal)];
    html! {
        section #basics.card {
            h2 { (texts::BASICS) }
            @for paragraph in &api.about { p { (prose(api, paragraph)) } }
            p { (prose(api, texts::EXAMPLES)) }
            @for (title, all) in parts {
                @if !all.is_empty() { h3.minor { (title) } (fields(api, all)) }
            }
        }
        section #errors.card {
            h2 { (texts::COMMON_ERRORS) }
            @for answer in &api.errors { (told(api, answer, None)) }
        }
    }
}

fn section(api: &Api, it: &Operation, clients: &Value) -> Markup {
    let alike = |answer: &Answer| {
        let first = api.first_with(&answer.fields).filter(|_| !answer.fields.is_empty());
        first.filter(|first| first.id != it.id)
    };
    let given = it.answers.iter().filter(|answer| alike(answer).is_none()).find_map(sample::answer);
    html! {
        section.card id=(it.id) {
            h3 { a href={ "#" (it.id) } { (it.summary) } }
            p.call {
                (method(it)) " " code { (it.path) }
                @if !it.needs_key { " " span.pill { (texts::NO_KEY) } }
            }
            p { (prose(api, &it.about)) }
            @if it.is_step() { p { a href="/playground" { (texts::TRY) } } }
            div.examples {
                div { h4 { (texts::EXAMPLE_REQUEST) } pre { code { (sample::call(it, api.key.as_ref())) } } }
                @if let Some(given) = given {
                    div { h4 { (texts::EXAMPLE_ANSWER) } pre { code { (given) } } }
                }
            }
            @if let Some(calls) = clients[&it.id].as_object() {
                dl.clients {
                    @for (language, call) in calls {
                        dt { (language) } dd { code { (call.as_str().unwrap_or_default()) } }
                    }
                }
            }
            (titled(texts::PARAMETERS, api, &it.parameters))
            (titled(texts::BODY, api, &it.body))
            h4 { (texts::ANSWERS) }
            (names(texts::ALL_HAVE, &it.headers))
            @for answer in &it.answers { (told(api, answer, alike(answer))) }
            @if !it.common_errors.is_empty() {
                p.of-headers { a href="#errors" { (texts::COMMON_ERRORS) } ": " (listed(&it.common_errors)) }
            }
            (next(api, it))
        }
    }
}

/// Every answer with one status. Repeated fields are described only at the first operation that has
/// them.
fn told(api: &Api, answer: &Answer, alike: Option<&Operation>) -> Markup {
    let kind = if answer.codes.is_empty() { "good" } else { "bad" };
    html! {
        p.status-line { span.pill.(kind) { (answer.status) } " " (prose(api, &answer.about)) }
        @if let Some(first) = alike {
            p { (texts::SAME_FIELDS) " " a href={ "#" (first.id) } { (first.summary) } }
        } @else if !answer.fields.is_empty() {
            (fields(api, &answer.fields))
        }
        @if !answer.codes.is_empty() {
            dl.fields {
                @for (code, said) in &answer.codes {
                    dt { code { (code) } }
                    dd { (said) }
                }
            }
        }
        (names(texts::HEADERS, &answer.headers))
    }
}

fn next(api: &Api, it: &Operation) -> Markup {
    html! {
        @if !it.next.is_empty() {
            h4 { (texts::NEXT) }
            ul.next-operations {
                @for link in &it.next {
                    @if let Some(target) = api.operation(&link.id) {
                        li { a href={ "#" (link.id) } { (target.summary) } (given(&link.with)) }
                    }
                }
            }
        }
    }
}

fn given(with: &[(String, String)]) -> Markup {
    html! {
        @for (place, (name, source)) in with.iter().enumerate() {
            @if place == 0 { " " (texts::WITH) " " } @else { ", " }
            code { (source) }
            @if name != source { " " (texts::AS) " " code { (name) } }
        }
    }
}

fn method(it: &Operation) -> Markup {
    html! { span.method.(it.method.to_ascii_lowercase()) { (it.method) } }
}

/// Names of headers on one line, if there are any.
fn names(label: &str, names: &[String]) -> Markup {
    html! {
        @if !names.is_empty() {
            p.of-headers {
                (label) " " (listed(names))
            }
        }
    }
}

/// Fields below a heading, if there are any.
fn titled(title: &str, api: &Api, all: &[Field]) -> Markup {
    html! { @if !all.is_empty() { h4 { (title) } (fields(api, all)) } }
}

fn fields(api: &Api, all: &[Field]) -> Markup {
    html! {
        dl.fields {
            @for field in all {
                dt {
                    code { (field.name) }
                    " " span {
                        @if !field.place.is_empty() { (field.place) ", " }
                        (field.kind)
                        @if field.optional { ", " (texts::OPTIONAL) }
                    }
                }
                dd { (about(api, field)) }
            }
        }
    }
}

/// The description of a field and its bounds.
fn about(api: &Api, field: &Field) -> Markup {
    let is_everywhere = field.place.is_empty() && api.everywhere.contains(&field.name);
    html! {
        (prose(api, &field.about))
        @if is_everywhere { " " span.pill { (texts::EVERYWHERE) } }
        (bounds(field))
        @if !field.members.is_empty() { (fields(api, &field.members)) }
    }
}

/// The bounds of a field, and an example.
fn bounds(field: &Field) -> Markup {
    let example = field.example.as_ref().filter(|_| field.words.is_empty());
    html! {
        div.bounds {
            @for limit in &field.limits { span { (capital(limit)) } " " }
            @match field.words.as_slice() {
                [] => {}
                [only] => span { (texts::ALWAYS) " " code { (only) } },
                several => span { (texts::ONE_OF) " " (listed(several)) },
            }
            @if let Some(pattern) = &field.pattern {
                span { (texts::PATTERN) " " code { (pattern) } } " "
            }
            @if let Some(example) = example {
                span { (texts::EXAMPLE) " " code { (plain(example)) } }
            }
        }
    }
}

fn listed(words: &[String]) -> Markup {
    html! {
        @for (place, word) in words.iter().enumerate() {
            @if place > 0 { ", " }
            code { (word) }
        }
    }
}

/// A text with code between backticks; the name of an operation becomes a link to it.
fn prose(api: &Api, text: &str) -> Markup {
    html! {
        @for (place, part) in text.split('`').enumerate() {
            @if place % 2 == 0 {
                (part)
            } @else if api.operation(part).is_some() {
                a href={ "#" (part) } { code { (part) } }
            } @else {
                code { (part) }
            }
        }
    }
}
