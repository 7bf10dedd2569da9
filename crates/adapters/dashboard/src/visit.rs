use crate::address::PageAddress;
use crate::console::Console;
use crate::form::Typed;
use crate::language::Language;
use crate::mode;
use crate::refusal::Refusal;
use actix_web::cookie::time::Duration as CookieDuration;
use actix_web::cookie::{Cookie, CookieBuilder, SameSite};
use actix_web::dev::Payload;
use actix_web::http::header::{HeaderMap, USER_AGENT};
use actix_web::web::{Bytes, Data, Query};
use actix_web::{FromRequest, HttpRequest};
use dwar_app::Present;
use dwar_kernel::{KeyMode, Timestamp};
use dwar_operator::{BrowserToken, By, Client, Command, Device, PendingSignIn, SessionToken};
use dwar_project::Project;
use dwar_wire::client_address;
use futures_util::future::LocalBoxFuture;
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// Longer than any form of ours.
const LONGEST_FORM: usize = 32 * 1_024;
const CSRF_HEADER: &str = "x-csrf-token";
const THEME: &str = "dwar_theme";

/// A request of somebody who is signed in.
pub(crate) struct Visit {
    pub(crate) console: Data<Console>,
    pub(crate) present: Present,
    /// Who asks for changes, from where.
    pub(crate) by: By,
    /// What this session's own pages put into their forms.
    pub(crate) csrf: String,
    pub(crate) theme: Theme,
    pub(crate) language: Language,
    /// Live or test: what the address asks for, or what was chosen for all pages.
    pub(crate) mode: KeyMode,
    pub(crate) path: String,
    /// What the form held that was sent, as it was typed.
    pub(crate) typed: Typed,
    /// The page that is asked for, or that sent its form.
    pub(crate) page: Option<PageAddress>,
    /// Where the page is that this request is answered with, if it sends a form.
    pub(crate) answers: Option<PageAddress>,
    token: SessionToken,
}

/// A form, or a fetch, that a page of this session sent.
pub(crate) struct Posted<T> {
    pub(crate) visit: Visit,
    pub(crate) form: T,
}

/// A form that anybody may send, from a page of ours.
pub(crate) struct Open<T>(pub(crate) T);

/// A form without fields of its own.
#[derive(Deserialize)]
pub(crate) struct NoFields {}

/// What somebody prefers to look at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Theme {
    /// As the system has it.
    #[default]
    System,
    Light,
    Dark,
}

impl Theme {
    pub(crate) const ALL: [Self; 3] = [Self::System, Self::Light, Self::Dark];

    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }

    pub(crate) fn of(request: &HttpRequest) -> Self {
        let word = request.cookie(THEME);
        let word = word.as_ref().map_or("", Cookie::value);
        Self::from_word(word)
    }

    pub(crate) fn from_word(word: &str) -> Self {
        Self::ALL.into_iter().find(|theme| theme.as_str() == word).unwrap_or_default()
    }

    pub(crate) fn cookie(self, console: &Console) -> Cookie<'static> {
        let cookie = console.cookie(THEME, self.as_str().to_owned(), SameSite::Lax);
        cookie.max_age(CookieDuration::days(365)).finish()
    }
}

impl Console {
    /// Over TLS the name keeps other hosts and plain connections from setting it.
    const fn cookie_name(&self) -> &'static str {
        if self.names.tls { "__Host-dwar" } else { "dwar_dashboard" }
    }

    pub(crate) fn cookie(
        &self,
        name: &'static str,
        value: String,
        same: SameSite,
    ) -> CookieBuilder<'static> {
        let cookie = Cookie::build(name, value).path("/").secure(self.names.tls);
        cookie.http_only(true).same_site(same)
    }

    /// Lets the browser keep a new session. It ends with the browser, or when it is over here.
    ///
    /// A link on another site may open a page with it (`Lax`): no page changes anything, and a form is
    /// taken from our own pages alone.
    pub(crate) fn session_cookie(&self, token: String) -> Cookie<'static> {
        self.cookie(self.cookie_name(), token, SameSite::Lax).finish()
    }

    /// Lets the browser forget it.
    pub(crate) fn no_session_cookie(&self) -> Cookie<'static> {
        let mut cookie = self.session_cookie(String::new());
        cookie.set_max_age(CookieDuration::ZERO);
        cookie
    }

    /// What a browser shows that an operator signed in there before.
    pub(crate) fn browser_of(&self, request: &HttpRequest) -> Option<String> {
        request.cookie(self.browser_cookie_name()).map(|cookie| cookie.value().to_owned())
    }

    /// Lets the browser keep that somebody signed in there; it opens nothing.
    pub(crate) fn browser_cookie(&self, token: &BrowserToken) -> Cookie<'static> {
        let (name, token) = (self.browser_cookie_name(), token.expose().to_owned());
        let lifetime = CookieDuration::seconds_f64(BrowserToken::LIFETIME.as_secs_f64());
        self.cookie(name, token, SameSite::Strict).max_age(lifetime).finish()
    }

    const fn browser_cookie_name(&self) -> &'static str {
        if self.names.tls { "__Host-dwar-browser" } else { "dwar_browser" }
    }

    /// What a browser keeps of a sign-in that waits for its code.
    pub(crate) fn pending_of(&self, request: &HttpRequest) -> Option<String> {
        request.cookie(self.pending_cookie_name()).map(|cookie| cookie.value().to_owned())
    }

    /// Lets the browser keep a sign-in that waits for its code; without one it forgets it.
    pub(crate) fn pending_cookie(&self, pending: Option<&PendingSignIn>) -> Cookie<'static> {
        let lifetime = pending.map_or(CookieDuration::ZERO, |_| {
            CookieDuration::seconds_f64(PendingSignIn::LIFETIME.as_secs_f64())
        });
        let text = pending.map(|pending| pending.expose().to_owned()).unwrap_or_default();
        let name = self.pending_cookie_name();
        self.cookie(name, text, SameSite::Strict).max_age(lifetime).finish()
    }

    const fn pending_cookie_name(&self) -> &'static str {
        if self.names.tls { "__Host-dwar-pending" } else { "dwar_pending" }
    }

    /// Where a request to sign in comes from.
    pub(crate) fn client(&self, request: &HttpRequest) -> Client {
        let agent = request.headers().get(USER_AGENT).and_then(|agent| agent.to_str().ok());
        let address = client_address(request, self.names.tls);
        Client { address, device: agent.and_then(Device::of) }
    }
}

impl Visit {
    pub(crate) fn now(&self) -> Timestamp {
        self.console.tools.now()
    }

    /// What the session is known by, for whoever has to ask for it again.
    pub(crate) fn token(&self) -> &str {
        self.token.expose()
    }

    /// Whether this operator may give a command in the project; for what a page shows.
    pub(crate) fn may(&self, project: &Project, command: Command) -> bool {
        self.by.may(command, Some(project.id))
    }

    /// The projects that this operator may know of, oldest first.
    pub(crate) async fn projects(&self) -> Result<Vec<Project>, Refusal> {
        Ok(self.console.manage.projects.list(&self.by).await?)
    }

    /// The project of an address, for a command.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] if there is none that this operator may know of, [`Refusal::Forbidden`] if
    /// they may not give the command there.
    pub(crate) async fn project(&self, id: &str, command: Command) -> Result<Project, Refusal> {
        let id = id.parse().map_err(|_| Refusal::NotFound)?;
        Ok(self.console.manage.control.project(&self.by, command, id).await?)
    }
}

impl FromRequest for Visit {
    type Error = Refusal;
    type Future = LocalBoxFuture<'static, Result<Self, Refusal>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let request = request.clone();
        Box::pin(async move {
            let console = request.app_data::<Data<Console>>().ok_or(Refusal::Failed)?.clone();
            let page = PageAddress::of(&request);
            let stranger = || Refusal::SignIn(page.clone());
            let cookie = request.cookie(console.cookie_name()).ok_or_else(stranger)?;
            let token: SessionToken = cookie.value().parse().map_err(|_| stranger())?;
            let present = console.admin.sign_in.session(token.expose()).await?;
            let present = present.ok_or_else(stranger)?;
            let by = By::operator(&present.operator, client_address(&request, console.names.tls));
            let csrf = token.csrf(console.tools.vault.as_ref());
            let (theme, path) = (Theme::of(&request), request.path().to_owned());
            let (language, mode) = (Language::of(&request), mode::of(&request));
            let (typed, answers) = (Typed::default(), PageAddress::answered(&request));
            Ok(Self {
                console,
                present,
                by,
                csrf,
                theme,
                language,
                mode,
                path,
                page,
                answers,
                typed,
                token,
            })
        })
    }
}

impl<T: DeserializeOwned + 'static> FromRequest for Posted<T> {
    type Error = Refusal;
    type Future = LocalBoxFuture<'static, Result<Self, Refusal>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let visit = Visit::from_request(request, payload);
        let body = text(request, payload);
        let header = csrf_header(request.headers());
        Box::pin(async move {
            // Whoever lost the session in between is told so, not sent to another page.
            let visit = match visit.await {
                Err(Refusal::SignIn(page)) => return Err(Refusal::Stale(page)),
                visit => visit?,
            };
            let body = body.await?;
            let given = header.or_else(|| csrf_field(&body)).unwrap_or_default();
            if !visit.token.is_csrf(&given, visit.console.tools.vault.as_ref()) {
                return Err(Refusal::Stale(visit.page));
            }
            let typed = Typed::of(&body);
            Ok(Self { visit: Visit { typed, ..visit }, form: read(&body)? })
        })
    }
}

impl<T: DeserializeOwned + 'static> FromRequest for Open<T> {
    type Error = Refusal;
    type Future = LocalBoxFuture<'static, Result<Self, Refusal>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let body = text(request, payload);
        Box::pin(async move { Ok(Self(read(&body.await?)?)) })
    }
}

/// A form's text.
fn text(
    request: &HttpRequest,
    payload: &mut Payload,
) -> impl Future<Output = Result<String, Refusal>> + use<> {
    let bytes = Bytes::from_request(request, payload);
    async move {
        let bytes = bytes.await.map_err(|_| Refusal::Unreadable)?;
        if bytes.len() > LONGEST_FORM {
            return Err(Refusal::Unreadable);
        }
        String::from_utf8(bytes.to_vec()).map_err(|_| Refusal::Unreadable)
    }
}

fn read<T: DeserializeOwned>(form: &str) -> Result<T, Refusal> {
    Query::from_query(form).map(Query::into_inner).map_err(|_| Refusal::Unreadable)
}

fn csrf_header(headers: &HeaderMap) -> Option<String> {
    headers.get(CSRF_HEADER)?.to_str().ok().map(str::to_owned)
}

fn csrf_field(form: &str) -> Option<String> {
    let mut fields = form_urlencoded::parse(form.as_bytes());
    fields.find(|(name, _)| name == "csrf").map(|(_, value)| value.into_owned())
}
