use super::parts::notice;
use crate::answer::{PageResult, go_with, html_answer};
use crate::console::Console;
use crate::cookies::{SESSION, browser_cookie};
use crate::form::Field;
use crate::format::sentence;
use crate::language::Language;
use crate::layout::card;
use crate::texts::{common, entrance as texts, refusals};
use crate::theme::Theme;
use crate::visit::PublicForm;
use actix_web::HttpRequest;
use actix_web::http::StatusCode;
use dwar_console::{SignInError, SignedIn};
use maud::{Markup, html};
use serde::Deserialize;
use std::iter;

/// `GET /start`: the page of a first start's link. Its script posts the secret in the fragment,
/// which no server, proxy or prefetch ever sees.
pub(crate) async fn start(request: HttpRequest) -> PageResult {
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
pub(crate) struct FirstStartForm {
    secret: String,
}

/// `POST /start`: exchanges the link for a session.
pub(crate) async fn enter(posted: PublicForm<FirstStartForm>) -> PageResult {
    let PublicForm { request, console, form } = posted;
    let client = console.client(&request);
    match console.admin.sign_in.follow_link(&form.secret, None, client).await {
        Ok(signed_in) => welcome(&console, &signed_in, "/?start"),
        Err(SignInError::LinkGone) => gone(&request),
        Err(cause) => Err(cause.into()),
    }
}

/// `GET /invite`: the page of an invitation's or a reset's link.
pub(crate) async fn invite(request: HttpRequest) -> PageResult {
    shown(&request, StatusCode::OK, texts::INVITED, &password_form("", None))
}

#[derive(Deserialize)]
pub(crate) struct AcceptInviteForm {
    secret: String,
    password: String,
    again: String,
}

/// `POST /invite`: exchanges the link for a password and a session.
pub(crate) async fn accept(posted: PublicForm<AcceptInviteForm>) -> PageResult {
    let PublicForm { request, console, form: AcceptInviteForm { secret, password, again } } =
        posted;
    let refused = |field: &str, sentence: &str| {
        let form = password_form(&secret, Some((field, sentence)));
        shown(&request, StatusCode::UNPROCESSABLE_ENTITY, texts::INVITED, &form)
    };
    if password != again {
        return refused("again", texts::NOT_THE_SAME);
    }
    let client = console.client(&request);
    match console.admin.sign_in.follow_link(&secret, Some(&password), client).await {
        Ok(signed_in) => welcome(&console, &signed_in, "/"),
        Err(SignInError::Password(cause)) => refused("password", &sentence(&cause.to_string())),
        Err(SignInError::LinkGone) => {
            let content = html! { p { (texts::INVITATION_GONE) } };
            shown(&request, StatusCode::FORBIDDEN, texts::INVITED, &content)
        }
        Err(cause) => Err(cause.into()),
    }
}

/// The secret is in the fragment until the script fills it in; after a refusal it is in the page.
fn password_form(secret: &str, refused: Option<(&str, &str)>) -> Markup {
    let error = |name| refused.filter(|(field, _)| *field == name).map(|(_, sentence)| sentence);
    let field = |name, label, hint| Field::new_password(name, label, hint, error(name));
    html! {
        form.stack method="post" action="/invite" data-secret=[secret.is_empty().then_some("secret")] {
            input type="hidden" name="secret" value=(secret);
            @if let Some((_, sentence)) = refused { (notice("bad", sentence)) }
            p { (texts::CHOOSE) }
            (field("password", common::PASSWORD, texts::PASSWORD_HINT).show())
            (field("again", common::REPEAT_PASSWORD, "").show())
            button.primary type="submit" { (texts::JOIN) }
            noscript { p { (texts::NO_SCRIPT) } }
        }
    }
}

pub(super) fn welcome(console: &Console, signed_in: &SignedIn, to: &str) -> PageResult {
    let tls = console.names.tls;
    let session = SESSION.keep(signed_in.token.expose(), None, tls);
    let browser = signed_in.browser.as_ref().map(|token| browser_cookie(token, tls));
    Ok(go_with(to, iter::once(session).chain(browser)))
}

fn gone(request: &HttpRequest) -> PageResult {
    let content = html! {
        p { (texts::GONE) }
        pre tabindex="0" { code { (texts::COMMAND) } }
        p { a href="/sign-in" { (refusals::SIGN_IN.0) } }
    };
    shown(request, StatusCode::FORBIDDEN, texts::WELCOME, &content)
}

fn shown(request: &HttpRequest, status: StatusCode, title: &str, content: &Markup) -> PageResult {
    let look = (Theme::of(request), Language::English);
    Ok(html_answer(status, card(title, look, content)))
}
