use crate::answer::PageResult;
use crate::api_routes::{ApiAnswer, ApiRequest};
use crate::assets;
use crate::icons::icon;
use crate::layout::{Frame, csrf};
use crate::reference::Reference;
use crate::refusal::Refusal;
use crate::texts::playground::{ORDINARY, PlaygroundTexts, STEPS};
use crate::visit::{SignedInForm, Visit};
use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::web::{Bytes, Path};
use dwar_kernel::KeyMode;
use dwar_operator::Command;
use dwar_otp::sandbox::Scenario;
use dwar_project::Project;
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::time::Instant;

/// Paths that the playground may call, all in test mode.
const ROUTES: [&str; 2] = ["/v1/", "/.well-known/jwks.json"];

pub(crate) async fn show(visit: Visit, path: Path<String>) -> PageResult {
    let project = visit.project(&path, Command::Play).await?;
    let texts = PlaygroundTexts::of(visit.language);
    if project.archived_at.is_some() {
        let content = html! { section.empty { p { (texts.archived) } } };
        let frame = Frame::new(&visit, texts.title, texts.lead).of(&project);
        let frame = frame.in_mode(KeyMode::Test, "overview");
        return frame.in_language(visit.language).show(&content);
    }
    let content = html! {
        noscript {
            p.notice { (texts.no_script) " " a href={ "/p/" (project.id) "/inbox" } { (texts.inbox) } }
        }
        // The script shows it, because without a script every button in it would be useless.
        div #playground.playground hidden
            data-call={ "/p/" (project.id) "/playground/call" }
            data-stories={ "/p/" (project.id) "/activity/" }
            data-api=(visit.console.api_url)
            data-brand=(project.messages.brand.as_deref().unwrap_or(&project.name))
            data-texts=(script_texts(texts)) {
            div.steps {
                (numbers(texts))
                ol.step-list {
                    @for index in 0..STEPS.len() {
                        (card(texts, index, &visit.console.reference))
                        @if STEPS[index].0 == "verify" { (next(texts, &visit, &project)) }
                    }
                }
                (token(texts))
                (login_form(texts, &project))
            }
            (phone(texts, &project))
        }
        (story_of_number(&visit, &project))
    };
    let frame = Frame::new(&visit, texts.title, texts.lead).of(&project);
    let frame = frame.with([assets::PLAYGROUND.path()]);
    let frame = frame.styled(assets::PLAYGROUND_CSS.path()).in_mode(KeyMode::Test, "overview");
    frame.in_language(visit.language).show(&content)
}

fn script_texts(texts: &PlaygroundTexts) -> String {
    let texts = texts.script.iter().map(|(name, text)| ((*name).to_owned(), Value::from(*text)));
    Value::Object(texts.collect::<Map<_, _>>()).to_string()
}

/// The operator's own key, the phone number, and the numbers with a simulated scenario.
fn numbers(texts: &PlaygroundTexts) -> Markup {
    let ordinary = (ORDINARY, Scenario::Delivered);
    html! {
        section.card.numbers {
            div.field.own-key {
                label for="own-key" { (texts.key) }
                input #own-key type="text" autocomplete="off" spellcheck="false"
                    placeholder="svc_test_…" aria-describedby="own-key-hint";
                p #own-key-hint.hint { (texts.key_hint) }
            }
            div.field {
                label for="phone" { (texts.phone) }
                input #phone type="tel" inputmode="tel" autocomplete="off" value=(ORDINARY)
                    maxlength="13" aria-describedby="phone-hint";
                p #phone-hint.hint { (texts.phone_hint) }
            }
            fieldset.magic {
                legend { (texts.magic) }
                div.chips {
                    @for (number, scenario) in std::iter::once(ordinary).chain(Scenario::MAGIC) {
                        button.chip type="button" data-number=(number)
                            aria-pressed=(if number == ORDINARY { "true" } else { "false" }) {
                            code { "…" (&number[6..]) } span { (texts.scene(scenario)) }
                        }
                    }
                }
            }
        }
    }
}

/// A step. The script collapses it when it is done, and opens the next one.
fn card(texts: &PlaygroundTexts, index: usize, reference: &Reference) -> Markup {
    let ((name, path), words) = (STEPS[index], &texts.steps[index]);
    let run = html! { button.primary.run type="button" { (words.button) } };
    html! {
        li.card.step data-step=(name) data-method="POST" data-path=(path) {
            div.step-head {
                span.number aria-hidden="true" { (index + 1) }
                div.step-words {
                    h2 { (words.title) }
                    p.muted { (words.sentence) }
                }
                output.status aria-live="polite" {}
                a.story target="_blank" title=(texts.story_title) hidden { (texts.story) }
                button.story.quiet type="submit" form="story-of-number" title=(texts.story_title)
                    hidden { (texts.story) }
                @if name != "verify" { (run) }
                button.fold.quiet type="button" aria-controls={ (name) "-body" }
                    aria-expanded="false" aria-label={ (texts.details) ": " (words.title) } {
                    (icon("down"))
                }
            }
            @if name == "verify" {
                div.step-do {
                    div.field.code-field {
                        label for="code" { (texts.code) }
                        input #code type="text" inputmode="numeric" autocomplete="one-time-code"
                            maxlength="6" placeholder="••••••";
                    }
                    (run)
                }
            }
            div.step-body id={ (name) "-body" } hidden { (exchange(texts, index, reference)) }
        }
    }
}

/// The request and answer of a step, also as code.
fn exchange(texts: &PlaygroundTexts, index: usize, reference: &Reference) -> Markup {
    let ((name, path), words) = (STEPS[index], &texts.steps[index]);
    let languages =
        [("curl", "curl"), ("javascript", "JavaScript"), ("python", "Python"), ("rust", "Rust")];
    let tabs = [("request", texts.request), ("answer", texts.answer)].into_iter().chain(languages);
    html! {
        div.limit { meter hidden min="0" max="1" value="1" {} span {} }
        div.tab-line {
            div.tabs role="tablist" aria-label=(words.title) {
                @for (tab, (shown, label)) in tabs.enumerate() {
                    button type="button" role="tab" id={ (name) "-tab-" (shown) } data-tab=(shown)
                        aria-controls={ (name) "-panel" }
                        aria-selected=(if tab == 0 { "true" } else { "false" })
                        tabindex=(if tab == 0 { "0" } else { "-1" }) { (label) }
                }
            }
            @if let Some(address) = reference.address("POST", path) {
                a.described href=(address) target="_blank"
                    aria-label={ (texts.reference) ": " (words.title) } { (texts.reference) }
            }
        }
        div.panel role="tabpanel" id={ (name) "-panel" }
            aria-labelledby={ (name) "-tab-request" } data-empty=(texts.not_yet) {
            button.copy type="button" title=(texts.copy) aria-label=(texts.copy) { (icon("copy")) }
            pre tabindex="0" { code {} }
        }
    }
}

fn next(texts: &PlaygroundTexts, visit: &Visit, project: &Project) -> Markup {
    html! {
        li.card.next hidden {
            div role="status" { h2 { (texts.next_title) } p { (texts.next) } }
            p {
                @if visit.may(project, Command::ListKeys) {
                    a.button href={ "/p/" (project.id) "/keys" } { (texts.next_keys) }
                }
                a.button href="/reference" target="_blank" { (texts.reference) }
                a.button href={ (visit.console.api_url) "/openapi.json" } target="_blank" {
                    (texts.next_api)
                }
            }
        }
    }
}

/// Asks for the records of the number of a send without a request. By POST, because a number must
/// not be in an address.
fn story_of_number(visit: &Visit, project: &Project) -> Markup {
    html! {
        form #story-of-number method="post" action={ "/p/" (project.id) "/activity/phone" } target="_blank" hidden {
            (csrf(visit))
            input type="hidden" name="mode" value=(KeyMode::Test.as_str());
            input type="hidden" name="phone";
        }
    }
}

fn token(texts: &PlaygroundTexts) -> Markup {
    html! {
        section #token.card.token {
            h2 { (texts.token) }
            p.token-empty.muted { (texts.token_empty) }
            div.token-full hidden {
                pre.token-raw tabindex="0" { code {} }
                p.verdict role="status" {}
                h3 { (texts.header) }
                dl.claims.token-header {}
                h3 { (texts.claims) }
                dl.claims.token-claims {}
            }
        }
    }
}

fn phone(texts: &PlaygroundTexts, project: &Project) -> Markup {
    let brand = project.messages.brand.as_deref().unwrap_or(&project.name);
    html! {
        aside.phone-side aria-label=(texts.phone_title) {
            h2.hidden { (texts.phone_title) }
            div.phone data-channel="none" {
                div.phone-bar aria-hidden="true" { span.clock { "9:41" } span.island {} span.signal { "5G" } }
                div.phone-app {
                    span.avatar.round aria-hidden="true" { (brand.chars().next().unwrap_or('D')) }
                    div { strong { (brand) } span.phone-channel { (texts.mode) } }
                }
                div.chat role="log" aria-live="polite" tabindex="0" aria-label=(texts.phone_title) {
                    p.chat-empty { (texts.phone_empty) }
                    p.chat-why hidden {}
                }
                div.keyboard { button.autofill type="button" hidden {} }
            }
            a href={ "/p/" (project.id) "/inbox" } { (texts.inbox) }
            ol.delivery aria-label=(texts.delivery) {}
        }
    }
}

/// The login form, as a page of the project would show it. The page's script loads its module when
/// the form becomes visible.
fn login_form(texts: &PlaygroundTexts, project: &Project) -> Markup {
    html! {
        section.card.stack #login-form data-module=(assets::LOGIN_FORM.path()) {
            h2 { (texts.form_title) }
            p.muted { (texts.form_lead) }
            dwar-login endpoint={ "/p/" (project.id) "/playground/login" } {}
            div data-copies=(texts.copy) data-done=(texts.copied) {
                p { (texts.embed) }
                pre tabindex="0" { code { (EMBED) } }
            }
        }
    }
}

/// The form in a page of the project.
const EMBED: &str = "<script type=\"module\" src=\"/dwar-login.js\"></script>
<dwar-login endpoint=\"/login\" next=\"/account\"></dwar-login>";

/// The fields of the form: the phone, and in the second step the code too.
#[derive(Deserialize)]
pub(crate) struct LoginBody {
    phone: String,
    #[serde(default)]
    code: Option<String>,
}

/// `POST /p/{project}/playground/login/{step}`: the two steps of the login contract that the form
/// uses, in test mode. Returns no tokens, because the operator has a session of another kind.
pub(crate) async fn log_in(visit: Visit, path: Path<(String, String)>, body: Bytes) -> PageResult {
    let project = visit.project(&path.0, Command::Play).await?;
    let body = serde_json::from_slice(&body).map_err(|_| Refusal::Unreadable)?;
    let LoginBody { phone, code } = body;
    let asked = match (path.1.as_str(), code) {
        ("send", _) => json!({ "phone": phone }),
        ("verify", Some(code)) => json!({ "phone": phone, "code": code }),
        _ => return Err(Refusal::NotFound),
    };
    let request = ApiRequest {
        method: "POST".to_owned(),
        target: format!("/v1/otp/{}", path.1),
        body: asked.to_string().into_bytes(),
    };
    let answer = visit.console.api.call(project.id, request).await;
    let ApiAnswer { status, headers, body } = answer.map_err(|_| Refusal::Unavailable)?;
    let told: Value = serde_json::from_slice(&body).map_err(|_| Refusal::Unavailable)?;
    let status = StatusCode::from_u16(status).map_err(|_| Refusal::Unavailable)?;
    let members = if status.is_success() { OF_SUCCESS } else { OF_REFUSAL };
    let told: Map<String, Value> =
        members.iter().map(|name| ((*name).to_owned(), told[*name].clone())).collect();
    let mut response = HttpResponse::build(status);
    for (name, value) in headers.iter().filter(|(name, _)| name == "retry-after") {
        response.insert_header((name.as_str(), value.as_str()));
    }
    Ok(response.content_type("application/json").body(Value::Object(told).to_string()))
}

/// The members of the contract's answers: of a sent code or a login, and of a refusal.
const OF_SUCCESS: &[&str] = &["otp_id", "identity_id", "expires_in"];
const OF_REFUSAL: &[&str] = &["error", "code", "request_id"];

#[derive(Deserialize)]
pub(crate) struct CallForm {
    method: String,
    target: String,
    #[serde(default)]
    body: String,
}

/// `POST /p/{project}/playground/call`: calls the API and returns its whole answer.
pub(crate) async fn call(
    SignedInForm { visit, form }: SignedInForm<CallForm>,
    path: Path<String>,
) -> PageResult {
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
