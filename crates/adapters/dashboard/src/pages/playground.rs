use crate::api_routes::{ApiAnswer, ApiRequest};
use crate::assets;
use crate::layout::{Frame, Page, icon};
use crate::refusal::Refusal;
use crate::texts::playground::{self as texts, PlaygroundStep, STEPS};
use crate::visit::{Posted, Visit};
use actix_web::HttpResponse;
use actix_web::web::Path;
use dwar_operator::Command;
use dwar_otp::sandbox::Scenario;
use dwar_project::Project;
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::time::Instant;

/// What the playground may ask; all of it in test mode.
const ROUTES: [&str; 2] = ["/v1/", "/.well-known/jwks.json"];

/// `GET /p/{project}/playground`.
pub(crate) async fn show(visit: Visit, path: Path<String>) -> Page {
    let project = visit.project(&path, Command::Play).await?;
    let content = html! {
        noscript { p.notice { (texts::NO_SCRIPT) } }
        div #playground.playground
            data-call={ "/p/" (project.id) "/playground/call" }
            data-api=(visit.console.api_url)
            data-brand=(project.messages.brand.as_deref().unwrap_or(&project.name))
            data-texts=(script_texts()) {
            div.steps {
                (numbers())
                ol.step-list { @for (index, step) in STEPS.iter().enumerate() { (card(index, step)) } }
                (token())
                (key())
            }
            (phone(&project))
        }
    };
    let script = Some(assets::playground());
    let frame = Frame::new(&visit, texts::TITLE, texts::LEAD).of(&project).with(script);
    frame.show(&content)
}

fn script_texts() -> String {
    let texts = texts::SCRIPT.iter().map(|(name, text)| ((*name).to_owned(), Value::from(*text)));
    Value::Object(texts.collect::<Map<_, _>>()).to_string()
}

/// The phone number, and those that play a scene.
fn numbers() -> Markup {
    let ordinary = (texts::ORDINARY, Scenario::Delivered);
    html! {
        section.card.numbers {
            div.field {
                label for="phone" { (texts::PHONE) }
                input #phone type="tel" inputmode="tel" autocomplete="off" value=(texts::ORDINARY)
                    maxlength="13" aria-describedby="phone-hint";
                p #phone-hint.hint { (texts::PHONE_HINT) }
            }
            fieldset.magic {
                legend { (texts::MAGIC) }
                div.chips {
                    @for (number, scenario) in std::iter::once(ordinary).chain(Scenario::MAGIC) {
                        button.chip type="button" data-number=(number)
                            aria-pressed=(if number == texts::ORDINARY { "true" } else { "false" }) {
                            code { "…" (&number[6..]) } span { (texts::scene(scenario)) }
                        }
                    }
                }
            }
        }
    }
}

fn card(index: usize, step: &PlaygroundStep) -> Markup {
    let languages =
        [("curl", "curl"), ("javascript", "JavaScript"), ("python", "Python"), ("rust", "Rust")];
    let tabs =
        [("request", texts::REQUEST), ("answer", texts::ANSWER)].into_iter().chain(languages);
    html! {
        li.card.step data-step=(step.name) data-method=(step.method) data-path=(step.path) {
            div.step-head {
                span.number aria-hidden="true" { (index + 1) }
                div.step-words {
                    h2 { (step.title) }
                    p.muted { (step.sentence) }
                }
                output.status aria-live="polite" {}
            }
            div.step-do {
                @if step.name == "verify" {
                    div.field.code-field {
                        label for="code" { (texts::CODE) }
                        input #code type="text" inputmode="numeric" autocomplete="one-time-code"
                            maxlength="6" placeholder="••••••";
                    }
                }
                code.endpoint { b { (step.method) } " " (step.path) }
                button.primary.run type="button" { (step.button) }
            }
            div.limit { meter hidden min="0" max="1" value="1" {} span {} }
            div.tabs role="tablist" aria-label=(step.title) {
                @for (tab, (name, label)) in tabs.clone().enumerate() {
                    button type="button" role="tab" id={ (step.name) "-tab-" (name) } data-tab=(name)
                        aria-controls={ (step.name) "-panel" }
                        aria-selected=(if tab == 0 { "true" } else { "false" })
                        tabindex=(if tab == 0 { "0" } else { "-1" }) { (label) }
                }
            }
            div.panel role="tabpanel" id={ (step.name) "-panel" }
                aria-labelledby={ (step.name) "-tab-request" } data-empty=(texts::NOT_YET) {
                button.copy type="button" title=(texts::COPY) aria-label=(texts::COPY) { (icon("copy")) }
                pre tabindex="0" { code {} }
            }
        }
    }
}

fn token() -> Markup {
    html! {
        section #token.card.token {
            h2 { (texts::TOKEN) }
            p.token-empty.muted { (texts::TOKEN_EMPTY) }
            div.token-full hidden {
                pre.token-raw tabindex="0" { code {} }
                p.verdict role="status" {}
                h3 { (texts::HEADER) }
                dl.claims.token-header {}
                h3 { (texts::CLAIMS) }
                dl.claims.token-claims {}
            }
        }
    }
}

fn key() -> Markup {
    html! {
        section.card {
            div.field {
                label for="own-key" { (texts::KEY) }
                input #own-key type="text" autocomplete="off" spellcheck="false"
                    placeholder="svc_test_…" aria-describedby="own-key-hint";
                p #own-key-hint.hint { (texts::KEY_HINT) }
            }
        }
    }
}

/// The phone on the right.
fn phone(project: &Project) -> Markup {
    let brand = project.messages.brand.as_deref().unwrap_or(&project.name);
    html! {
        aside.phone-side aria-label=(texts::PHONE_TITLE) {
            h2.hidden { (texts::PHONE_TITLE) }
            div.phone data-channel="none" {
                div.phone-bar aria-hidden="true" { span.clock { "9:41" } span.island {} span.signal { "5G" } }
                div.phone-app {
                    span.avatar.round aria-hidden="true" { (brand.chars().next().unwrap_or('D')) }
                    div { strong { (brand) } span.phone-channel { (texts::MODE) } }
                }
                div.chat role="log" aria-live="polite" {
                    p.chat-empty { (texts::PHONE_EMPTY) }
                }
                div.keyboard { button.autofill type="button" hidden {} }
            }
            ol.delivery aria-label=(texts::DELIVERY) {}
        }
    }
}

/// One call, as the script asks for it.
#[derive(Deserialize)]
pub(crate) struct CallForm {
    method: String,
    target: String,
    #[serde(default)]
    body: String,
}

/// `POST /p/{project}/playground/call`: asks the API, and tells all of its answer.
pub(crate) async fn call(posted: Posted<CallForm>, path: Path<String>) -> Page {
    let Posted { visit, form } = posted;
    let project = visit.project(&path, Command::Play).await?;
    if !ROUTES.iter().any(|route| form.target.starts_with(route)) {
        return Err(Refusal::NotFound);
    }
    let CallForm { method, target, body } = form;
    let request = ApiRequest { method, target, body: body.into_bytes() };
    let began = Instant::now();
    let answer = visit.console.api.call(project.id, request).await;
    let ApiAnswer { status, headers, body } = answer.map_err(|_| Refusal::Unavailable)?;
    let answer = json!({
        "status": status,
        "headers": headers,
        "body": String::from_utf8_lossy(&body),
        "ms": began.elapsed().as_millis(),
    });
    Ok(HttpResponse::Ok().content_type("application/json").body(answer.to_string()))
}
