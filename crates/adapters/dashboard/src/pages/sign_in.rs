use super::entrance::welcome;
use super::parts::notice;
use super::passkeys;
use crate::address::PageAddress;
use crate::answer::{PageResult, go, go_with, html_answer};
use crate::console::Console;
use crate::cookies::{BROWSER, PENDING, SESSION};
use crate::form::{Field, described_by, notes};
use crate::language::Language;
use crate::layout::{card, language_switch};
use crate::refusal::{RETRY_SOON, Refusal};
use crate::texts::sign_in::SignInTexts;
use crate::theme::Theme;
use crate::visit::{EmptyForm, PublicForm, SignedInForm, Visit};
use actix_web::HttpRequest;
use actix_web::http::{Method, StatusCode};
use actix_web::web::{Data, Query};
use dwar_console::{Credentials, ManageError, SignInError, SignedIn, TypedCode};
use dwar_operator::{Command, EndSessions, PendingSignIn, Requester};
use maud::{Markup, html};
use serde::Deserialize;

/// The path of the form for the code.
const CODE: &str = "/sign-in/code";

pub(crate) struct SignInPage<'a> {
    request: &'a HttpRequest,
    console: &'a Console,
    next: Option<PageAddress>,
    language: Language,
    texts: &'static SignInTexts,
}

/// The page to return to, as the address of a sign-in page contains it.
#[derive(Deserialize)]
pub(crate) struct NextQuery {
    #[serde(default)]
    next: String,
}

/// `GET /sign-in`: the form, or a redirect if there is a session.
pub(crate) async fn show(
    request: HttpRequest,
    visit: Result<Visit, Refusal>,
    console: Data<Console>,
    query: Query<NextQuery>,
) -> PageResult {
    let sign_in = SignInPage::new(&request, &console, &query.next);
    if let Ok(visit) = visit {
        return Ok(go(sign_in.way_in(&visit.by).await));
    }
    sign_in.shown(StatusCode::OK, &sign_in.password_form("", None))
}

#[derive(Deserialize)]
pub(crate) struct SignInForm {
    name: String,
    password: String,
    #[serde(default)]
    next: String,
}

/// `POST /sign-in`: a new session, whatever cookie was sent, or the form for a code.
pub(crate) async fn let_in(posted: PublicForm<SignInForm>) -> PageResult {
    let PublicForm { request, console, form: SignInForm { name, password, next } } = posted;
    let sign_in = SignInPage::new(&request, &console, &next);
    let browser = BROWSER.of(&request, console.names.tls);
    let typed = Credentials { name: &name, password: &password, browser: browser.as_deref() };
    match console.admin.sign_in.sign_in(typed, console.client(&request)).await {
        Err(SignInError::CodeNeeded(pending)) => sign_in.ask_code(&pending),
        answer => {
            let form = |sentence: &str| sign_in.password_form(&name, Some(sentence));
            sign_in.answer(answer, sign_in.texts.wrong, form).await
        }
    }
}

/// `GET /sign-in/code`: asks for the code after the password.
pub(crate) async fn ask_code(
    request: HttpRequest,
    console: Data<Console>,
    query: Query<NextQuery>,
) -> PageResult {
    let sign_in = SignInPage::new(&request, &console, &query.next);
    if PENDING.of(&request, console.names.tls).is_none() {
        return Ok(go(&PageAddress::sign_in(sign_in.next.as_ref())));
    }
    sign_in.shown(StatusCode::OK, &sign_in.code_form(None))
}

#[derive(Deserialize)]
pub(crate) struct CodeForm {
    code: String,
    #[serde(default)]
    next: String,
}

/// `POST /sign-in/code`: completes the sign-in that the password began.
pub(crate) async fn enter_code(posted: PublicForm<CodeForm>) -> PageResult {
    let PublicForm { request, console, form: CodeForm { code, next } } = posted;
    let sign_in = SignInPage::new(&request, &console, &next);
    let tls = console.names.tls;
    let pending = PENDING.of(&request, tls).unwrap_or_default();
    let browser = BROWSER.of(&request, tls);
    let typed = TypedCode { pending: &pending, code: &code, browser: browser.as_deref() };
    let answer = console.admin.sign_in.enter_code(typed, console.client(&request)).await;
    let over = matches!(answer, Ok(_) | Err(SignInError::TooLate));
    let page = sign_in.answer(answer, sign_in.texts.wrong_code, |sentence: &str| {
        if over {
            html! { (notice("bad", sentence)) (sign_in.password_form("", None)) }
        } else {
            sign_in.code_form(Some(sentence))
        }
    });
    let mut page = page.await?;
    if over {
        page.add_cookie(&PENDING.forget(tls)).map_err(|_| Refusal::Failed)?;
    }
    Ok(page)
}

impl<'a> SignInPage<'a> {
    /// `next` comes from a form or a link, and is ignored unless it is one of our pages.
    pub(crate) fn new(request: &'a HttpRequest, console: &'a Console, next: &str) -> Self {
        let language = Language::of(request);
        let (next, texts) = (PageAddress::read(request, next), SignInTexts::of(language));
        Self { request, console, next, language, texts }
    }

    /// Signs in an operator with a passkey, or says why not.
    pub(crate) async fn by_passkey(&self, answer: Result<SignedIn, SignInError>) -> PageResult {
        self.answer(answer, self.texts.passkey_wrong, |sentence: &str| {
            html! { (notice("bad", sentence)) (self.password_form("", None)) }
        })
        .await
    }

    /// The page after the sign-in: the requested one, or the home page if the operator may not see
    /// its project.
    async fn way_in(&self, by: &Requester) -> &str {
        let home = PageAddress::or_home(None);
        let page = PageAddress::or_home(self.next.as_ref());
        match self.next.as_ref().and_then(PageAddress::project) {
            None => page,
            Some(Err(())) => home,
            Some(Ok(project)) => {
                let control = &self.console.manage.control;
                match control.project(by, Command::ShowProject, project).await {
                    Err(ManageError::NoSuchProject) => home,
                    _ => page,
                }
            }
        }
    }

    /// Signs the operator in, or shows the form again with a sentence; `wrong` is the one for wrong
    /// credentials.
    async fn answer(
        &self,
        answer: Result<SignedIn, SignInError>,
        wrong: &str,
        form: impl Fn(&str) -> Markup,
    ) -> PageResult {
        let refused = |status, sentence: &str| self.shown(status, &form(sentence));
        match answer {
            Ok(it) => {
                let by = Requester::operator(&it.operator, None);
                welcome(self.console, &it, self.way_in(&by).await)
            }
            Err(SignInError::Wrong) => refused(StatusCode::FORBIDDEN, wrong),
            Err(SignInError::TooLate) => refused(StatusCode::FORBIDDEN, self.texts.too_late),
            Err(SignInError::Locked { until }) => {
                let wait = (until - self.console.tools.now()).num_seconds().max(1);
                let sentence = self.texts.locked.replace("{seconds}", &wait.to_string());
                refused(StatusCode::TOO_MANY_REQUESTS, &sentence)
            }
            Err(SignInError::Busy) => {
                let mut page = refused(StatusCode::SERVICE_UNAVAILABLE, self.texts.busy)?;
                page.headers_mut().insert(RETRY_SOON.0, RETRY_SOON.1);
                Ok(page)
            }
            Err(cause) => Err(cause.into()),
        }
    }

    fn ask_code(&self, pending: &PendingSignIn) -> PageResult {
        let (lifetime, tls) = (Some(PendingSignIn::LIFETIME), self.console.names.tls);
        let cookie = PENDING.keep(pending.expose(), lifetime, tls);
        Ok(go_with(&PageAddress::with_next(CODE, self.next.as_ref()), [cookie]))
    }

    fn shown(&self, status: StatusCode, form: &Markup) -> PageResult {
        let path = if self.request.path() == CODE { CODE } else { "/sign-in" };
        let back = PageAddress::with_next(path, self.next.as_ref());
        let posted = self.request.method() == Method::POST;
        let content = html! {
            div.stack data-address=[posted.then_some(&back)] { (form) }
            (language_switch((self.language, self.language), &back))
        };
        let look = (Theme::of(self.request), self.language);
        Ok(html_answer(status, card(self.texts.title, look, &content)))
    }

    /// The hidden field with the page to return to.
    fn next_field(&self) -> Markup {
        html! {
            @if let Some(page) = &self.next {
                input type="hidden" name="next" value=(PageAddress::or_home(Some(page)));
            }
        }
    }

    fn password_form(&self, name: &str, refused: Option<&str>) -> Markup {
        let name = Field {
            name: "name",
            label: self.texts.name,
            value: name,
            autocomplete: "username",
            required: true,
            ..Field::TEXT
        };
        let password = Field {
            name: "password",
            label: self.texts.password,
            kind: "password",
            autocomplete: "current-password",
            required: true,
            error: refused,
            ..Field::TEXT
        };
        html! {
            form.stack method="post" action="/sign-in" {
                @if let Some(sentence) = refused { (notice("bad", sentence)) }
                (self.next_field())
                (name.show()) (password.show())
                button.primary type="submit" { (self.texts.button) }
            }
            (passkeys::sign_in_button(self.request, self.console, self.texts, &self.next_field()))
            p.hint { (self.texts.forgotten) " " code { "dwar operator reset" } }
        }
    }

    fn code_form(&self, refused: Option<&str>) -> Markup {
        html! {
            form.stack method="post" action="/sign-in/code" {
                @if let Some(sentence) = refused { (notice("bad", sentence)) }
                (self.next_field())
                div.field {
                    label for="code" { (self.texts.code) }
                    input #code name="code" inputmode="numeric" autocomplete="one-time-code" required
                        aria-describedby=[described_by("code", "", refused)]
                        aria-invalid=[refused.map(|_| "true")] autofocus;
                    (notes("code", "", refused))
                }
                button.primary type="submit" { (self.texts.button) }
            }
            p { a href=(PageAddress::sign_in(self.next.as_ref())) { (self.texts.start_again) } }
        }
    }
}

pub(crate) async fn sign_out(posted: SignedInForm<EmptyForm>) -> PageResult {
    let which = EndSessions::One(posted.visit.present.session.digest);
    leave(posted, which).await
}

pub(crate) async fn sign_out_everywhere(posted: SignedInForm<EmptyForm>) -> PageResult {
    leave(posted, EndSessions::All).await
}

async fn leave(
    SignedInForm { visit, .. }: SignedInForm<EmptyForm>,
    which: EndSessions,
) -> PageResult {
    visit.console.admin.sign_in.sign_out(&visit.present, which, visit.by.from).await?;
    Ok(go_with("/sign-in", [SESSION.forget(visit.console.names.tls)]))
}
