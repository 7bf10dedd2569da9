use super::parts::current_password;
use super::passkeys;
use super::reply::Reply;
use crate::answer::{PageResult, go, go_with};
use crate::assets;
use crate::cookies::browser_cookie;
use crate::form::{Field, RefusedForm};
use crate::format::time;
use crate::layout::{Frame, csrf, post_button};
use crate::refusal::Refusal;
use crate::texts::{account as texts, common};
use crate::visit::{EmptyForm, SignedInForm, Visit};
use actix_web::HttpRequest;
use dwar_console::{AccountError, TotpOffer};
use dwar_operator::OperatorSession;
use maud::{Markup, PreEscaped, html};
use qrcodegen::{QrCode, QrCodeEcc};
use serde::Deserialize;

/// The forms of this page, and the ids of their inputs for the current password.
const PASSWORD: &str = "password";
const TOTP: &str = "totp";
const TOTP_CURRENT: &str = "current-totp";
const NO_TOTP: &str = "no-totp";
const NO_TOTP_CURRENT: &str = "current-remove";

pub(crate) async fn show(visit: Visit, request: HttpRequest) -> PageResult {
    page(&visit, &request, Reply::of_address(&visit, texts::DONE)).await
}

#[derive(Deserialize)]
pub(crate) struct PasswordForm {
    new: String,
    again: String,
}

pub(crate) async fn password(
    request: HttpRequest,
    posted: SignedInForm<PasswordForm>,
) -> PageResult {
    let SignedInForm { visit, form } = posted;
    if form.new != form.again {
        let why = RefusedForm::new(PASSWORD, "again", texts::NOT_THE_SAME);
        return refused(visit, &request, why).await;
    }
    let account = &visit.console.admin.account;
    let changed =
        account.change_password(&visit.by, &visit.present, visit.current(), &form.new).await;
    let token = match changed {
        Ok(token) => token,
        Err(cause) => return finish(visit, &request, Err(cause), (PASSWORD, "current")).await,
    };
    let cookie = token.map(|token| browser_cookie(&token, visit.console.names.tls));
    Ok(go_with("/account?done=password", cookie))
}

/// `POST /account/totp`: offers a second factor.
pub(crate) async fn offer(
    request: HttpRequest,
    SignedInForm { visit, .. }: SignedInForm<EmptyForm>,
) -> PageResult {
    let offer = visit.console.admin.account.offer_totp(&visit.present.operator);
    page(&visit, &request, Reply::done(totp_form(&visit, &offer))).await
}

#[derive(Deserialize)]
pub(crate) struct TotpForm {
    secret: String,
    code: String,
}

/// `POST /account/totp/add`: adds it after a valid code of the app.
pub(crate) async fn add(
    request: HttpRequest,
    SignedInForm { visit, form }: SignedInForm<TotpForm>,
) -> PageResult {
    let account = &visit.console.admin.account;
    let pair = (form.secret.as_str(), form.code.as_str());
    let added = account.add_totp(&visit.by, &visit.present, visit.current(), pair).await;
    finish(visit, &request, added, (TOTP, TOTP_CURRENT)).await
}

pub(crate) async fn remove(
    request: HttpRequest,
    SignedInForm { visit, .. }: SignedInForm<EmptyForm>,
) -> PageResult {
    let account = &visit.console.admin.account;
    let removed = account.remove_totp(&visit.by, &visit.present, visit.current()).await;
    finish(visit, &request, removed, (NO_TOTP, NO_TOTP_CURRENT)).await
}

/// Redirects to the page, which shows the result, or shows the form again. `form` is the name of
/// the form and the word for its result, `current` the id of its input for the current password.
pub(crate) async fn finish(
    visit: Visit,
    request: &HttpRequest,
    done: Result<(), AccountError>,
    (form, current): (&'static str, &str),
) -> PageResult {
    let cause = match done {
        Ok(()) => return Ok(go(&format!("/account?done={form}"))),
        Err(AccountError::Store(cause)) => return Err(cause.into()),
        Err(AccountError::Busy) => return Err(Refusal::Busy),
        Err(cause) => cause,
    };
    let (field, id) = match cause {
        AccountError::WrongCode => ("code", "code"),
        AccountError::Password(_) => ("new", "new"),
        AccountError::PasskeyName => ("name", "passkey-name"),
        AccountError::WrongPassword | AccountError::Locked { .. } => ("current", current),
        _ => ("", "content"),
    };
    refused(visit, request, RefusedForm::new(form, field, &cause.to_string()).at(id)).await
}

async fn refused(visit: Visit, request: &HttpRequest, refused: RefusedForm) -> PageResult {
    let visit = visit.refuse(refused);
    let secret = visit.typed.get("secret").unwrap_or_default();
    let offer = visit.console.admin.account.offer_again(&visit.present.operator, secret);
    let Reply { status, above } = Reply::refused(&visit);
    let above = html! { (above) @if let Some(offer) = offer { (totp_form(&visit, &offer)) } };
    page(&visit, request, Reply { status, above }).await
}

async fn page(visit: &Visit, request: &HttpRequest, reply: Reply) -> PageResult {
    let operator = &visit.present.operator;
    let sessions = visit.console.admin.sign_in.sessions(operator.id).await?;
    let passkeys = passkeys::section(visit, request).await?;
    let content = html! {
        div.columns {
            (password_form(visit))
            div.stack { (second_factor(visit)) (passkeys) }
        }
        (sessions_card(visit, &sessions))
    };
    let frame = Frame::new(visit, texts::TITLE, texts::LEAD).with([assets::PASSKEYS.path()]);
    reply.show(&frame, &content)
}

fn whose(visit: &Visit) -> Markup {
    let name = visit.present.operator.name.as_str();
    html! {
        input.hidden type="text" name="username" autocomplete="username" value=(name) readonly
            tabindex="-1" aria-hidden="true";
    }
}

fn password_form(visit: &Visit) -> Markup {
    let form = visit.form(PASSWORD, true);
    let field = |name, label, hint| Field::new_password(name, label, hint, form.error(name));
    html! {
        form.card method="post" action="/account/password" {
            (csrf(visit))
            (whose(visit))
            h2 { (common::PASSWORD) }
            @if visit.present.operator.password.is_none() { p.muted { (texts::NO_PASSWORD_YET) } }
            (current_password(visit, form, "current"))
            (field("new", texts::NEW, texts::NEW_HINT).show())
            (field("again", common::REPEAT_PASSWORD, "").show())
            button.primary type="submit" { (texts::CHANGE) }
        }
    }
}

fn second_factor(visit: &Visit) -> Markup {
    let removal = visit.form(NO_TOTP, true);
    html! {
        section.card {
            h2 { (texts::TOTP) }
            @if visit.present.operator.totp.is_some() {
                p { span.pill.good { (texts::TOTP_ON) } }
                form.stack method="post" action="/account/totp/remove" {
                    (csrf(visit)) (whose(visit)) (current_password(visit, removal, NO_TOTP_CURRENT))
                    div { button.danger type="submit" { (texts::TOTP_REMOVE) } }
                }
            } @else {
                p.muted { (texts::TOTP_HINT) }
                (post_button(visit, "/account/totp", "plain", texts::TOTP_ADD))
            }
        }
    }
}

fn totp_form(visit: &Visit, offer: &TotpOffer) -> Markup {
    let (form, secret) = (visit.form(TOTP, true), offer.secret.expose());
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
                (qr(&offer.uri))
                div.stack {
                    p.muted { (texts::TOTP_OR) }
                    code.wrap-anywhere { (secret.as_str()) }
                    input type="hidden" name="secret" value=(secret.as_str());
                    (form.field(&code))
                    (current_password(visit, form, TOTP_CURRENT))
                    div { button.primary type="submit" { (texts::TOTP_CONFIRM) } }
                }
            }
        }
    }
}

/// A QR code as one path, rendered here, so that no picture of a secret leaves the page.
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
            (post_button(visit, "/sign-out-everywhere", "danger", texts::SIGN_OUT_EVERYWHERE))
        }
    }
}
