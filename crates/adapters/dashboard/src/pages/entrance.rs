use super::parts::{Field, notice};
use super::{go, passkeys};
use crate::console::Console;
use crate::layout::{HTML, Page, card};
use crate::refusal::{RETRY_SOON, Refusal};
use crate::texts::{entrance as texts, refusals, sign_in as sign_in_texts};
use crate::visit::{NoFields, Open, Posted, Theme};
use actix_web::http::StatusCode;
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use dwar_app::{Credentials, SignInError, SignedIn};
use dwar_operator::EndSessions;
use dwar_wire::client_address;
use maud::{Markup, html};
use serde::Deserialize;

/// `GET /start`: the page of a first start's link. Its script posts the secret that stands in the
/// fragment, which no server, proxy or prefetch ever sees.
pub(crate) async fn start(request: HttpRequest) -> Page {
    let content = html! {
        form #start method="post" action="/start" data-secret="secret" {
            input type="hidden" name="secret";
            p { (texts::OPENING) }
            button.primary type="submit" { (texts::CONTINUE) }
            noscript { p { (texts::NO_SCRIPT) } }
        }
    };
    shown(&request, StatusCode::OK, texts::WELCOME, &content)
}

#[derive(Deserialize)]
pub(crate) struct StartForm {
    secret: String,
}

/// `POST /start`: spends the link on a session.
pub(crate) async fn enter(
    request: HttpRequest,
    console: Data<Console>,
    form: Open<StartForm>,
) -> Page {
    let from = client_address(&request, console.names.tls);
    match console.admin.sign_in.follow_link(&form.0.secret, None, from).await {
        Ok(signed_in) => welcome(&console, &signed_in, "/?start"),
        Err(SignInError::LinkGone) => gone(&request),
        Err(cause) => Err(cause.into()),
    }
}

/// `GET /invite`: where an invitation leads, and a reset.
pub(crate) async fn invite(request: HttpRequest) -> Page {
    shown(&request, StatusCode::OK, texts::INVITED, &password_form("", None))
}

#[derive(Deserialize)]
pub(crate) struct InviteForm {
    secret: String,
    password: String,
    again: String,
}

/// `POST /invite`: spends the link on a password and a session.
pub(crate) async fn accept(
    request: HttpRequest,
    console: Data<Console>,
    form: Open<InviteForm>,
) -> Page {
    let InviteForm { secret, password, again } = form.0;
    let refused = |sentence: &str| {
        let form = password_form(&secret, Some(sentence));
        shown(&request, StatusCode::UNPROCESSABLE_ENTITY, texts::INVITED, &form)
    };
    if password != again {
        return refused(texts::NOT_THE_SAME);
    }
    let from = client_address(&request, console.names.tls);
    match console.admin.sign_in.follow_link(&secret, Some(&password), from).await {
        Ok(signed_in) => welcome(&console, &signed_in, "/"),
        Err(SignInError::Password(cause)) => refused(&cause.to_string()),
        Err(SignInError::LinkGone) => gone(&request),
        Err(cause) => Err(cause.into()),
    }
}

/// The secret is in the fragment until the script puts it in; after a refusal it is in the page.
fn password_form(secret: &str, refused: Option<&str>) -> Markup {
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
        form.stack method="post" action="/invite" data-secret=[secret.is_empty().then_some("secret")] {
            input type="hidden" name="secret" value=(secret);
            @if let Some(sentence) = refused { (notice("bad", sentence)) }
            p { (texts::CHOOSE) }
            (field("password", texts::PASSWORD, texts::PASSWORD_HINT).show())
            (field("again", texts::AGAIN, "").show())
            button.primary type="submit" { (texts::JOIN) }
            noscript { p { (texts::NO_SCRIPT) } }
        }
    }
}

/// `GET /sign-in`.
pub(crate) async fn sign_in(request: HttpRequest, console: Data<Console>) -> Page {
    let form = sign_in_form(&request, &console, "", None);
    shown(&request, StatusCode::OK, sign_in_texts::TITLE, &form)
}

#[derive(Deserialize)]
pub(crate) struct SignInForm {
    name: String,
    password: String,
    code: String,
}

/// `POST /sign-in`: a new session, whatever cookie came along.
pub(crate) async fn let_in(
    request: HttpRequest,
    console: Data<Console>,
    form: Open<SignInForm>,
) -> Page {
    let SignInForm { name, password, code } = form.0;
    let code = Some(code.trim()).filter(|code| !code.is_empty());
    let browser = console.browser_of(&request);
    let credentials =
        Credentials { name: &name, password: &password, code, browser: browser.as_deref() };
    let from = client_address(&request, console.names.tls);
    let signed_in = console.admin.sign_in.sign_in(credentials, from).await;
    let form = |sentence: &str| sign_in_form(&request, &console, &name, Some(sentence));
    finish(&request, &console, signed_in, sign_in_texts::WRONG, form)
}

/// Welcomes, or says on the sign-in page why not; `wrong` is for what does not fit.
pub(crate) fn answered(
    request: &HttpRequest,
    console: &Console,
    signed_in: Result<SignedIn, SignInError>,
    wrong: &str,
) -> Page {
    let form = |sentence: &str| sign_in_form(request, console, "", Some(sentence));
    finish(request, console, signed_in, wrong, form)
}

fn finish(
    request: &HttpRequest,
    console: &Console,
    signed_in: Result<SignedIn, SignInError>,
    wrong: &str,
    form: impl Fn(&str) -> Markup,
) -> Page {
    let refused =
        |status, sentence: &str| shown(request, status, sign_in_texts::TITLE, &form(sentence));
    match signed_in {
        Ok(signed_in) => welcome(console, &signed_in, "/"),
        Err(SignInError::Wrong) => refused(StatusCode::FORBIDDEN, wrong),
        Err(SignInError::CodeNeeded) => refused(StatusCode::FORBIDDEN, sign_in_texts::CODE_NEEDED),
        Err(SignInError::Locked { until }) => {
            let wait = (until - console.tools.now()).num_seconds().max(1);
            let sentence = sign_in_texts::LOCKED.replace("{seconds}", &wait.to_string());
            refused(StatusCode::TOO_MANY_REQUESTS, &sentence)
        }
        Err(SignInError::Busy) => {
            let mut page = refused(StatusCode::SERVICE_UNAVAILABLE, refusals::BUSY.1)?;
            page.headers_mut().insert(RETRY_SOON.0, RETRY_SOON.1);
            Ok(page)
        }
        Err(cause) => Err(cause.into()),
    }
}

fn sign_in_form(
    request: &HttpRequest,
    console: &Console,
    name: &str,
    refused: Option<&str>,
) -> Markup {
    let name = Field {
        name: "name",
        label: sign_in_texts::NAME,
        value: name,
        autocomplete: "username",
        required: true,
        ..Field::TEXT
    };
    let password = Field {
        name: "password",
        label: sign_in_texts::PASSWORD,
        kind: "password",
        autocomplete: "current-password",
        required: true,
        ..Field::TEXT
    };
    let code = Field {
        name: "code",
        label: sign_in_texts::CODE,
        hint: sign_in_texts::CODE_HINT,
        autocomplete: "one-time-code",
        ..Field::TEXT
    };
    html! {
        form.stack method="post" action="/sign-in" {
            @if let Some(sentence) = refused { (notice("bad", sentence)) }
            (name.show()) (password.show()) (code.show())
            button.primary type="submit" { (sign_in_texts::BUTTON) }
        }
        (passkeys::door(request, console))
        p.hint { (sign_in_texts::FORGOTTEN) " " code { "dwar operator reset" } }
    }
}

/// `POST /sign-out`.
pub(crate) async fn sign_out(posted: Posted<NoFields>) -> Page {
    let which = EndSessions::One(posted.visit.present.session.digest);
    leave(posted, which).await
}

/// `POST /sign-out-everywhere`.
pub(crate) async fn sign_out_everywhere(posted: Posted<NoFields>) -> Page {
    leave(posted, EndSessions::All).await
}

async fn leave(posted: Posted<NoFields>, which: EndSessions) -> Page {
    let visit = posted.visit;
    visit.console.admin.sign_in.sign_out(&visit.present, which, visit.by.from).await?;
    let mut answer = go("/sign-in");
    answer.add_cookie(&visit.console.no_session_cookie()).map_err(|_| Refusal::Failed)?;
    Ok(answer)
}

fn welcome(console: &Console, signed_in: &SignedIn, to: &str) -> Page {
    let mut answer = go(to);
    let cookie = console.session_cookie(signed_in.token.expose().to_owned());
    answer.add_cookie(&cookie).map_err(|_| Refusal::Failed)?;
    if let Some(token) = &signed_in.browser {
        answer.add_cookie(&console.browser_cookie(token)).map_err(|_| Refusal::Failed)?;
    }
    Ok(answer)
}

fn gone(request: &HttpRequest) -> Page {
    let content = html! {
        p { (texts::GONE) }
        pre tabindex="0" { code { (texts::COMMAND) } }
        p { a href="/sign-in" { (sign_in_texts::TITLE) } }
    };
    shown(request, StatusCode::FORBIDDEN, texts::WELCOME, &content)
}

fn shown(request: &HttpRequest, status: StatusCode, title: &str, content: &Markup) -> Page {
    let page = card(title, Theme::of(request), content).into_string();
    Ok(HttpResponse::build(status).content_type(HTML).body(page))
}
