use super::parts::{Field, done, notice};
use super::{go, passkeys};
use crate::assets;
use crate::format::time;
use crate::layout::{Frame, Page, csrf};
use crate::refusal::Refusal;
use crate::texts::account as texts;
use crate::visit::{NoFields, Posted, Visit};
use actix_web::HttpRequest;
use actix_web::http::StatusCode;
use dwar_app::AccountError;
use dwar_operator::OperatorSession;
use maud::{Markup, PreEscaped, html};
use qrcodegen::{QrCode, QrCodeEcc};
use serde::Deserialize;

/// `GET /account`.
pub(crate) async fn show(visit: Visit, request: HttpRequest) -> Page {
    page(&visit, &request, StatusCode::OK, &done(&request, texts::DONE)).await
}

#[derive(Deserialize)]
pub(crate) struct PasswordForm {
    #[serde(default)]
    current: String,
    new: String,
    again: String,
}

/// `POST /account/password`.
pub(crate) async fn password(request: HttpRequest, posted: Posted<PasswordForm>) -> Page {
    let Posted { visit, form } = posted;
    if form.new != form.again {
        return refused(&visit, &request, texts::NOT_THE_SAME).await;
    }
    let account = &visit.console.admin.account;
    let changed =
        account.change_password(&visit.by, &visit.present, &form.current, &form.new).await;
    let token = match changed {
        Ok(token) => token,
        Err(cause) => return finish(&visit, &request, Err(cause), "password").await,
    };
    let mut answer = go("/account?done=password");
    if let Some(token) = token {
        let cookie = visit.console.browser_cookie(&token);
        answer.add_cookie(&cookie).map_err(|_| Refusal::Failed)?;
    }
    Ok(answer)
}

/// `POST /account/totp`: offers a second factor.
pub(crate) async fn offer(request: HttpRequest, posted: Posted<NoFields>) -> Page {
    let visit = posted.visit;
    let offer = visit.console.admin.account.offer_totp(&visit.present.operator);
    let above = totp_form(&visit, &offer.secret.expose(), &offer.uri);
    page(&visit, &request, StatusCode::OK, &above).await
}

#[derive(Deserialize)]
pub(crate) struct TotpForm {
    secret: String,
    code: String,
    #[serde(default)]
    current: String,
}

/// `POST /account/totp/add`: adds it, once the app shows its codes.
pub(crate) async fn add(request: HttpRequest, posted: Posted<TotpForm>) -> Page {
    let Posted { visit, form } = posted;
    let account = &visit.console.admin.account;
    let pair = (form.secret.as_str(), form.code.as_str());
    let added = account.add_totp(&visit.by, &visit.present, &form.current, pair).await;
    finish(&visit, &request, added, "totp").await
}

#[derive(Deserialize)]
pub(crate) struct RemoveForm {
    #[serde(default)]
    current: String,
}

/// `POST /account/totp/remove`.
pub(crate) async fn remove(request: HttpRequest, posted: Posted<RemoveForm>) -> Page {
    let Posted { visit, form } = posted;
    let account = &visit.console.admin.account;
    let removed = account.remove_totp(&visit.by, &visit.present, &form.current).await;
    finish(&visit, &request, removed, "no-totp").await
}

pub(crate) async fn finish(
    visit: &Visit,
    request: &HttpRequest,
    done: Result<(), AccountError>,
    word: &str,
) -> Page {
    match done {
        Ok(()) => Ok(go(&format!("/account?done={word}"))),
        Err(AccountError::Store(cause)) => Err(cause.into()),
        Err(AccountError::Busy) => Err(Refusal::Busy),
        Err(cause) => refused(visit, request, &cause.to_string()).await,
    }
}

async fn refused(visit: &Visit, request: &HttpRequest, sentence: &str) -> Page {
    page(visit, request, StatusCode::UNPROCESSABLE_ENTITY, &notice("bad", sentence)).await
}

async fn page(visit: &Visit, request: &HttpRequest, status: StatusCode, above: &Markup) -> Page {
    let operator = &visit.present.operator;
    let sessions = visit.console.admin.sign_in.sessions(operator.id).await?;
    let passkeys = passkeys::section(visit, request).await?;
    let script = Some(assets::passkeys());
    let content = html! {
        div.stack {
            (above)
            div.columns {
                (password_form(visit))
                (second_factor(visit))
            }
            (passkeys)
            (sessions_card(visit, &sessions))
        }
    };
    let frame = Frame::new(visit, texts::TITLE, texts::LEAD).with(script);
    frame.answer(status, &content)
}

/// Whoever came in by the link of a first start has none yet.
pub(crate) fn current(visit: &Visit, id: &str) -> Markup {
    html! {
        @if visit.present.operator.password.is_some() {
            div.field {
                label for=(id) { (texts::CURRENT) }
                input id=(id) name="current" type="password" autocomplete="current-password" required;
            }
        }
    }
}

/// Tells password managers whose password this is.
fn whose(visit: &Visit) -> Markup {
    let name = visit.present.operator.name.as_str();
    html! {
        input.hidden type="text" name="username" autocomplete="username" value=(name) readonly
            tabindex="-1" aria-hidden="true";
    }
}

fn password_form(visit: &Visit) -> Markup {
    let field = |name, label, hint| Field {
        name,
        label,
        hint,
        kind: "password",
        autocomplete: "new-password",
        required: true,
        ..Field::TEXT
    };
    html! {
        form.card method="post" action="/account/password" {
            (csrf(visit))
            (whose(visit))
            h2 { (texts::PASSWORD) }
            @if visit.present.operator.password.is_none() { p.muted { (texts::NO_PASSWORD_YET) } }
            (current(visit, "current"))
            (field("new", texts::NEW, texts::NEW_HINT).show())
            (field("again", texts::AGAIN, "").show())
            button.primary type="submit" { (texts::CHANGE) }
        }
    }
}

fn second_factor(visit: &Visit) -> Markup {
    html! {
        section.card {
            h2 { (texts::TOTP) }
            @if visit.present.operator.totp.is_some() {
                p { span.pill.good { (texts::TOTP_ON) } }
                form.stack method="post" action="/account/totp/remove" {
                    (csrf(visit)) (whose(visit)) (current(visit, "current-remove"))
                    div { button.danger type="submit" { (texts::TOTP_REMOVE) } }
                }
            } @else {
                p.muted { (texts::TOTP_HINT) }
                form method="post" action="/account/totp" {
                    (csrf(visit))
                    button.plain type="submit" { (texts::TOTP_ADD) }
                }
            }
        }
    }
}

fn totp_form(visit: &Visit, secret: &str, uri: &str) -> Markup {
    let code = Field {
        name: "code",
        label: texts::TOTP_CODE,
        autocomplete: "one-time-code",
        required: true,
        ..Field::TEXT
    };
    html! {
        form.card method="post" action="/account/totp/add" {
            (csrf(visit))
            h2 { (texts::TOTP_SCAN) }
            div.totp {
                (qr(uri))
                div.stack {
                    p.muted { (texts::TOTP_OR) }
                    code.wrap-anywhere { (secret) }
                    input type="hidden" name="secret" value=(secret);
                    (code.show())
                    (current(visit, "current-totp"))
                    div { button.primary type="submit" { (texts::TOTP_CONFIRM) } }
                }
            }
        }
    }
}

/// A QR code as one path, drawn here: no picture of a secret leaves the page.
fn qr(text: &str) -> Markup {
    let Ok(code) = QrCode::encode_text(text, QrCodeEcc::Medium) else { return html! {} };
    let size = code.size();
    let dark = (0..size).flat_map(|y| (0..size).map(move |x| (x, y)));
    let dark = dark.filter(|(x, y)| code.get_module(*x, *y));
    let path: String = dark.map(|(x, y)| format!("M{x} {y}h1v1h-1z")).collect();
    html! {
        svg.qr viewBox={ "-3 -3 " (size + 6) " " (size + 6) } role="img" aria-label=(texts::TOTP_SCAN) {
            rect x="-3" y="-3" width=(size + 6) height=(size + 6) fill="#fff" {}
            path d=(PreEscaped(path)) fill="#000" {}
        }
    }
}

fn sessions_card(visit: &Visit, sessions: &[OperatorSession]) -> Markup {
    html! {
        section.card {
            h2 { (texts::SESSIONS) }
            ul.stack {
                @for session in sessions {
                    li {
                        strong { @match &session.device { Some(device) => (device), None => (texts::UNKNOWN_DEVICE) } }
                        " · " (texts::SINCE) " " (time(session.created_at))
                        @if let Some(from) = session.from { " · " (from) }
                        @if session.digest == visit.present.session.digest { " " span.pill.good { (texts::THIS_ONE) } }
                    }
                }
            }
            form method="post" action="/sign-out-everywhere" {
                (csrf(visit))
                button.danger type="submit" { (texts::SIGN_OUT_EVERYWHERE) }
            }
        }
    }
}
